"""The acceptance by recording: passes on a server that works, and tells what does not."""

from __future__ import annotations

import asyncio
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from local_gemini.faults import no_audio, refuse
from local_gemini.script import Script
from local_gemini.scripted import ScriptedEngine, tone
from scripts import qa_voice_wav
from scripts.probe.recording import RecordingInvalid, read_wav
from scripts.qa import acceptance
from scripts.qa.caller import CallFailed
from scripts.qa.space_key import SpaceKey
from tests.rig import DEV_TOKEN, house, spoken

SENTENCE = "A vaccine shows a harmless piece of a germ."
CONFIG = {"liveVadSilenceDurationMs": 500}


def recorded(file: Path, pcm: bytes, rate: int, channels: int = 1) -> Path:
    samples = np.repeat(np.frombuffer(pcm, "<i2"), channels)
    with wave.open(str(file), "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(samples.tobytes())
    return file


@pytest.mark.speech
@pytest.mark.req("TEST-19", "CARD-4", "VOICE-60")
async def test_a_recording_is_heard_answered_and_stored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(tmp_path / "question.wav", spoken(SENTENCE), 48_000, channels=2)
    async with house(tmp_path, ScriptedEngine([SENTENCE]), config=CONFIG) as home:
        good = await qa_voice_wav.run(home.url, DEV_TOKEN, None, read_wav(file, 48_000))
    out = capsys.readouterr().out
    assert good, out
    names = [line.split()[1] for line in out.splitlines()]
    assert names == ["taken", "understood", "answered", "heard", "released", "stored"]


@pytest.mark.speech
@pytest.mark.req("TEST-19", "OWN-27", "OWN-30")
async def test_a_recording_with_the_key_held_has_the_same_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pcm = spoken(SENTENCE)
    async with house(tmp_path, ScriptedEngine([SENTENCE]), config=CONFIG) as home:
        good = await qa_voice_wav.run(home.url, DEV_TOKEN, None, pcm, push_to_talk=True)
    out = capsys.readouterr().out
    assert good, out
    names = [line.split()[1] for line in out.splitlines()]
    same = ["taken", "understood", "answered", "heard", "released", "stored"]
    assert names == ["tap", "held", *same]


@pytest.mark.req("OWN-27")
async def test_the_pages_own_rules_tell_a_hold_from_a_tap() -> None:
    """T6: however often the key goes down, it comes up as often."""
    told: list[bool] = []
    async with SpaceKey(told.append) as key:
        for held_s in (0.03, 0.2, 0.9, 0.08, 0.9):
            key.press()
            await asyncio.sleep(held_s)
            key.release()
            await asyncio.sleep(0.05)
    assert told == [True, False, True, False]


@pytest.mark.speech
@pytest.mark.req("TEST-19")
async def test_a_reply_that_nothing_can_say_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Live model writes and does not speak, and the speech model refuses."""
    monkeypatch.setattr(acceptance, "TURN_S", 4.0)
    script = Script().on("turn", no_audio()).on("generate", refuse(400), where=_speech)
    pcm = spoken(SENTENCE)
    async with house(tmp_path, ScriptedEngine([SENTENCE]), script, config=CONFIG) as home:
        with pytest.raises(CallFailed, match="no finished turn"):
            await qa_voice_wav.run(home.url, DEV_TOKEN, None, pcm)
    out = capsys.readouterr().out
    assert "pass  taken" in out
    assert "heard" not in out


def _speech(request: dict[str, Any]) -> bool:
    return "AUDIO" in str(request.get("generationConfig"))


@pytest.mark.speech
@pytest.mark.req("TEST-19")
@pytest.mark.parametrize("fault", ["noise", "silence"])
async def test_what_does_not_work_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    monkeypatch.setattr(acceptance, "TURN_S", 2.0)
    monkeypatch.setattr(acceptance, "JOIN_S", 6.0)
    transcripts = [""] if fault == "noise" else [SENTENCE]
    pcm = bytes(2 * 48_000) if fault == "silence" else spoken(SENTENCE)
    async with house(tmp_path, ScriptedEngine(transcripts), config=CONFIG) as home:
        with pytest.raises(CallFailed) as failed:
            await qa_voice_wav.run(home.url, DEV_TOKEN, None, pcm)
    taken = fault != "silence"
    assert ("pass  taken" in capsys.readouterr().out) is taken
    assert str(failed.value).startswith("no finished turn" if taken else "no sound through")


@pytest.mark.req("TEST-19")
async def test_a_stranger_gets_the_servers_own_words(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        with pytest.raises(CallFailed, match=r"/api/groundDocument: 401 .*sign in"):
            await qa_voice_wav.run(home.url, "nobody", None, b"")


def test_a_recording_of_any_rate_and_channels_is_read(tmp_path: Path) -> None:
    pcm = tone(1000, rate=22_050)
    mono = read_wav(recorded(tmp_path / "mono.wav", pcm, 22_050), 48_000)
    assert abs(len(mono) / 96_000 - 1.0) < 0.01
    assert read_wav(recorded(tmp_path / "two.wav", pcm, 22_050, channels=2), 48_000) == mono


@pytest.mark.parametrize("content", [b"", b"RIFF but no more"])
def test_what_is_no_recording_is_told(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.wav"
    file.write_bytes(content)
    with pytest.raises(RecordingInvalid, match=r"x\.wav"):
        read_wav(file, 48_000)


def test_without_a_bearer_it_is_wrong_usage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PIDJIN_DEV_TOKEN", raising=False)
    assert qa_voice_wav.main(["http://127.0.0.1:1"]) == qa_voice_wav.EXIT_USAGE
    assert "--token" in capsys.readouterr().err
