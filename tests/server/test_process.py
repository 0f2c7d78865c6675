"""The process itself: help, mistakes, start, the printed link, an orderly stop."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from server.__main__ import DRAIN_S, drain
from server.context import Drain
from tests.virtual_time import run_virtual

READY_S = 30.0
EXIT_S = 15.0


def environment(**variables: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, **variables}


async def run(*arguments: str, **variables: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "server",
        *arguments,
        env=environment(**variables),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), READY_S)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@pytest.mark.req("CARD-1")
async def test_help_names_every_setting() -> None:
    code, out, _ = await run("--help")
    assert code == 0
    settings = Path("server/settings.py").read_text()
    for name in re.findall(r"\"((?:PIDJIN|GEMINI)_[A-Z_]+)\"", settings):
        assert name in out, name


@pytest.mark.req("CARD-9")
async def test_all_mistakes_are_printed_and_nothing_starts(tmp_path: Path) -> None:
    code, out, err = await run(
        PIDJIN_PORT="x",
        PIDJIN_STORE="firestore",
        GEMINI_API_KEY="canary-key-never-printed",
        PIDJIN_DATA_DIR=str(tmp_path / "data"),
    )
    assert code == 2
    assert [line.split(":")[0] for line in err.splitlines()] == ["pidjin", "pidjin"]
    assert "PIDJIN_PORT" in err
    assert "PIDJIN_FIREBASE_PROJECT: PIDJIN_STORE=firestore needs it" in err
    assert "canary" not in out + err
    assert not (tmp_path / "data").exists()


class Server:
    """A started process and what it printed so far."""

    def __init__(self, process: asyncio.subprocess.Process, lines: list[str]) -> None:
        self.process = process
        self.lines = lines

    @property
    def link(self) -> str:
        return next(line.strip() for line in self.lines if "/signin/" in line)

    @property
    def origin(self) -> str:
        return self.link.partition("/web/")[0]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """Against a scripted model: no speech models are loaded."""
    async with LocalGemini(ScriptedEngine()) as gemini:
        certificate = tmp_path / "ca.pem"
        certificate.write_text(gemini.certificate_pem)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "server",
            env=environment(
                PIDJIN_PORT="0",
                PIDJIN_DATA_DIR=str(tmp_path / "data"),
                GEMINI_API_KEY="canary-key-never-printed",
                GEMINI_API_BASE=gemini.base_url,
                SSL_CERT_FILE=str(certificate),
            ),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert process.stdout is not None
        lines: list[str] = []
        try:
            async with asyncio.timeout(READY_S):
                while not any("/signin/" in line for line in lines):
                    line = await process.stdout.readline()
                    assert line, lines
                    lines.append(line.decode())
            yield Server(process, lines)
        finally:
            if process.returncode is None:
                process.kill()
                await process.communicate()


async def test_what_is_no_request_of_ours_is_answered_without_a_version(server: Server) -> None:
    async with aiohttp.ClientSession(server.origin) as http:
        for encoding in ("br", "zstd", "gzip"):
            headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
            async with http.post("/api/signUp", data=b"\x00{", headers=headers) as response:
                assert (await response.json())["error"]["message"] == (
                    "Send the request uncompressed."
                )
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.origin.split(":")[2]))
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nbroken header\r\n\r\n")
    answer = await asyncio.wait_for(reader.read(), READY_S)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 400") or answer.startswith(b"HTTP/1.0 400")
    assert b"Server: pidjin\r\n" in answer
    assert b"aiohttp" not in answer


@pytest.mark.req("CARD-17", "AUTH-14", "TEST-15")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_the_printed_link_signs_in_and_a_signal_stops_in_order(
    server: Server, number: signal.Signals
) -> None:
    code = server.link.rpartition("/")[2]
    async with aiohttp.ClientSession(server.origin) as http:
        async with http.get("/readyz") as response:
            assert response.status == 200
        async with http.get("/api/identity") as response:
            assert (await response.json())["localTutor"] is False
        async with http.post("/api/redeemLink", json={"code": code}) as response:
            answer = await response.json()
            assert answer["user"]["role"] == "admin"
        async with http.post(
            "/api/groundDocument",
            json={"title": "Tides", "text": "1. The moon.\n2. The sun."},
            headers={"Authorization": f"Bearer {answer['token']}"},
        ) as response:
            assert response.status == 200, await response.text()
    server.process.send_signal(number)
    rest, _ = await asyncio.wait_for(server.process.communicate(), EXIT_S)
    assert server.process.returncode == 0
    printed = "".join(server.lines) + rest.decode()
    assert "Traceback" not in printed
    assert "canary" not in printed


@pytest.mark.parametrize("broken", ["signing-secret", "pidjin.sqlite3", "."])
async def test_unusable_data_is_told_in_a_sentence(tmp_path: Path, broken: str) -> None:
    data = tmp_path / "data"
    if broken == ".":
        data.write_text("a file where a folder should be")
    else:
        data.mkdir()
        (data / broken).write_text("damaged " * 200)
    code, out, err = await run(
        PIDJIN_PORT="0", PIDJIN_DATA_DIR=str(data), GEMINI_API_KEY="some-key-here"
    )
    assert code == 2
    assert "Traceback" not in out + err
    assert str(data) in err.splitlines()[-1]


async def test_a_taken_port_is_told(server: Server, tmp_path: Path) -> None:
    port = server.origin.rpartition(":")[2]
    code, _, err = await run(
        PIDJIN_PORT=port, PIDJIN_DATA_DIR=str(tmp_path / "other"), GEMINI_API_KEY="some-key-here"
    )
    assert code == 2
    assert f"cannot listen on 127.0.0.1:{port} (PIDJIN_HOST, PIDJIN_PORT)" in err


async def test_taken_ports_are_told_before_anything_is_loaded(tmp_path: Path) -> None:
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        for taken in (tcp, udp):
            taken.bind(("127.0.0.1", 0))
        tcp.listen()
        tcp_port, udp_port = tcp.getsockname()[1], udp.getsockname()[1]
        data = tmp_path / "data"
        code, out, err = await run(
            PIDJIN_PORT=str(tcp_port), PIDJIN_UDP_PORT=str(udp_port), PIDJIN_DATA_DIR=str(data)
        )
    assert code == 2
    assert f"cannot listen on 127.0.0.1:{tcp_port} (PIDJIN_HOST, PIDJIN_PORT)" in err
    assert f"UDP 127.0.0.1:{udp_port} (PIDJIN_UDP_HOST, PIDJIN_UDP_PORT)" in err
    assert len(err.splitlines()) == 1
    assert "Traceback" not in out + err
    assert not data.exists()


async def test_a_certificate_that_is_none_is_told_in_a_sentence(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    for file in (certificate, key):
        file.write_text("not PEM")
    code, out, err = await run(
        PIDJIN_PORT="0",
        PIDJIN_TLS_CERT=str(certificate),
        PIDJIN_TLS_KEY=str(key),
        PIDJIN_DATA_DIR=str(tmp_path / "data"),
    )
    assert code == 2
    assert err.startswith("pidjin: PIDJIN_TLS_CERT and PIDJIN_TLS_KEY: cannot use")
    assert "Traceback" not in out + err


@pytest.mark.req("CARD-17")
def test_the_stop_waits_for_every_hook_and_for_no_hook_too_long(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[str] = []

    async def slow() -> None:
        await asyncio.sleep(DRAIN_S / 2)
        done.append("slow")

    async def broken() -> None:
        raise KeyError("bug")

    async def endless() -> None:
        await asyncio.sleep(3600)
        done.append("never")

    async def main(*hooks: Drain) -> float:
        started = asyncio.get_running_loop().time()
        await drain(hooks)
        return asyncio.get_running_loop().time() - started

    assert run_virtual(main(slow, broken)) == DRAIN_S / 2
    assert "drain_failed" in caplog.messages
    assert run_virtual(main(slow, endless)) == DRAIN_S
    assert done == ["slow", "slow"]
