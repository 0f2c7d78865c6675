"""The documents say what is: links, settings, ids, wire and deployment files are checked."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from server import rtvi
from server.asyncapi import asyncapi, kind_of
from server.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
COUNTS = {
    "CARD": 19, "RTC": 23, "AUTH": 26, "DATA": 59, "API": 52, "GRND": 24, "AGND": 16, "MOVE": 27,
    "OBS": 30, "VOICE": 66, "PIPE": 23, "STYLE": 36, "PROMPT": 39, "UI": 61, "RULES": 16,
    "HOME": 19, "TEST": 22, "GOTCHA": 17, "TOOL": 46, "OWN": 79, "ASST": 50,
}  # fmt: skip
OTHER_NAMES = ("socratease", "socratic-teacher", "socratic_teacher")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def fragments(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        if fragment:
            assert fragment in fragments(file), target


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_are_named_exist(page: Path) -> None:
    """`media/turns.py` in a text is a promise too."""
    roots = "agent|bench|client|deploy|docs|local_gemini|media|scripts|server|tests"
    text = page.read_text("utf-8")
    if page.name == "SPEC.md":
        text = re.sub(r"`scripts/[^`]*`", "", text)  # some of them are still wanted
    for name in re.findall(rf"`((?:{roots})/[\w./-]+\.\w+)`", text):
        assert (ROOT / name).exists(), name
    for number in re.findall(r"`docs/adr/(\d{4})`", text):
        assert list(DOCS.glob(f"adr/{number}-*.md")), number


def test_the_notes_on_libraries_are_rows_with_a_test() -> None:
    """Four cells each, and every test file that is named in full exists."""
    text = (DOCS / "notes/libraries.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("|")][2:]
    assert rows
    for row in rows:
        cells = re.split(r" \| ", row.strip("| "))
        assert len(cells) == 4, row
        for name in re.findall(r"tests/[\w/]+\.py", cells[3]):
            assert (ROOT / name).exists(), name


def test_the_readme_begins_with_the_two_commands() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert lines[:4] == ["# Pidjin", "", "    make run", "    make test"]


# --- the contract ---------------------------------------------------------------------------------


def test_the_contract_has_every_id_once() -> None:
    spec = (DOCS / "SPEC.md").read_text("utf-8")
    ids = re.findall(r"^- \*\*([A-Z]+)-(\d+)\*\* \S", spec, re.MULTILINE)
    assert Counter(area for area, _ in ids) == COUNTS
    assert {(a, int(n)) for a, n in ids} == {
        (area, n) for area, count in COUNTS.items() for n in range(1, count + 1)
    }
    assert re.findall(r"^## ([A-Z]+)$", spec, re.MULTILINE) == list(COUNTS)


@pytest.mark.req("CARD-19")
def test_only_one_product_is_named() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=False
    )
    if listed.returncode:
        pytest.skip("no checkout: git knows which files are ours")
    names = listed.stdout.decode().split("\0")
    for name in (n for n in names if n and not n.startswith("tests/")):
        file = ROOT / name
        text = name + (file.read_text("utf-8", "ignore") if file.is_file() else "")
        assert not [other for other in OTHER_NAMES if other in text.lower()], name
    assert "<title>Pidjin" in (ROOT / "client/src/index.html").read_text("utf-8")


def test_the_marks_of_tests_are_ids_of_the_contract() -> None:
    marked: set[tuple[str, str]] = set()
    for file in (ROOT / "tests").rglob("test_*.py"):
        for arguments in re.findall(r"\.req\(([^)]*)\)", file.read_text("utf-8")):
            marked |= set(re.findall(r'"([A-Z]+)-(\d+)"', arguments))
    assert marked
    assert [f"{a}-{n}" for a, n in marked if not 0 < int(n) <= COUNTS.get(a, 0)] == []


# --- settings -------------------------------------------------------------------------------------


def names_of(field: FieldInfo) -> list[str]:
    """The variables that a setting is read from; the first one is ours to document."""
    alias = field.validation_alias
    return [str(c) for c in alias.choices] if isinstance(alias, AliasChoices) else [str(alias)]


FIELDS = {names_of(field)[0]: field for field in Settings.model_fields.values()}
# What other programs call their own stays theirs; a text has to name it, the tables need not.
FOREIGN = {name for name in FIELDS if not name.startswith(("PIDJIN_", "GEMINI_"))}
ENVIRONMENT = {"GEMINI_API_KEY", *FIELDS} - FOREIGN


def rows_of(page: Path, heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    section = page.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def test_every_setting_is_documented_and_every_documented_setting_exists() -> None:
    rows = rows_of(DOCS / "operations.md", "Settings")
    assert sorted(row[0].strip("`") for row in rows) == sorted(ENVIRONMENT)
    text = (DOCS / "operations.md").read_text("utf-8")
    assert set(re.findall(r"\b(?:PIDJIN|GEMINI)_[A-Z_]+", text)) <= ENVIRONMENT
    assert [name for name in FOREIGN if name not in text] == []


def test_documented_defaults_are_the_defaults() -> None:
    stated = {row[0].strip("`"): row[1] for row in rows_of(DOCS / "operations.md", "Settings")}
    for name, field in FIELDS.items():
        written = stated.get(name, "")
        if written.strip("`") in names_of(field)[1:]:
            continue  # read from there
        if written.startswith("`") and written.endswith("`"):
            assert written.strip("`").lower() == str(field.default).lower()
        else:
            assert field.default in (None, ()), name


def test_the_help_names_every_setting() -> None:
    from server.__main__ import _ENVIRONMENT

    assert set(re.findall(r"\b(?:PIDJIN|GEMINI)_[A-Z_]+", _ENVIRONMENT)) == ENVIRONMENT


# --- deployment -----------------------------------------------------------------------------------

PORT = Settings.model_fields["port"].default


def test_the_compose_file_publishes_both_ports_of_the_defaults() -> None:
    service = yaml.safe_load((ROOT / "deploy/docker-compose.yml").read_text())["services"]["pidjin"]
    published = {}
    for entry in service["ports"]:
        outside, inside, protocol = re.fullmatch(r"(?:[\d.]+:)?(\d+):(\d+)/(\w+)", entry).groups()  # type: ignore[union-attr]
        published[protocol] = (int(outside), int(inside))
    assert published == {"tcp": (PORT, PORT), "udp": (PORT, PORT)}
    assert set(service["environment"]) <= ENVIRONMENT
    assert (ROOT / "deploy" / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).is_file()


def test_the_image_exposes_both_ports_and_does_not_run_as_root() -> None:
    text = (ROOT / "deploy/Dockerfile").read_text()
    assert f"EXPOSE {PORT}/tcp {PORT}/udp" in text
    assert f"127.0.0.1:{PORT}/healthz" in text
    last = text.split("\nFROM ")[-1]
    assert re.search(r"^USER (?!root)", last, re.MULTILINE)
    assert set(re.findall(r"PIDJIN_[A-Z_]+", text)) <= ENVIRONMENT
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / name).exists() for name in source.split()), source


def test_the_unit_starts_the_server_and_gives_it_time_to_stop() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read(ROOT / "deploy/pidjin.service")
    service = unit["Service"]
    assert service["ExecStart"].endswith("/python -m server")
    assert int(service["TimeoutStopSec"]) > 15
    assert set(re.findall(r"PIDJIN_[A-Z_]+", service["Environment"])) <= ENVIRONMENT


def test_the_proxy_example_reaches_the_default_port() -> None:
    assert f"reverse_proxy 127.0.0.1:{PORT}" in (ROOT / "deploy/Caddyfile").read_text()
    assert f"proxy_pass http://127.0.0.1:{PORT};" in (DOCS / "operations.md").read_text("utf-8")


# --- the data channel -----------------------------------------------------------------------------


def spoken_models() -> list[type[BaseModel]]:
    """Every message that the codec's module knows, whether or not a list there names it."""
    found = [m for m in vars(rtvi).values() if isinstance(m, type) and issubclass(m, BaseModel)]
    return [m for m in found if any(m.__dict__.get(name) for name in ("KIND", "TYPE", "T"))]


