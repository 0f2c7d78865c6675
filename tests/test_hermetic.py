"""The tests need nothing but this machine; the libraries that are named are really used."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

ROOT = Path(__file__).resolve().parent.parent
# Distribution -> what of it is imported.
NAMED = {
    "aiortc": "aiortc",
    "aiohttp": "aiohttp",
    "google-genai": "google.genai",
    "google-adk": "google.adk",
    "numpy": "numpy",
    "soxr": "soxr",
    "firebase-admin": "firebase_admin",
    "google-cloud-firestore": "google.cloud.firestore_v1",
}


def imported() -> Iterator[str]:
    """What the product's own packages import, also inside of functions."""
    for package in ("server", "media", "agent"):
        for module in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(module.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    yield from (alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    yield node.module
                    yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.req("CARD-2")
def test_each_named_package_is_declared_and_used_by_the_product() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = " ".join(project["dependencies"]).replace("==", ">=")
    used = set(imported())
    for distribution, name in NAMED.items():
        assert f"{distribution}>=" in declared, distribution
        assert any(one == name or one.startswith(f"{name}.") for one in used), name
    assert any("pytest-aiohttp" in one for one in project["optional-dependencies"]["dev"])


@pytest.mark.req("CARD-2")
async def test_pytest_aiohttp_serves_the_product(
    aiohttp_client: Callable[..., Any], tmp_path: Path
) -> None:
    from server.pages import Pages

    app = web.Application()
    app.add_routes(Pages(tmp_path).routes())
    client: TestClient[web.Request, web.Application] = await aiohttp_client(app)
    async with client.get("/robots.txt") as response:
        assert response.status == 200


HERMETIC = """
    import os, socket, sys
    import pytest

    for name in list(os.environ):
        if name.startswith(("PIDJIN_", "GEMINI_", "GOOGLE_", "FIREBASE_", "FIRESTORE_")):
            del os.environ[name]
    left = []
    def refuse(event, args):
        if event == "socket.connect" and args[0].family in (socket.AF_INET, socket.AF_INET6):
            if args[1][0] not in ("127.0.0.1", "::1", "0.0.0.0"):
                left.append(args[1][0])
                raise OSError("no network in this test")
        if event == "socket.getaddrinfo" and args[0] not in ("127.0.0.1", "localhost", "::1", None):
            left.append(args[0])
            raise socket.gaierror("no network in this test")
    sys.addaudithook(refuse)
    code = pytest.main(["-q", "-p", "no:randomly", *sys.argv[1:]])
    sys.exit(int(code) or (3 if left else 0))
"""


@pytest.mark.req("CARD-16")
@pytest.mark.parametrize("path", ["tests/server/test_sign_in.py", "tests/lesson/test_lesson.py"])
def test_tests_pass_without_network_account_or_device(path: str) -> None:
    """In a process that cannot reach anything but itself, and has no setting of its machine."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(HERMETIC), path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.req("CARD-16")
def test_that_process_would_notice(tmp_path: Path) -> None:
    stray = tmp_path / "test_stray.py"
    stray.write_text(
        "import socket\n"
        "def test_it():\n"
        "    try:\n"
        "        socket.create_connection(('192.0.2.1', 80), 0.1)\n"
        "    except OSError:\n"
        "        pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(HERMETIC), str(stray)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3, done.stdout + done.stderr
