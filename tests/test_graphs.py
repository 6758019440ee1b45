"""Orders and cycles of graphs, against what they must satisfy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linnet.graphs import depth_first

Graph = dict[int, list[int]]


def graphs() -> st.SearchStrategy[Graph]:
    nodes = st.integers(0, 6)
    edges = st.lists(nodes, max_size=4)
    return st.fixed_dictionaries(dict.fromkeys(range(7), edges))


@given(graphs())
def test_each_node_comes_after_what_it_leads_to(graph: Graph) -> None:
    order, cycles = depth_first(graph, graph.__getitem__)
    assert sorted(order) == sorted(graph)
    closing = {(cycle[-1], cycle[0]) for cycle in cycles}
    for node, targets in graph.items():
        for target in targets:
            later = order.index(target) >= order.index(node)
            assert later == ((node, target) in closing)


@given(graphs())
def test_each_cycle_is_one_and_is_told_once(graph: Graph) -> None:
    _, cycles = depth_first(graph, graph.__getitem__)
    for cycle in cycles:
        assert len(set(cycle)) == len(cycle)
        assert all(b in graph[a] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    assert len({(cycle[-1], cycle[0]) for cycle in cycles}) == len(cycles)


def test_a_long_chain_needs_no_deep_stack() -> None:
    length = 20_000
    order, cycles = depth_first([0], lambda n: [(n + 1) % length])
    assert order == list(range(length))[::-1]
    assert cycles == [list(range(length))]
