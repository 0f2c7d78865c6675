"""`speakText`: real MP3, attempts, limits, and what it costs."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import av
import numpy
import pytest

from local_gemini.scripted import tone
from media.mp3 import encode_mp3
from server.operations.speech import SPEAK_TEXT
from tests.server.world import World, open_world


def decoded(mp3: bytes) -> tuple[str, int, numpy.ndarray]:
    """Format, rate and samples of a file."""
    with av.open(io.BytesIO(mp3)) as container:
        rate = container.streams.audio[0].codec_context.sample_rate
        frames = [frame.to_ndarray().reshape(-1) for frame in container.decode(audio=0)]
        return container.format.name, rate, numpy.concatenate(frames)


def loudest_hz(samples: numpy.ndarray, rate: int) -> float:
    spectrum = numpy.abs(numpy.fft.rfft(samples))
    return float(numpy.argmax(spectrum)) * rate / len(samples)


@pytest.mark.req("API-34", "AUTH-17", "AUTH-18", "DATA-30")
async def test_a_text_becomes_an_mp3_that_plays(world: World) -> None:
    learner = await world.learner()
    await world.configure(ttsModel="tts-x", liveVoiceName="Kore")
    answer = await learner.call("speakText", text=" The moon pulls the water. ")
    assert set(answer) == {"audioBase64", "mimeType"}
    assert answer["mimeType"] == "audio/mpeg"
    name, rate, samples = decoded(base64.b64decode(answer["audioBase64"], validate=True))
    assert (name, rate) == ("mp3", 24_000)
    assert len(samples) / rate == pytest.approx(0.3, abs=0.1)
    assert loudest_hz(samples, rate) == pytest.approx(440, abs=10)
    [asked] = [r for r in world.gemini.requests if r.method == "generateContent"]
    assert asked.model == "tts-x"
    assert "Kore" in str(asked.body)
    usage = await world.stored(f"usage/{learner.uid}_20260115")
    assert usage is not None
    assert usage["geminiCallCount"] == 1
    assert usage["geminiTotalTokens"] > 0


@pytest.mark.req("API-34", "API-2")
async def test_the_text_has_one_to_4000_characters(world: World) -> None:
    learner = await world.learner()
    for text in ("", " \n", "\u0000\u202e", "x" * 4001):
        assert await learner.refused("speakText", text=text) == "invalid-argument"
    assert await learner.refused("speakText") == "invalid-argument"
    assert await world.calls(learner) == 0
    await learner.call("speakText", text="x" * 4000)


@pytest.mark.parametrize("text", ["?! …", "😀 🎉", ". \u200d\u200c ."])
async def test_a_text_without_words_is_neither_read_nor_taught(world: World, text: str) -> None:
    learner = await world.learner()
    pasted = {"title": "Signs", "text": text}
    upload = base64.b64encode(text.encode()).decode()
    filed = {"title": "Signs", "mimeType": "text/plain", "base64": upload}
    for path, body in (
        ("speakText", {"text": text}),
        *(("groundDocument", b) for b in (pasted, filed)),
    ):
        status, answer = await learner.post(f"/api/{path}", body)
        assert (status, answer["error"]["code"]) == (400, "invalid-argument")
        assert answer["error"]["message"] == "There are no sentences to read in this text."
    assert await world.calls(learner) == 0
    assert await learner.ground("Zahlen", "数学 ٣")


class Sounds:
    """Gives the next piece of a list, the last one again and again."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces: Iterator[bytes] = iter(pieces)
        self.calls = 0
        self._last = b""

    def __call__(self, text: str) -> bytes:
        self.calls += 1
        self._last = next(self._pieces, self._last)
        return self._last


@pytest.mark.req("API-35")
async def test_no_sound_after_three_attempts_is_a_transient_error(tmp_path: Path) -> None:
    sounds = Sounds(b"")
    async with open_world(tmp_path, speech=sounds) as world:
        learner = await world.learner()
        status, answer = await learner.post("/api/speakText", {"text": "Hello."})
        assert (status, answer["error"]["code"]) == (503, "unavailable")
        assert "audioBase64" not in answer
        assert sounds.calls == 3
        assert await world.calls(learner) == 1


@pytest.mark.req("API-35")
async def test_an_empty_answer_is_asked_again(tmp_path: Path) -> None:
    sounds = Sounds(b"", tone(500))
    async with open_world(tmp_path, speech=sounds) as world:
        learner = await world.learner()
        answer = await learner.call("speakText", text="Hello.")
        _, rate, samples = decoded(base64.b64decode(answer["audioBase64"]))
        assert len(samples) / rate == pytest.approx(0.5, abs=0.1)
        assert sounds.calls == 2


@pytest.mark.req("AUTH-20", "API-34")
async def test_speech_counts_against_the_cap(world: World) -> None:
    learner = await world.learner()
    assert SPEAK_TEXT.quota is True
    await world.configure(dailyGeminiCallCap=1)
    await learner.call("speakText", text="One.")
    asked = len(world.gemini.requests)
    assert await learner.refused("speakText", text="Two.") == "resource-exhausted"
    assert len(world.gemini.requests) == asked


@pytest.mark.req("API-34")
@pytest.mark.parametrize("ms", [1, 20, 999, 1000, 2345])
def test_nothing_of_a_clip_is_lost(ms: int) -> None:
    pcm = tone(ms)
    _, rate, samples = decoded(encode_mp3(pcm + b"\x01"))  # half a sample is no sample
    assert rate == 24_000
    assert len(samples) >= len(pcm) // 2
    assert len(samples) / rate == pytest.approx(ms / 1000, abs=0.08)
