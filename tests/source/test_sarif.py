"""The SARIF log has what the schema of SARIF 2.1.0 requires, and says what the findings say.

`OBJECTS` are the parts of that schema that a log of ours can have: it forbids other keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from linnet.cli.main import main
from linnet.pipeline import check_paths
from linnet.source.codes import CODES
from linnet.source.diagnostics import Diagnostic, Related
from linnet.source.files import SourceFile, Span
from linnet.source.sarif import render_sarif

Capture = pytest.CaptureFixture[str]
Rule = Callable[[Any, str], None]
GOLDEN = Path(__file__).parents[1] / "golden" / "check"
# RFC 3986: what a URI reference may consist of.
URI = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")


def string(value: Any, at: str) -> None:
    assert isinstance(value, str), at


def uri(value: Any, at: str) -> None:
    string(value, at)
    assert URI.fullmatch(value), f"{at}: {value}"
    assert ":" not in value.split("/")[0] or value.startswith(("file:", "https:")), at


def number(least: int) -> Rule:
    def rule(value: Any, at: str) -> None:
        assert type(value) is int and value >= least, f"{at}: {value}"

    return rule


def one_of(*known: str) -> Rule:
    def rule(value: Any, at: str) -> None:
        assert value in known, f"{at}: {value}"

    return rule


def listed(kind: str, unique: bool = False) -> Rule:
    def rule(value: Any, at: str) -> None:
        assert isinstance(value, list), at
        for place, part in enumerate(value):
            obey(kind, part, f"{at}[{place}]")
        texts = [json.dumps(part, sort_keys=True) for part in value]
        assert not unique or len(texts) == len(set(texts)), at

    return rule


def an(kind: str) -> Rule:
    return lambda value, at: obey(kind, value, at)


LEVEL = one_of("none", "note", "warning", "error")
# The keys of each kind of object, and those of them that are required.
OBJECTS: dict[str, tuple[dict[str, Rule], set[str]]] = {
    "log": (
        {"$schema": uri, "version": one_of("2.1.0"), "runs": listed("run")},
        {"version", "runs"},
    ),
    "run": (
        {
            "tool": an("tool"),
            "results": listed("result"),
            "columnKind": one_of("utf16CodeUnits", "unicodeCodePoints"),
        },
        {"tool"},
    ),
    "tool": ({"driver": an("toolComponent")}, {"driver"}),
    "toolComponent": (
        {"name": string, "version": string, "rules": listed("reportingDescriptor", unique=True)},
        {"name"},
    ),
    "reportingDescriptor": (
        {
            "id": string,
            "shortDescription": an("multiformatMessageString"),
            "fullDescription": an("multiformatMessageString"),
            "help": an("multiformatMessageString"),
            "helpUri": uri,
            "defaultConfiguration": an("reportingConfiguration"),
        },
        {"id"},
    ),
    "reportingConfiguration": ({"level": LEVEL}, set()),
    "multiformatMessageString": ({"text": string, "markdown": string}, {"text"}),
    "result": (
        {
            "ruleId": string,
            "ruleIndex": number(-1),
            "level": LEVEL,
            "message": an("message"),
            "locations": listed("location"),
            "relatedLocations": listed("location", unique=True),
        },
        {"message"},
    ),
    "message": ({"text": string}, {"text"}),
    "location": (
        {"id": number(-1), "physicalLocation": an("physicalLocation"), "message": an("message")},
        set(),
    ),
    "physicalLocation": (
        {"artifactLocation": an("artifactLocation"), "region": an("region")},
        {"artifactLocation"},
    ),
    "artifactLocation": ({"uri": uri}, set()),
    "region": (
        {name: number(1) for name in ("startLine", "startColumn", "endLine", "endColumn")},
        set(),
    ),
}


def obey(kind: str, value: Any, at: str) -> None:
    """Fails where an object of the log is not as the schema has it."""
    keys, required = OBJECTS[kind]
    assert isinstance(value, dict), at
    assert required <= value.keys() <= keys.keys(), f"{at}: {sorted(value)}"
    for key, part in value.items():
        keys[key](part, f"{at}.{key}")


def checked(found: list[Diagnostic]) -> dict[str, Any]:
    """The one run of a log, after everything that holds for every log of ours."""
    log: Any = json.loads(json.dumps(render_sarif(found)))
    obey("log", log, "log")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result, finding in zip(run["results"], found, strict=True):
        assert result["ruleId"] == rules[result["ruleIndex"]]["id"] == finding.code
        assert result["level"] == rules[result["ruleIndex"]]["defaultConfiguration"]["level"]
        ids = [place["id"] for place in result.get("relatedLocations", [])]
        assert ids == sorted(set(ids))
    return run


# --- the checks find what is wrong ---------------------------------------------


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("log", {"version": "2.1.0"}),
        ("log", {"version": "2.0.0", "runs": []}),
        ("region", {"startLine": 0}),
        ("region", {"startLine": True}),
        ("region", {"line": 1}),
        ("message", {}),
        ("artifactLocation", {"uri": "a b.linnet"}),
        ("artifactLocation", {"uri": "c:a.linnet"}),
        ("physicalLocation", {"region": {"startLine": 1}}),
        ("result", {"message": {"text": ""}, "level": "fatal"}),
        ("toolComponent", {"name": "x", "rules": [{"id": "a"}, {"id": "a"}]}),
    ],
)
def test_the_checks_refuse(kind: str, value: Any) -> None:
    with pytest.raises(AssertionError):
        obey(kind, value, kind)


# --- logs ---------------------------------------------------------------------


def test_every_rejected_program_gives_a_log() -> None:
    for case in sorted(GOLDEN.iterdir()):
        checked(list(check_paths([case]).sink))


def test_every_code_is_a_rule() -> None:
    run = checked([Diagnostic(code, "wrong", None) for code in CODES])
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(CODES)
    assert all(rule["shortDescription"] == {"text": CODES[rule["id"]]} for rule in rules)
    assert all("helpUri" not in rule for rule in rules)
    levels = {rule["id"][0]: rule["defaultConfiguration"]["level"] for rule in rules}
    assert levels == {"E": "error", "W": "warning"}
    assert all("locations" not in result for result in run["results"])


def test_no_findings_are_a_run_without_results() -> None:
    run = checked([])
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert run["columnKind"] == "unicodeCodePoints"


def test_places_and_remarks() -> None:
    file = SourceFile("src/lib.linnet", "ab𝒳cd\nef\n")
    there = SourceFile("other.linnet", "x\n")
    finding = Diagnostic(
        "E2103",
        "dtypes differ",
        Span(file, 3, 7),
        "here",
        (Related(Span(there, 0, 1), "this is bf16"), Related(Span(there, 0, 0), "")),
        ("first", "second"),
        "cast it",
    )
    (result,) = checked([finding])["results"]
    assert result["message"]["text"] == "dtypes differ\nnote: first\nnote: second\nhelp: cast it"
    (place,) = result["locations"]
    assert place == {
        "physicalLocation": {
            "artifactLocation": {"uri": "src/lib.linnet"},
            # The letter beyond 16 bits is one column; the end is excluded.
            "region": {"startLine": 1, "startColumn": 4, "endLine": 2, "endColumn": 2},
        },
        "message": {"text": "here"},
    }
    first, second = result["relatedLocations"]
    assert (first["id"], second["id"]) == (1, 2)
    assert first["physicalLocation"]["artifactLocation"] == {"uri": "other.linnet"}
    assert first["message"] == {"text": "this is bf16"}
    assert "message" not in second
    region = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
    assert second["physicalLocation"]["region"] == region


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("a.linnet", "a.linnet"),
        ("../b/a.linnet", "../b/a.linnet"),
        ("my model/50%.linnet", "my%20model/50%25.linnet"),
        ("c:a#?.linnet", "c%3Aa%23%3F.linnet"),
        ("ü.linnet", "%C3%BC.linnet"),
        ("\udcff.linnet", "%FF.linnet"),
        ("/abs/a b.linnet", "file:///abs/a%20b.linnet"),
    ],
)
def test_names_of_files(path: str, wanted: str) -> None:
    finding = Diagnostic("E1201", "wrong", Span(SourceFile(path, "x"), 0, 1))
    (result,) = checked([finding])["results"]
    found = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert found == wanted
    assert unquote(found, errors="surrogateescape").removeprefix("file://") == path


# --- the command --------------------------------------------------------------

BAD = "module a\n\npub fn f(x: i32) -> i32 {\n    /* 𝒳 */ return y\n}\n"
LINT = "module a\n\npub fn f(x: i32) -> i32 {\n    let y = x\n    return x\n}\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("a.linnet")


def said(capsys: Capture, *words: str, status: int) -> Any:
    assert main(["check", *words]) == status
    out, err = capsys.readouterr()
    if status < 2:
        assert err == ""
    return json.loads(out)


def test_check_prints_a_log(file: Path, capsys: Capture) -> None:
    file.write_text(BAD, "utf-8")
    log = said(capsys, str(file), "--format", "sarif", status=1)
    obey("log", log, "log")
    (result,) = log["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("E1201", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a.linnet"}
    assert place["region"] == {"startLine": 4, "startColumn": 20, "endLine": 4, "endColumn": 21}
    log = said(capsys, str(file.absolute()), "--format=sarif", status=1)
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": file.absolute().as_uri()}


def test_lints_are_warnings_and_good_files_give_no_results(file: Path, capsys: Capture) -> None:
    file.write_text(LINT)
    (result,) = said(capsys, "a.linnet", "--format", "sarif", status=0)["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("W1002", "warning")
    file.write_text(LINT.replace("return x", "return y"))
    assert said(capsys, "a.linnet", "--format", "sarif", status=0)["runs"][0]["results"] == []


def test_the_last_form_that_is_asked_for_counts(file: Path, capsys: Capture) -> None:
    file.write_text(BAD, "utf-8")
    document = said(capsys, "a.linnet", "--format", "json", status=1)
    assert document == said(capsys, "a.linnet", "--format", "sarif", "--json", status=1)
    assert document["summary"] == {"errors": 1, "warnings": 0}
    assert "runs" in said(capsys, "a.linnet", "--json", "--format", "sarif", status=1)
    assert main(["check", "a.linnet", "--json", "--format", "text"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error[E1201]")


@pytest.mark.parametrize("form", [["--format", "sarif"], ["--format=sarif"]])
def test_a_wrong_command_line_is_a_log_too(form: list[str], capsys: Capture) -> None:
    log = said(capsys, *form, "nowhere.linnet", status=2)
    obey("log", log, "log")
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "E2102" and "nowhere.linnet" in result["message"]["text"]
    assert main(["check", "--format", "sarfi", "."]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.endswith("`sarfi` is not known: did you mean `sarif`?\n")


def test_a_wrong_command_line_in_json(capsys: Capture) -> None:
    assert said(capsys, "--format", "json", status=2)["diagnostics"][0]["code"] == "E2102"
