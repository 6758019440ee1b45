"""What may import what, and what a start of the command may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# A file imports from its own step and those before it.
ROAD = [
    "source",
    "syntax",
    "packages",
    "dims",
    "check",
    "lint",
    "ir",
    "lower",
    "backends",
    "generate",
    "nest",
    "lsp",
    "cli",
]
# `pipeline.py` joins the steps for those who stand at the road's end.
LAST_BEFORE_PIPELINE = ROAD.index("lower")
# Nothing that `linnet check` runs loads one of these.
HEAVY = [
    "numpy",
    "torch",
    "jax",
    "ml_dtypes",
    "rich",
    "jinja2",
    "safetensors",
    "transformers",
    "tokenizers",
]


def sources() -> Iterator[tuple[Path, str]]:
    """Every file of the compiler and the step it belongs to."""
    for path in sorted((ROOT / "linnet").rglob("*.py")):
        parts = path.relative_to(ROOT / "linnet").parts
        if len(parts) > 1:
            yield path, parts[0]
        elif path.name == "pipeline.py":
            yield path, "pipeline"
    for path in sorted((ROOT / "backends").rglob("*.py")):
        yield path, "backends"


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """The modules that a file imports, anywhere in it, with their lines."""
    package = ".".join(path.relative_to(ROOT).with_suffix("").parts[:-1])
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package.split(".")[: 1 - node.level or None], base])
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)


def rank(step: str) -> float:
    """The position on the road; the pipeline stands between the backends and nest."""
    return ROAD.index("backends") + 0.5 if step == "pipeline" else ROAD.index(step)


def test_imports_point_one_way() -> None:
    wrong: list[str] = []
    for path, step in sources():
        for line, name in imported(path):
            parts = name.split(".")
            if parts[0] != "linnet" or len(parts) < 2:
                continue
            target = parts[1]
            if target in (*ROAD, "pipeline") and rank(target) > rank(step):
                wrong.append(f"{path.relative_to(ROOT)}:{line} ({step}) imports {name}")
    assert wrong == []


def dotted(path: Path) -> str:
    """The name a file is imported by."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    return name if name.startswith("linnet") else f"linnet.{name}"


def loaded_by(path: Path) -> Iterator[str]:
    """What importing a file imports, or may: what is for the types alone is left out."""
    for_types = {
        node.lineno + offset
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for offset in range((node.end_lineno or node.lineno) - node.lineno + 1)
    }
    return (name for line, name in imported(path) if line not in for_types)


def uses() -> dict[str, set[str]]:
    """The modules of the compiler, each with those that it imports."""
    files = {dotted(path): path for path, _ in sources()}
    out: dict[str, set[str]] = {}
    for name, path in files.items():
        found = {n if n in files else n.rpartition(".")[0] for n in loaded_by(path)}
        out[name] = found & files.keys() - {name}
    return out


def rings(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is left of `graph` without those that import none of it and those that none imports."""
    while True:
        imported_ = {below for belows in graph.values() for below in belows}
        left = {
            n: b & graph.keys() for n, b in graph.items() if n in imported_ and b & graph.keys()
        }
        if left == graph:
            return left
        graph = left


def test_modules_do_not_import_each_other_in_a_ring() -> None:
    assert rings({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b": {"c"}, "c": {"b"}}
    assert rings(uses()) == {}


def test_every_module_of_the_checker_is_importable_alone() -> None:
    """Whichever comes first: each in an interpreter that has loaded nothing of the compiler."""
    names = [name for name in uses() if name.split(".")[1] == "check"]
    code = f"""
import importlib, sys
before = set(sys.modules)
for name in {names!r}:
    for loaded in set(sys.modules) - before:
        if loaded.partition(".")[0] == "linnet":
            del sys.modules[loaded]
    importlib.import_module(name)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_every_folder_is_a_step_of_the_road() -> None:
    folders = {p.parent.name for p in (ROOT / "linnet").glob("*/__init__.py")}
    assert folders | {"backends"} == set(ROAD)


def test_only_a_backend_imports_a_framework() -> None:
    frameworks = ("torch", "jax", "triton")
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path, _ in sources()
        for line, name in imported(path)
        if name.split(".")[0] in frameworks
        and name.split(".")[0] not in path.relative_to(ROOT).parts
    ]
    assert wrong == []


def test_no_star_imports() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}"
        for path, _ in sources()
        for line, name in imported(path)
        if name.endswith(".*")
    ] == []


def test_packages_are_all_listed() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"])
    found = {
        ".".join(p.parent.relative_to(ROOT).parts) for p in (ROOT / "linnet").rglob("__init__.py")
    }
    for top in ("backends", "stdlib", "models"):
        for path in (ROOT / top).rglob("__init__.py"):
            found.add("linnet." + ".".join(path.parent.relative_to(ROOT).parts))
    assert listed == found


def test_the_version_is_stated_once() -> None:
    import tomllib

    import linnet

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert linnet.__version__ == project["project"]["version"]


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after some code."""
    code += "\nimport sys; print('\\n'.join({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(done.stdout.split())


@pytest.mark.smoke
def test_check_loads_nothing_heavy(tmp_path: Path) -> None:
    file = tmp_path / "a.linnet"
    file.write_text("module a\n\npub fn f(x: i32) -> i32 {\n    return x\n}\n", "utf-8")
    paths = [str(file), str(ROOT / "models")]
    code = f"from linnet.cli.main import main\nassert main(['check', *{paths!r}]) == 0"
    assert sorted(loaded_after(code) & set(HEAVY)) == []


def test_a_check_waits_for_lark_only_to_make_the_tables(tmp_path: Path) -> None:
    check = (
        f"import os\nos.environ['XDG_CACHE_HOME'] = {str(tmp_path)!r}\n"
        "from linnet.cli.main import main\nassert main(['check', 'models/gpt-oss-20b']) == 0"
    )
    assert "lark" in loaded_after(check)
    assert "lark" not in loaded_after(check)


def test_checking_a_card_loads_no_backend_and_no_ir() -> None:
    code = (
        "import sys\nfrom linnet.cli.main import main\nassert main(['check', 'models']) == 0\n"
        "print([m for m in sys.modules if m.startswith(('linnet.ir', 'linnet.backends'))"
        " or m == 'linnet.lower.module'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "[]\n"


def test_importing_linnet_loads_nothing_heavy() -> None:
    assert sorted(loaded_after("import linnet") & set(HEAVY)) == []


def test_no_file_names_a_machine() -> None:
    """The project speaks of itself alone: no absolute path of a machine in any of its files."""
    roots = ["work", "home", "root", "Users", "mnt"]
    wrong: list[str] = []
    done = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    for name in done.stdout.splitlines():
        try:
            text = (ROOT / name).read_text("utf-8")
        except (UnicodeDecodeError, OSError):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if any(f"{start}/{root}/" in line for root in roots for start in (" ", '"', "'", "`")):
                wrong.append(f"{name}:{number}")
    assert wrong == []
