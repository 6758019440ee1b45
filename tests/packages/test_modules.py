from __future__ import annotations

import os
from pathlib import Path

import pytest

from linnet.packages.modules import ModuleGraph, load_modules
from linnet.source.diagnostics import Diagnostic, Sink

MANIFEST = '[package]\nname = "{}"\nversion = "0.1.0"\nlanguage = "0.1"\n'


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def package(folder: Path, name: str, files: dict[str, str], dependencies: str = "") -> None:
    manifest = MANIFEST.format(name)
    if dependencies:
        manifest += "[dependencies]\n" + dependencies
    write(folder, {"linnet.toml": manifest, **{f"src/{k}.linnet": v for k, v in files.items()}})


def load(*paths: Path, overlay: dict[Path, str] | None = None) -> tuple[ModuleGraph, Sink]:
    sink = Sink()
    return load_modules(paths, sink, overlay), sink


def keys(graph: ModuleGraph) -> list[str]:
    return [m.key for m in graph.modules]


def places(sink: Sink) -> list[tuple[str, str, str | None]]:
    """Code, marked text and help of each finding."""
    return [(d.code, d.span.text if d.span else "", d.help) for d in sink]


def only(sink: Sink) -> Diagnostic:
    (finding,) = sink
    return finding


def test_a_package_with_its_dependencies_first(tmp_path: Path) -> None:
    package(
        tmp_path,
        "net",
        {
            "lib": "module net\nuse crate.a.b::{x}\nuse std.nn.linear::{linear}\n",
            "a/b": "module net.a.b\nuse super.c::{y}\n",
            "a/c": "module net.a.c\n",
        },
    )
    graph, sink = load(tmp_path)
    assert list(sink) == []
    own = [k for k in keys(graph) if not k.startswith("std.")]
    assert own == ["net.a.c", "net.a.b", "net"]
    lib = graph.by_key("net")
    assert lib is not None
    assert lib.uses == {0: "net.a.b", 1: "std.nn.linear"}
    assert (lib.package, lib.root) == ("net", True)
    linear = graph.by_key("std.nn.linear")
    assert linear is not None and (linear.package, linear.root) == ("std", False)


def test_a_file_of_a_package_brings_only_what_it_uses(tmp_path: Path) -> None:
    files = {"lib": "module net\nuse crate.a\n", "a": "module net.a\n", "b": "module net.b\n"}
    package(tmp_path, "net", files)
    graph, sink = load(tmp_path / "src" / "lib.linnet")
    assert list(sink) == []
    assert [(m.key, m.root) for m in graph.modules] == [("net.a", False), ("net", True)]


def test_self_and_super(tmp_path: Path) -> None:
    package(
        tmp_path,
        "net",
        {
            "lib": "module net\n",
            "a": "module net.a\nuse self.b::{x}\nuse super::{y}\n",
            "a/b": "module net.a.b\n",
        },
    )
    graph, sink = load(tmp_path)
    assert list(sink) == []
    module = graph.by_key("net.a")
    assert module is not None and module.uses == {0: "net.a.b", 1: "net"}


def test_super_does_not_leave_the_package(tmp_path: Path) -> None:
    package(tmp_path, "net", {"lib": "module net\nuse super.x::{y}\n"})
    _, sink = load(tmp_path)
    assert places(sink) == [("E1202", "super.x", None)]


def test_packages_of_one_name_do_not_clash(tmp_path: Path) -> None:
    package(tmp_path / "x", "net", {"lib": "module net\n"})
    package(
        tmp_path / "y",
        "net",
        {"lib": "module net\nuse other::{z}\n"},
        'other = { path = "../x" }\n',
    )
    graph, sink = load(tmp_path / "y")
    assert list(sink) == []
    assert keys(graph) == ["net~", "net"]
    assert graph.modules[1].uses == {0: "net~"}