def test_the_committed_description_is_the_generated_one() -> None:
    written = (DOCS / "asyncapi.json").read_text("utf-8")
    wanted = json.dumps(asyncapi(), indent=2, ensure_ascii=False) + "\n"
    assert written == wanted, "python -m server.asyncapi > docs/asyncapi.json"


def test_every_message_is_described_in_its_direction() -> None:
    document = asyncapi()
    described = set(document["components"]["messages"])
    assert {kind_of(model) for model in spoken_models()} | set(rtvi.PLAIN_TYPES) <= described
    directions = {
        operation["action"]: {ref["$ref"].rpartition("/")[2] for ref in operation["messages"]}
        for operation in document["operations"].values()
    }
    assert {kind_of(m) for m in rtvi.CLIENT_DATA} <= directions["receive"]
    assert {kind_of(m) for m in (*rtvi.RTVI_DATA, *rtvi.SERVER_DATA)} <= directions["send"]
    assert directions["send"] | directions["receive"] == described


def test_references_of_the_description_resolve() -> None:
    document = asyncapi()
    for reference in re.findall(r'"\$ref": "#/([^"]+)"', json.dumps(document)):
        found: Any = document
        for key in reference.split("/"):
            found = found[key]


@pytest.mark.parametrize("kind", sorted(asyncapi()["components"]["messages"]))
def test_every_message_has_a_true_example(kind: str) -> None:
    document = asyncapi()
    message = document["components"]["messages"][kind]
    assert message["examples"], f"{kind} needs an example in server/asyncapi.py"
    heard = {kind_of(model): model for model in rtvi.CLIENT_DATA}
    for example in message["examples"]:
        frame = example["payload"]
        if kind in heard:
            got = rtvi.decode(json.dumps(frame))
            assert isinstance(got, rtvi.Received)
            assert type(got.message) is heard[kind]
        elif isinstance(frame, str):
            assert isinstance(rtvi.decode(frame), rtvi.Received)
        elif frame["type"] == "signalling":  # the transport's own, without RTVI's label
            assert frame["message"]["type"] == kind
        else:
            assert frame["label"] == rtvi.LABEL
            assert kind in (frame["type"], frame["data"].get("type"))
            check_fields(document, message["payload"], frame)


def check_fields(document: dict[str, Any], schema: dict[str, Any], value: Any) -> None:
    """No field that the schema does not know, and all that it demands."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        check_fields(document, document["components"]["schemas"][name], value)
        return
    branches = schema.get("allOf", [schema])
    resolved = [
        document["components"]["schemas"][b["$ref"].rpartition("/")[2]] if "$ref" in b else b
        for b in branches
    ]
    known = {name: field for branch in resolved for name, field in branch["properties"].items()}
    assert set(value) <= set(known)
    assert {name for branch in resolved for name in branch.get("required", ())} <= set(value)
    inner = known.get("data", {})
    if "$ref" in inner or "allOf" in inner:
        check_fields(document, inner, value["data"])
