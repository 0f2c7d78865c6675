"""The probe's own checks: all pass on a service that behaves, each fails on one fault (TEST-18)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local_gemini.faults import (
    answer,
    close,
    hang,
    no_audio,
    no_turn_complete,
    plan,
    refuse,
    say,
    send_content,
    silent_audio,
    text_part,
    vanish,
)
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini
from scripts import live_probe
from scripts.probe.bench import Bench, Patience
from scripts.probe.lesson import FIRST, SECOND
from scripts.probe.report import AGREES, FAIL, MISMATCH, NO_ROW, PASS, UNPROBED, Report
from scripts.probe.run import groups_of, probe
from scripts.probe.steering import SIGNALS, SPOKEN, STATUS, STEERING
from scripts.probe.tokens import NAMES as TOKENS
from tests.scripts.behaving import engine

LIVE, THINKING = "gemini-3.8-live", "gemini-3.8-live-extended-thinking"
PATIENCE = Patience(quiet_s=0.2, answer_s=1.2, grace_s=0.2, pace=200.0)
SPEED = 20.0
SPEECH = tone(600, rate=16_000)


@asynccontextmanager
async def bench(
    script: Script | None = None,
    model: str = LIVE,
    tutor: ScriptedEngine | None = None,
    patience: Patience = PATIENCE,
) -> AsyncIterator[tuple[Bench, LocalGemini]]:
    async with LocalGemini(tutor or engine(), script, SPEED) as house:
        yield (
            Bench(
                model,
                api_key=lambda: "a-key",
                base_url=house.base_url,
                ssl_context=house.ssl_context,
                patience=patience,
                speech=SPEECH,
            ),
            house,
        )


async def report_of(
    script: Script | None = None,
    model: str = LIVE,
    tutor: ScriptedEngine | None = None,
    only: str = "",
) -> Report:
    groups = [only] if only else groups_of(model, with_token=True)
    async with bench(script, model, tutor) as (under_test, _):
        return await probe(under_test, lambda _: None, groups)


@pytest.mark.req("VOICE-59", "TEST-18", "VOICE-3", "VOICE-23")
@pytest.mark.parametrize("model", [LIVE, THINKING])
async def test_a_service_that_behaves_passes_every_check(model: str) -> None:
    report = await report_of(model=model)
    assert [check for check in report.checks if check.outcome != PASS] == []
    names = {check.name for check in report.checks}
    groups = (("opens",), STEERING, SIGNALS, SPOKEN, TOKENS, STATUS if model == THINKING else ())
    assert names == {name for group in groups for name in group}
    assert {column.verdict for column in report.columns} == {AGREES, UNPROBED}
    assert report.good


def without_usage() -> Script:
    return (
        Script()
        .on("turn_complete", plan(turn_complete=False))
        .on("turn_complete", send_content(turnComplete=True))
    )


def without_status() -> Script:
    """Turns end as those of other models do."""
    return without_usage()


FAULTS: list[tuple[str, Callable[[], Script], str]] = [
    ("opens", lambda: Script().on("connect", refuse(429, "quota")), "429"),
    (
        "silent-injection",
        lambda: Script().on("context", send_content(outputTranscription={"text": "Okay!"})),
        "'Okay!'",
    ),
    ("silent-injection", lambda: Script().on("context", close(1007, "no")), "1007 no"),
    ("no-wedged-turn", lambda: Script().on("turn", hang()), "nothing was said"),
    ("no-wedged-turn", lambda: Script().on("turn", no_turn_complete()), "no end of the turn"),
    ("injected-fact", lambda: Script().on("turn", say("What is the moon?"), n=1), "not named"),
    (
        "no-acknowledgement",
        lambda: Script().on("turn", say(f"Thanks for the update. The {FIRST}."), n=1),
        "the update",
    ),
    ("override", lambda: Script().on("turn", say(f"The {FIRST}?"), n=2), "is still named"),
    (
        "override",
        lambda: Script().on("turn", say(f"The {FIRST}, then the {SECOND}?"), n=2),
        "is still named",
    ),
    ("turn-audio", lambda: Script().on("turn", silent_audio()), "silent"),
    ("turn-audio", lambda: Script().on("turn", no_audio()), "no audio"),
    ("turn-words", lambda: Script().on("turn", text_part("Hello.")), "text without sound"),
    ("turn-end", lambda: Script().on("turn", plan(generation_complete=False)), "no Generation"),
    (
        "turn-end",
        lambda: (
            Script()
            .on("generation_complete", send_content(turnComplete=True))
            .on("turn", plan(turn_complete=False))
        ),
        "before generationComplete",
    ),
    ("turn-usage", without_usage, "no token counts"),
    ("interrupted", lambda: Script().on("reply", vanish(), n=2), "no interrupted came"),
    ("resumption", lambda: Script().on("resume", refuse(1008, "gone")), "not reached: 1008"),
    ("resumption", lambda: Script().on("turn", hang(), where=lambda s: _handle(s)), "not answer"),
]


def _handle(setup: dict[str, Any]) -> bool:
    return bool((setup.get("sessionResumption") or {}).get("handle"))


@pytest.mark.req("TEST-18", "VOICE-59")
@pytest.mark.parametrize(("name", "script", "reason"), FAULTS)
async def test_each_check_fails_on_its_fault(
    name: str, script: Callable[[], Script], reason: str
) -> None:
    group = "signals" if name in SIGNALS else "steering"
    report = await report_of(script(), only=group)
    found = next(check for check in report.checks if check.name == name)
    assert found.outcome == FAIL
    assert reason in found.reason
    assert not report.good


@pytest.mark.req("TEST-18")
async def test_noise_for_words_fails_the_spoken_check() -> None:
    report = await report_of(tutor=engine(transcripts=[""]), only="speech")
    found = next(check for check in report.checks if check.name == "spoken-turn")
    assert found.outcome == FAIL
    assert "heard ''" in found.reason


@pytest.mark.req("TEST-18", "VOICE-23")
async def test_a_turn_without_status_fails_extended_thinking() -> None:
    report = await report_of(without_status(), THINKING, only="status")
    found = next(check for check in report.checks if check.name == "interaction-status")
    assert (found.outcome, found.reason) == (FAIL, "turns carry no interactionStatus")


@pytest.mark.req("TEST-18", "VOICE-3", "API-33")
@pytest.mark.parametrize(
    ("name", "uses", "reason"),
    [
        ("token-minted", None, "The model service"),
        ("token-connects", -1, "not valid"),
        ("token-locked", 2, "the client's own instruction was followed"),
        ("token-uses", 0, "opened 3 sessions"),
    ],
)
async def test_each_token_check_fails_on_its_fault(
    name: str, uses: int | None, reason: str
) -> None:
    """`uses` of a token that the double hands out instead, which locks nothing; -1: no token."""
    script = Script()
    async with bench(script) as (under_test, house):
        if uses is None:
            script.on("token", refuse(400, "no tokens today"))
        else:
            later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
            times = {"expireTime": later, "newSessionExpireTime": later}
            token = house.house.tokens.mint({"uses": max(uses, 0), **times}, datetime.now(UTC))
            known = token.name if uses >= 0 else "auth_tokens/unknown"
            script.on("token", answer({"name": known}))
        report = await probe(under_test, lambda _: None, ["token"])
    found = next(check for check in report.checks if check.name == name)
    assert found.outcome == FAIL
    assert reason in found.reason


def _thinks(setup: dict[str, Any]) -> bool:
    return "thinkingConfig" in (setup.get("generationConfig") or {})


def _brackets(setup: dict[str, Any]) -> bool:
    realtime = setup.get("realtimeInputConfig") or {}
    return bool((realtime.get("automaticActivityDetection") or {}).get("disabled"))


def _asks_for_handles(setup: dict[str, Any]) -> bool:
    return setup.get("sessionResumption") == {}


def _seeded(setup: dict[str, Any]) -> bool:
    return bool((setup.get("historyConfig") or {}).get("initialHistoryInClientContent"))


@pytest.mark.req("TEST-18", "VOICE-59")
@pytest.mark.parametrize(
    ("column", "model", "script", "observed"),
    [
        ("thinking_levels", THINKING, Script().on("setup", close(1007), where=_thinks), "none"),
        ("manual_activity", LIVE, Script().on("setup", close(1007), where=_brackets), "no"),
        ("seeding", LIVE, Script().on("setup", close(1007), where=_seeded), "none"),
        ("context_mid_session", LIVE, Script().on("context", close(1007)), "no"),
        ("typing", LIVE, Script().on("turn", hang()), "neither"),
        (
            "empty_resumption",
            LIVE,
            Script().on("setup", close(1008), where=_asks_for_handles),
            "no",
        ),
    ],
)
async def test_a_capability_that_differs_from_the_table_is_a_mismatch(
    column: str, model: str, script: Script, observed: str
) -> None:
    report = await report_of(script, model, only="capabilities")
    found = next(row for row in report.columns if row.name == column)
    assert (found.observed, found.verdict) == (observed, MISMATCH)
    assert not report.good
    if column == "empty_resumption":  # no session opens by the table, the others are still seen
        assert {row.verdict for row in report.columns if row is not found} == {AGREES, UNPROBED}


async def test_a_model_that_ends_turns_at_the_end_of_the_stream_is_seen() -> None:
    report = await report_of(model="gemini-3.1-flash-live-preview")
    columns = {column.name: column for column in report.columns}
    assert columns["audio_stream_end"].observed == "yes"
    assert columns["context_mid_session"].observed == "no"
    assert columns["typing"].observed == "realtime"
    skipped = {check.name for check in report.checks if check.outcome == "skip"}
    assert skipped == set(STEERING)


async def test_an_unknown_model_is_described_and_not_condemned() -> None:
    report = await report_of(model="gemini-9-live")
    columns = {column.name: column for column in report.columns}
    assert columns["thinking_levels"].observed == "MINIMAL LOW MEDIUM HIGH"
    assert columns["thinking_levels"].verdict == NO_ROW
    assert report.good


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "scripts/live_probe.py", *words],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.req("VOICE-59")
def test_without_a_key_it_says_so_and_skips() -> None:
    done = run()
    assert done.returncode == live_probe.EXIT_SKIPPED
    assert "GEMINI_API_KEY" in done.stderr
    assert done.stdout == ""


def test_a_recording_that_is_none_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "some-key-here")
    file = tmp_path / "speech.wav"
    file.write_bytes(b"not a recording")
    assert live_probe.main(["--wav", str(file)]) == live_probe.EXIT_USAGE
    assert str(file) in capsys.readouterr().err


@pytest.mark.speech
@pytest.mark.req("VOICE-59", "VOICE-60")
async def test_the_local_tutor_passes(capsys: pytest.CaptureFixture[str]) -> None:
    code = await asyncio.to_thread(live_probe.main, ["--local", "--token"])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "all as the product expects" in out
    assert "skip" not in out