def test_a_dependency_of_a_dependency_is_not_in_reach(tmp_path: Path) -> None:
    package(tmp_path / "x", "x", {"lib": "module x\n"})
    package(tmp_path / "y", "y", {"lib": "module y\nuse x\n"}, 'x = { path = "../x" }\n')
    package(tmp_path / "z", "z", {"lib": "module z\nuse y\nuse x\n"}, 'y = { path = "../y" }\n')
    graph, sink = load(tmp_path / "z")
    assert keys(graph) == ["x", "y", "z"]
    hint = 'add `x = { path = "..." }` to [dependencies] in linnet.toml'
    assert places(sink) == [("E1202", "x", hint)]


@pytest.mark.parametrize(
    ("use", "marked", "hint"),
    [
        ("crate.rop::{f}", "crate.rop", "did you mean `crate.rope`?"),
        ("crate.rope.f", "crate.rope.f", "to use an item of a module, write `use crate.rope::{f}`"),
        ("crate.lib", "crate.lib", "write `use crate`"),
        ("crat.rope", "crat", "did you mean `crate`?"),
        ("net.rope", "net", "a package calls itself `crate`"),
        ("std.nn.liner::{x}", "std.nn.liner", "did you mean `std.nn.linear`?"),
    ],
)
def test_a_missing_module_gets_a_way_out(tmp_path: Path, use: str, marked: str, hint: str) -> None:
    files = {"lib": f"module net\nuse {use}\n", "rope": "module net.rope\n"}
    package(tmp_path, "net", files)
    _, sink = load(tmp_path)
    assert places(sink) == [("E1202", marked, hint)]


def test_the_header_must_match_the_path(tmp_path: Path) -> None:
    files = {"lib": "module net\n", "a": "module net.b\n", "my-file": "module net.my\n"}
    package(tmp_path, "net", files)
    _, sink = load(tmp_path)
    assert [(d.code, d.span.text if d.span else "") for d in sink] == [
        ("E1202", "net.b"),
        ("E1202", "net.my"),
    ]
    assert next(d.help for d in sink) == "write `module net.a`"


def test_a_lone_file_uses_only_the_library(tmp_path: Path) -> None:
    write(tmp_path, {"x.linnet": "module my.thing\nuse std.nn.linear::{linear}\nuse crate.y\n"})
    graph, sink = load(tmp_path / "x.linnet")
    assert graph.modules[-1].key == "my.thing"
    assert [(d.code, d.span.text if d.span else "") for d in sink] == [("E1202", "crate")]


def test_a_lone_file_cannot_pose_as_the_library(tmp_path: Path) -> None:
    write(tmp_path, {"x.linnet": "module std.nn.linear\n"})
    graph, _ = load(tmp_path / "x.linnet")
    assert keys(graph) == ["std.nn.linear~"]


def test_cycles_name_every_use_on_the_way(tmp_path: Path) -> None:
    package(
        tmp_path,
        "net",
        {
            "a": "module net.a\nuse crate.b\n",
            "b": "module net.b\nuse crate.c\n",
            "c": "module net.c\nuse crate.a\n",
        },
    )
    graph, sink = load(tmp_path)
    finding = only(sink)
    assert finding.code == "E1206"
    assert finding.message == "import cycle: net.a -> net.b -> net.c -> net.a"
    assert finding.span is not None and finding.span.text == "crate.a"
    assert [r.span.text for r in finding.related] == ["crate.b", "crate.c"]
    assert keys(graph) == ["net.c", "net.b", "net.a"]
    assert graph.modules[0].uses == {}


def test_a_module_used_twice_closes_one_cycle(tmp_path: Path) -> None:
    package(
        tmp_path,
        "net",
        {
            "a": "module net.a\nuse crate.b\n",
            "b": "module net.b\nuse crate.a\nuse crate.a::{x}\n",
        },
    )
    graph, sink = load(tmp_path)
    finding = only(sink)
    assert finding.span is not None and finding.span.file.position(finding.span.start).line == 2
    assert graph.modules[0].uses == {}


