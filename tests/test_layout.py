"""The tree, and who may import whom: the walls of the house hold only while a test holds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("server", "agent", "media", "local_gemini")
# Package -> our packages it must not know.
WALLS = {
    "media": {"agent", "server", "local_gemini"},
    "agent": {"media", "server", "local_gemini"},
    "local_gemini": {"media", "agent", "server"},
}
# The one module of the server that reads the environment.
ENVIRONMENT = ROOT / "server" / "settings.py"


def modules(package: str) -> Iterator[Path]:
    yield from sorted((ROOT / package).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    """Top-level names of absolute imports, also those inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("package", WALLS)
def test_no_package_knows_what_it_must_not(package: str) -> None:
    seen = 0
    for module in modules(package):
        seen += 1
        forbidden = WALLS[package] & set(imported(ast.parse(module.read_text())))
        assert not forbidden, f"{module.relative_to(ROOT)} imports {forbidden}"
    assert seen > 3


def test_the_wall_test_can_see_an_import_inside_a_function() -> None:
    assert set(imported(ast.parse("def f():\n    from agent.topic import Topic"))) == {"agent"}


def test_only_settings_reads_the_environment() -> None:
    for module in modules("server"):
        if module == ENVIRONMENT:
            continue
        for node in ast.walk(ast.parse(module.read_text())):
            name = node.attr if isinstance(node, ast.Attribute) else None
            assert name not in ("environ", "environb", "getenv"), module


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_says_what_it_is(package: str) -> None:
    for module in modules(package):
        assert ast.get_docstring(ast.parse(module.read_text())), module


def test_no_module_is_named_after_nothing() -> None:
    for package in PACKAGES:
        for module in modules(package):
            assert not {"utils", "helpers", "manager", "common"} & set(module.stem.split("_"))


@pytest.mark.req("CARD-3")
@pytest.mark.parametrize(
    "path",
    ["server", "client", "agent", "media", "local_gemini", "tests", "scripts", "pyproject.toml"],
)
def test_the_top_level_is_as_agreed(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.req("CARD-19")
def test_the_product_has_one_name() -> None:
    for package in (*PACKAGES, "client/src"):
        for file in sorted((ROOT / package).rglob("*")):
            if file.suffix in (".py", ".ts", ".tsx", ".html", ".css"):
                assert "SocratEase" not in file.read_text(), file
