"""The process on Google's backends: an incomplete choice ends the start, a complete one greets."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.emulator import new_project
from tests.server.test_process import EXIT_S, READY_S, environment, run

pytestmark = pytest.mark.req("CARD-9")
KEY = "canary-key-never-printed"


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"PIDJIN_STORE": "firestore"}, "PIDJIN_FIREBASE_PROJECT"),
        ({"PIDJIN_IDENTITY": "firebase"}, "PIDJIN_FIREBASE_PROJECT"),
        (
            {"PIDJIN_STORE": "firestore", "PIDJIN_FIREBASE_PROJECT": "demo-x"},
            "GOOGLE_APPLICATION_CREDENTIALS",
        ),
        (
            {
                "PIDJIN_IDENTITY": "firebase",
                "PIDJIN_FIREBASE_PROJECT": "demo-x",
                "PIDJIN_FIREBASE_CHECK_REVOKED": "1",
            },
            "GOOGLE_APPLICATION_CREDENTIALS",
        ),
    ],
)
async def test_what_is_missing_is_named_and_nothing_starts(
    tmp_path: Path, variables: dict[str, str], named: str
) -> None:
    code, out, err = await run(
        PIDJIN_PORT="0",
        PIDJIN_DATA_DIR=str(tmp_path / "data"),
        GEMINI_API_KEY=KEY,
        GOOGLE_APPLICATION_CREDENTIALS=str(tmp_path / "none.json"),
        **variables,
    )
    assert code == 2
    assert named in err
    assert "Traceback" not in err
    assert out == ""
    assert KEY not in err


async def test_a_store_that_is_gone_ends_the_start(tmp_path: Path) -> None:
    code, _, err = await run(
        PIDJIN_PORT="0",
        PIDJIN_DATA_DIR=str(tmp_path / "data"),
        PIDJIN_STORE="firestore",
        PIDJIN_FIREBASE_PROJECT="demo-x",
        FIRESTORE_EMULATOR_HOST="127.0.0.1:9",
        GEMINI_API_KEY=KEY,
    )
    assert code == 2
    assert "cannot use the store in firestore" in err
    assert "Traceback" not in err


async def test_a_server_on_both_greets_without_a_link(tmp_path: Path, firestore_host: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "server",
        env=environment(
            PIDJIN_PORT="0",
            PIDJIN_DATA_DIR=str(tmp_path / "data"),
            PIDJIN_STORE="firestore",
            PIDJIN_IDENTITY="firebase",
            PIDJIN_FIREBASE_PROJECT=new_project(),
            PIDJIN_ADMIN_EMAIL="boss@example.org",
            FIRESTORE_EMULATOR_HOST=firestore_host,
            GEMINI_API_KEY=KEY,
        ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(READY_S):
            printed = ""
            while "first admin" not in printed:
                line = await process.stdout.readline()
                assert line, printed
                printed += line.decode()
            assert "boss@example.org" in printed
            assert "/signin/" not in printed
            where = next(word for word in printed.split() if word.startswith("http://"))
            async with aiohttp.ClientSession() as http:
                async with http.get(f"{where}readyz") as response:
                    assert response.status == 200
                async with http.get(f"{where}api/identity") as response:
                    assert (await response.json())["mode"] == "firebase"
        process.terminate()
        rest, _ = await asyncio.wait_for(process.communicate(), EXIT_S)
        assert process.returncode == 0
        assert "Traceback" not in rest.decode()
        assert not (tmp_path / "data").exists()
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