def test_a_module_that_uses_itself(tmp_path: Path) -> None:
    package(tmp_path, "net", {"a": "module net.a\nuse crate.a\n"})
    _, sink = load(tmp_path)
    assert only(sink).message == "import cycle: net.a -> net.a"


def test_a_long_chain_needs_no_deep_stack(tmp_path: Path) -> None:
    files = {f"m{i}": f"module net.m{i}\nuse crate.m{i + 1}\n" for i in range(1500)}
    package(tmp_path, "net", {**files, "m1500": "module net.m1500\n"})
    graph, sink = load(tmp_path / "src" / "m0.linnet")
    assert list(sink) == []
    assert keys(graph) == [f"net.m{i}" for i in range(1500, -1, -1)]


@pytest.mark.parametrize("kind", ["file", "folder", "source"])
def test_links_out_of_a_package_are_refused(tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    write(outside, {"a.linnet": "module net.a\n", "lib.linnet": "module net\nuse crate.a\n"})
    inside = tmp_path / "net"
    package(inside, "net", {"lib": f"module net\nuse crate.{'x.' if kind == 'folder' else ''}a\n"})
    if kind == "file":
        (inside / "src" / "a.linnet").symlink_to(outside / "a.linnet")
    elif kind == "folder":
        (inside / "src" / "x").symlink_to(outside)
    else:
        (inside / "src" / "lib.linnet").unlink()
        (inside / "src").rmdir()
        (inside / "src").symlink_to(outside)
    _, sink = load(inside / "src" / "lib.linnet" if kind != "source" else inside)
    if kind == "source":
        assert {d.code for d in sink} == {"E1202"}
    else:
        assert "symbolic link" in only(sink).message


def test_a_link_inside_the_package_is_followed(tmp_path: Path) -> None:
    package(tmp_path, "net", {"lib": "module net\nuse crate.b\n", "a": "module net.a\n"})
    os.symlink("a.linnet", tmp_path / "src" / "b.linnet")
    graph, _ = load(tmp_path / "src" / "lib.linnet")
    assert len(graph.modules) == 2


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "x.linnet").write_bytes("module é\n".encode() + b"// \xff\n")
    _, sink = load(tmp_path / "x.linnet")
    finding = only(sink)
    assert finding.code == "E1001" and finding.span is not None
    assert finding.span.file.position(finding.span.start).line == 2
    assert (finding.label, finding.span.start) == ("byte 0xff here", 12)


def test_what_is_not_there(tmp_path: Path) -> None:
    _, sink = load(tmp_path / "x.linnet")
    assert only(sink).code == "E1202"
    (tmp_path / "empty").mkdir()
    _, sink = load(tmp_path / "empty")
    assert only(sink).message.startswith("nothing to check in ")


def test_an_editor_text_counts_instead_of_the_file(tmp_path: Path) -> None:
    package(tmp_path, "net", {"lib": "module net\n", "a": "module net.wrong\n"})
    overlay = {
        tmp_path / "src" / "lib.linnet": "module net\nuse crate.new\n",
        tmp_path / "src" / "a.linnet": "module net.a\n",
        tmp_path / "src" / "new.linnet": "module net.new\n",
    }
    graph, sink = load(tmp_path, overlay=overlay)
    assert list(sink) == []
    assert sorted(keys(graph)) == ["net", "net.a", "net.new"]


def test_a_folder_of_packages_and_files(tmp_path: Path) -> None:
    package(tmp_path / "p", "p", {"lib": "module p\n"})
    package(tmp_path / "q", "q", {"lib": "module q\n"})
    write(tmp_path, {"loose/x.linnet": "module x\n", ".hidden/y.linnet": "module y\n"})
    graph, sink = load(tmp_path)
    assert list(sink) == []
    assert sorted(keys(graph)) == ["p", "q", "x"]


def test_a_broken_dependency_is_reported_once(tmp_path: Path) -> None:
    write(tmp_path / "d", {"linnet.toml": "[package]\nname = 3\n"})
    files = {"lib": "module net\nuse d.x\nuse d.y\n"}
    package(tmp_path / "net", "net", files, 'd = { path = "../d" }\n')
    _, sink = load(tmp_path / "net")
    assert {d.code for d in sink} == {"E5001"}
    assert len(list(sink)) == 3


