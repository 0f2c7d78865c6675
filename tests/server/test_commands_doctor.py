"""The doctor: every finding can be in order, and every one can be wrong, with a fix named."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini
from server.__main__ import main
from server.commands import machine, services
from server.commands.finding import Finding, Level
from server.config import AppConfig
from server.settings import Settings
from server.store.sqlite import SqliteStore
from tests.fake_identity import API_KEY, fake_identity

Ask = Callable[[], Awaitable[dict[str, dict[str, str]]]]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GEMINI_API_KEY", "GEMINI_API_BASE", "PIDJIN_HOST", "PIDJIN_LOCAL_LLM_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIDJIN_PORT", "0")
    monkeypatch.setenv("PIDJIN_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(services, "speech", lambda: iter(()))  # 2 s of hashing; has its own test
    return tmp_path / "data"


@pytest.fixture
def ask(data: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What `pidjin doctor --json` finds, by check; the worst one counts."""

    async def run() -> dict[str, dict[str, str]]:
        capsys.readouterr()
        code = await asyncio.to_thread(main, ["doctor", "--json"])
        findings = json.loads(capsys.readouterr().out)
        rank = list(Level)
        found: dict[str, dict[str, str]] = {}
        for finding in findings:
            assert finding["level"] == "ok" or finding["fix"].strip(), finding
            known = found.get(finding["check"])
            if known is None or rank.index(finding["level"]) > rank.index(known["level"]):
                found[finding["check"]] = finding
        assert code == int(any(finding["level"] == "failure" for finding in findings))
        return found

    return run


async def test_an_empty_machine_is_in_order_and_stays_empty(ask: Ask, data: Path) -> None:
    found = await ask()
    assert {finding["level"] for finding in found.values()} == {"ok"}
    assert f"no Pidjin in {data} yet" in found["data"]["text"]
    assert not data.exists()


async def test_a_folder_that_cannot_be_made(ask: Ask, data: Path) -> None:
    data.parent.joinpath("file").write_text("")
    (finding,) = machine.data_dir(Settings(data_dir=data.parent / "file" / "data"))
    assert finding.level is Level.FAILURE


async def test_a_pidjin_that_was_begun_is_in_order(ask: Ask, data: Path) -> None:
    data.mkdir()
    found = await ask()
    wanted = {"python", "opus", "settings", "clock", "data", "secret", "tcp", "udp", "address"}
    assert {check for check in found if found[check]["level"] == "ok"} >= {
        *wanted - {"secret"},
        "store",
    }
    assert found["identity"]["level"] == "warning"
    found = await ask()
    assert found["secret"]["level"] == "ok"