def test_the_library_is_a_package_of_its_own(tmp_path: Path) -> None:
    from linnet.packages.package import standard_library

    graph, sink = load(standard_library())
    assert [d for d in sink if d.code == "E1202"] == []
    assert {m.package for m in graph.modules} == {"std"}


@pytest.mark.parametrize("again", ["net", "net/src", "net/src/lib.linnet", "net/../net", "."])
def test_the_same_path_may_be_named_twice(tmp_path: Path, again: str) -> None:
    package(tmp_path / "net", "net", {"lib": "module net\n", "a": "module net.a\n"})
    graph, sink = load(tmp_path / "net", tmp_path / again)
    assert list(sink) == []
    assert sorted(keys(graph)) == ["net", "net.a"]


def test_a_name_that_no_file_can_have_is_a_missing_module(tmp_path: Path) -> None:
    name = "x" * 300
    package(tmp_path, "net", {"lib": f"module net\nuse crate.{name}\n"})
    _, sink = load(tmp_path)
    assert only(sink).message == f"module `crate.{name}` not found"


@pytest.mark.parametrize("path", ["x\\u0000y", "y" * 300, "../" * 2000 + "z", "~", "C:\\\\x"])
def test_a_dependency_that_leads_nowhere(tmp_path: Path, path: str) -> None:
    package(tmp_path, "net", {"lib": "module net\n"}, f'd = {{ path = "{path}" }}\n')
    _, sink = load(tmp_path)
    finding = only(sink)
    assert finding.code == "E5001" and finding.message.startswith("no package at ")


@pytest.mark.parametrize("key", ["std", "crate", "self", "super", "module", "block", "kernel"])
def test_a_dependency_key_that_could_not_begin_a_path(tmp_path: Path, key: str) -> None:
    package(tmp_path / "d", "d", {"lib": "module d\n"})
    package(tmp_path / "net", "net", {"lib": "module net\n"}, f'{key} = {{ path = "../d" }}\n')
    _, sink = load(tmp_path / "net")
    assert places(sink)[0][:2] == ("E5001", key) and len(list(sink)) == 1


@pytest.mark.parametrize("name", ["my-file", "x.y", "type", "3d"])
def test_a_file_that_no_use_could_name(tmp_path: Path, name: str) -> None:
    header = name if name not in ("my-file", "type", "3d") else "z"
    package(tmp_path, "net", {name: f"module net.{header}\n"})
    _, sink = load(tmp_path)
    assert only(sink).message.startswith(f"`{name}` in the path of this file")


@pytest.mark.parametrize("text", ["const x = 1\n", "module 3\nconst x = 1\n", ""])
def test_a_header_that_was_reported_costs_no_second_finding(tmp_path: Path, text: str) -> None:
    package(tmp_path, "net", {"lib": text})
    _, sink = load(tmp_path)
    assert only(sink).code in ("E1101", "E1102")


def test_packages_may_depend_on_each_other_but_modules_not(tmp_path: Path) -> None:
    p = {"lib": "module p\nuse q.x\n"}
    package(tmp_path / "p", "p", p, 'q = { path = "../q" }\n')
    q = {"lib": "module q\nuse p\n", "x": "module q.x\n"}
    package(tmp_path / "q", "q", q, 'p = { path = "../p" }\n')
    graph, sink = load(tmp_path / "p", tmp_path / "q")
    assert list(sink) == []
    assert keys(graph) == ["q.x", "p", "q"]
    write(tmp_path / "q", {"src/x.linnet": "module q.x\nuse p\n"})
    for roots in (["p"], ["q"], ["p", "q"]):
        _, sink = load(*(tmp_path / root for root in roots))
        assert only(sink).message == "import cycle: p -> q.x -> p"


def test_two_packages_that_share_a_third_share_its_modules(tmp_path: Path) -> None:
    package(tmp_path / "base", "base", {"lib": "module base\n"})
    package(tmp_path / "l", "l", {"lib": "module l\nuse a\n"}, 'a = { path = "../base" }\n')
    package(tmp_path / "r", "r", {"lib": "module r\nuse b\n"}, 'b = { path = "../l/../base" }\n')
    top = 'l = { path = "../l" }\nr = { path = "../r" }\n'
    package(tmp_path / "top", "top", {"lib": "module top\nuse l\nuse r\n"}, top)
    graph, sink = load(tmp_path / "top")
    assert list(sink) == []
    assert keys(graph) == ["base", "l", "r", "top"]


@pytest.mark.parametrize("length", [1, 2, 5, 40])
def test_a_cycle_of_any_length_is_one_finding(tmp_path: Path, length: int) -> None:
    files = {
        f"m{i}": f"module net.m{i}\nuse crate.m{(i + 1) % length}\n" for i in range(length)
    } | {"lib": "module net\nuse crate.m0\n"}
    package(tmp_path, "net", files)
    graph, sink = load(tmp_path)
    finding = only(sink)
    assert finding.code == "E1206" and len(finding.related) == length - 1
    assert len(graph.modules) == length + 1


def test_only_files_count_as_modules(tmp_path: Path) -> None:
    """Nothing waits for the other end of a pipe, and what is hidden is left alone."""
    package(tmp_path, "net", {"lib": "module net\nuse crate.pipe\n", ".x": "no module"})
    os.mkfifo(tmp_path / "src" / "pipe.linnet")
    (tmp_path / "src" / "folder.linnet").mkdir()
    os.symlink("nowhere", tmp_path / "src" / ".#lib.linnet")
    _, sink = load(tmp_path)
    assert [(d.code, d.span is None) for d in sink] == [("E1202", True), ("E1202", False)]
    assert "pipe.linnet" in next(iter(sink)).message
    _, sink = load(tmp_path / "src" / "pipe.linnet")
    assert only(sink).message.endswith(": is not a file")


def test_a_link_out_of_the_folder_that_is_checked_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"secret": "not yours\n", "in/a.linnet": "module a\n"})
    (tmp_path / "in" / "b.linnet").symlink_to(tmp_path / "secret")
    (tmp_path / "in" / "c.linnet").symlink_to("a.linnet")
    graph, sink = load(tmp_path / "in")
    finding = only(sink)
    assert "b.linnet is a symbolic link out of" in finding.message and finding.span is None
    assert keys(graph) == ["a"]


def test_a_folder_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.linnet": "module a\n", "closed/b.linnet": "module b\n"})
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    graph, sink = load(tmp_path)
    assert {d.message.partition(" ")[0] for d in sink} == {"cannot"}
    assert "closed: permission denied" in only(sink).message and keys(graph) == ["a"]


def test_good_files_beside_a_broken_one_are_checked(tmp_path: Path) -> None:
    write(
        tmp_path, {"a.linnet": "module a\n", "b.linnet": "module b\nfn (", "c.linnet": "module c\n"}
    )
    (tmp_path / "d.linnet").write_bytes(b"\xff\xfe")
    graph, sink = load(tmp_path)
    assert [d.code for d in sink] == ["E1101", "E1001"]
    assert keys(graph) == ["a", "b", "c"]


@pytest.mark.parametrize("unsaved", [False, True])
def test_a_byte_order_mark_does_not_count(tmp_path: Path, unsaved: bool) -> None:
    path = tmp_path / "x.linnet"
    path.write_bytes(b"" if unsaved else b"\xef\xbb\xbfmodule 1")
    _, sink = load(path, overlay={path: "\ufeffmodule 1"} if unsaved else None)
    span = only(sink).span
    assert span is not None and (span.start, span.file.position(span.start).column) == (7, 8)
    path.write_bytes(b"\xef\xbb\xbfmodule x\n\xff")
    _, sink = load(path)
    span = only(sink).span
    assert span is not None and span.file.position(span.start).line == 2 and span.start == 9