@pytest.mark.req("CARD-9")
async def test_mistakes_in_the_settings_are_failures(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIDJIN_PORT", "x")
    found = await ask()
    assert "PIDJIN_PORT" in found["settings"]["text"]
    assert found["settings"]["level"] == "failure"


async def test_data_that_cannot_be_written(ask: Ask, data: Path) -> None:
    data.write_text("a file")
    found = await ask()
    assert found["data"]["level"] == "failure"
    assert "store" not in found


async def test_a_secret_that_others_may_read(ask: Ask, data: Path) -> None:
    data.mkdir()
    await ask()
    (data / "signing-secret").chmod(0o644)
    assert (await ask())["secret"]["level"] == "failure"


async def test_a_damaged_secret_and_a_damaged_store(ask: Ask, data: Path) -> None:
    data.mkdir()
    (data / "signing-secret").write_text("zz")
    assert (await ask())["identity"]["level"] == "failure"
    (data / "signing-secret").unlink()
    (data / "pidjin.sqlite3").write_text("damaged " * 200)
    assert (await ask())["store"]["level"] == "failure"


async def test_stored_configuration_without_effect(ask: Ask, data: Path) -> None:
    store = SqliteStore(data / "pidjin.sqlite3")
    await store.set("config/app", {"liveModel": 7})
    await store.close()
    found = (await ask())["config"]
    assert found["level"] == "warning"
    assert found["fix"] == "Run pidjin config unset liveModel"


def by_check(findings: Iterator[Finding]) -> dict[str, Finding]:
    return {finding.check: finding for finding in findings}


@pytest.mark.parametrize(
    ("check", "kind"), [("tcp", socket.SOCK_STREAM), ("udp", socket.SOCK_DGRAM)]
)
def test_a_taken_port(tmp_path: Path, check: str, kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_INET, kind) as holder:
        holder.bind(("127.0.0.1", 0))
        if kind is socket.SOCK_STREAM:
            holder.listen()
        port = holder.getsockname()[1]
        if kind is socket.SOCK_STREAM:
            settings = Settings(port=port, udp_port_override=0, data_dir=tmp_path)
        else:
            settings = Settings(port=0, udp_port_override=port, data_dir=tmp_path)
        found = by_check(machine.ports(settings))
    assert found[check].level is Level.FAILURE
    assert {finding.level for name, finding in found.items() if name != check} == {Level.OK}


@pytest.mark.req("CARD-18")
@pytest.mark.parametrize(
    ("host", "public", "level"),
    [
        ("127.0.0.1", (), Level.OK),
        ("0.0.0.0", ("8.8.8.8",), Level.OK),
        ("0.0.0.0", ("10.0.0.3",), Level.WARNING),
        ("127.0.0.1", ("8.8.8.8",), Level.WARNING),
        ("0.0.0.0", ("127.0.0.1",), Level.FAILURE),
        ("0.0.0.0", ("0.0.0.0",), Level.FAILURE),
    ],
)
def test_the_advertised_address(host: str, public: tuple[str, ...], level: Level) -> None:
    found = by_check(machine.addresses(Settings(host=host, public_ip=public)))
    assert found["address"].level is level
    assert ("tls" in found) is (host != "127.0.0.1")


@pytest.mark.parametrize(
    ("shift", "level"),
    [
        (timedelta(0), Level.OK),
        (timedelta(days=-400), Level.FAILURE),
        (timedelta(days=365 * 30), Level.FAILURE),
    ],
)
def test_the_clock(tmp_path: Path, shift: timedelta, level: Level) -> None:
    file = tmp_path / "pidjin.sqlite3"
    file.touch()
    newest = max(os.stat(path).st_mtime for path in (file, machine.__file__))
    now = datetime.fromtimestamp(newest, UTC) + shift
    assert machine.clock(Settings(data_dir=tmp_path), now).level is level


def test_a_client_that_is_not_built(tmp_path: Path) -> None:
    assert machine.client(tmp_path).level is Level.FAILURE
    for name in ("index.html", "app.js"):
        (tmp_path / name).touch()
    assert machine.client(tmp_path).level is Level.OK


async def models(base_url: str | None, config: AppConfig | None = None) -> list[Finding]:
    settings = Settings(gemini_api_base=base_url)
    return [finding async for finding in services.models(settings, config or AppConfig())]


@pytest.mark.req("AUTH-15")
async def test_models_that_answer_are_unknown_or_refuse_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "canary-key-never-printed")
    async with LocalGemini(ScriptedEngine(), api_key="canary-key-never-printed") as gemini:
        pem = tmp_path / "ca.pem"
        pem.write_text(gemini.certificate_pem)
        monkeypatch.setenv("SSL_CERT_FILE", str(pem))
        found = await models(gemini.base_url)
        assert [finding.level for finding in found] == [Level.OK] * 4
        found = await models(gemini.base_url, AppConfig(live_model="gemini-9-live"))
        assert found[0].level is Level.FAILURE
        assert "liveModel gemini-9-live" in found[0].text
        monkeypatch.setenv("GEMINI_API_KEY", "another-key-never-printed")
        found = await models(gemini.base_url)
        assert {finding.level for finding in found} == {Level.FAILURE}
        assert not any("never-printed" in finding.text for finding in found)


def test_the_models_of_the_local_tutor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_gemini.speech.models.WEIGHTS", ())
    monkeypatch.setattr("local_gemini.speech.models.MODULES", ("json", "no_such_module"))
    (found,) = services.speech()
    assert found.level is Level.FAILURE
    assert "no_such_module" in found.text
    assert "pip install" in found.fix


@pytest.mark.speech
def test_the_weights_are_found_as_pinned() -> None:
    (found,) = services.speech()
    assert found.level is Level.OK, found.text


def test_a_local_llm_that_does_not_answer() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))  # bound, and nobody listens
        found = services.local_llm(f"http://127.0.0.1:{holder.getsockname()[1]}/v1")
    assert found.level is Level.WARNING


@pytest.mark.req("AUTH-1")
async def test_the_sign_in_with_google(
    data: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIDJIN_IDENTITY", "firebase")
    monkeypatch.setenv("PIDJIN_FIREBASE_PROJECT", "demo-pidjin")
    found = (await ask())["google"]
    assert found["level"] == "warning"
    assert "PIDJIN_FIREBASE_API_KEY" in found["fix"]
    monkeypatch.setenv("PIDJIN_FIREBASE_API_KEY", API_KEY)
    monkeypatch.setenv("PIDJIN_PUBLIC_URL", "https://tutor.example.org")
    async with fake_identity(monkeypatch) as google:
        found = (await ask())["google"]
        assert found["level"] == "ok"
        assert "https://tutor.example.org/api/google/callback" in found["text"]
        google.says = "OPERATION_NOT_ALLOWED : not enabled"
        found = (await ask())["google"]
        assert found["level"] == "failure"
        assert "OPERATION_NOT_ALLOWED" in found["text"]
        assert "Sign-in method" in found["fix"]
        google.says, google.toolkit_status = None, 503
        assert "network" in (await ask())["google"]["fix"]
        assert API_KEY not in str(found)
