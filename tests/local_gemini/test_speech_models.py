"""The real models: what is heard, said and found in a stream of audio."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from local_gemini.engine import Activity
from local_gemini.speech import local_engine
from local_gemini.speech.end_pointer import MAX_UTTERANCE_MS, SileroEndPointer
from tests.local_gemini.speech_parts import (
    embedder,
    learner_pcm,
    quiet,
    recogniser,
    voice,
)

pytestmark = pytest.mark.speech

LIBRIVOX = Path("/usr/share/pocketsphinx/test/data/librivox")


def plain_words(text: str) -> list[str]:
    folded = text.lower().replace("mr ", "mister ").replace("'", "")
    return re.findall(r"[a-z0-9]+", folded)


def word_errors(wanted: str, got: str) -> float:
    """Edit distance in words as a share of the wanted ones."""
    left, right = plain_words(wanted), plain_words(got)
    row = list(range(len(right) + 1))
    for i, word in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1] / len(left)


SENTENCES = (
    "The mitochondria produce energy for the cell.",
    "If you double the voltage, the current doubles too.",
    "Because the force is acting in the opposite direction.",
    "Memory cells remember the germ, so the body reacts faster next time.",
    "Plate tectonics explains why earthquakes happen near faults.",
)


def test_own_speech_is_understood() -> None:
    """Four readings of each line: a single one may be misheard (0.06 to 0.07 on average)."""
    errors = [
        word_errors(said, recogniser().transcribe(learner_pcm(said, take)))
        for said in SENTENCES
        for take in range(4)
    ]
    assert sum(errors) / len(errors) <= 0.13


@pytest.mark.skipif(not LIBRIVOX.is_dir(), reason="needs Debian's pocketsphinx-testdata")
def test_human_readings_are_understood() -> None:
    errors = []
    for line in (LIBRIVOX / "transcription").read_text().splitlines():
        text, name = line.rstrip(")").rsplit(" (", 1)
        pcm = (LIBRIVOX / f"{name}.wav").read_bytes()[44:]
        wanted = re.sub(r"</?s>", "", text)
        errors.append(word_errors(wanted, recogniser().transcribe(pcm)))
    assert len(errors) == 5
    assert sum(errors) / len(errors) <= 0.10


def test_a_long_turn_is_heard_in_pieces() -> None:
    said = " ".join(SENTENCES * 2)
    pcm = learner_pcm(said)
    assert len(pcm) > 25 * 32_000
    began = time.process_time()
    assert word_errors(said, recogniser().transcribe(pcm)) <= 0.15
    assert time.process_time() - began < 8.0


@pytest.mark.parametrize("kind", ["silence", "noise", "tone", "click", "odd bytes", "nothing"])
def test_sound_without_speech_has_no_words(kind: str) -> None:
    seconds = np.arange(32_000) / 16_000
    noise = np.random.default_rng(7).standard_normal(32_000)
    pcm = {
        "silence": np.zeros(32_000),
        "noise": noise * 300,
        "tone": np.sin(2 * np.pi * 440 * seconds) * 8_000,
        "click": np.where(np.arange(32_000) % 16_000 == 0, 20_000, 0),
        "odd bytes": noise * 100,
        "nothing": np.zeros(0),
    }[kind]
    data = pcm.astype("<i2").tobytes()
    assert recogniser().transcribe(data[:-1] if kind == "odd bytes" else data) == ""


def test_quiet_speech_is_understood_like_loud_speech() -> None:
    for said in SENTENCES:
        samples = np.frombuffer(learner_pcm(said), "<i2")
        faint = (samples * 0.02).astype("<i2").tobytes()
        loud = word_errors(said, recogniser().transcribe(learner_pcm(said)))
        assert word_errors(said, recogniser().transcribe(faint)) <= loud + 0.15


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "😀",
        "?!",
        "Привет, мир",
        "光合作用",
        "x" * 3_000,
        "12345678901234567890",
        "$3.50 & 1,000,000.5 @ 99.9% — 1st 22nd 3/4 §5",
        "a\x00b\u202ec\ud7ff",
        "'''---...",
        "IUPAC's (NH4)2SO4 ≥ 3·10⁻⁵ mol/L",
    ],
)
def test_the_voice_reads_any_text(text: str) -> None:
    pcm = voice().speak(text)
    assert len(pcm) % 2 == 0
    assert bool(pcm) == any(character.isalnum() for character in text)


def test_the_voice_speaks_at_24_khz_at_a_teaching_pace() -> None:
    said = "What do you think happens to the current if we double the voltage?"
    seconds = len(voice().speak(said)) / 48_000
    assert 2.2 < seconds < 5.0
    samples = np.frombuffer(voice().speak(said), "<i2")
    assert 3_000 < np.abs(samples).max() <= 32_767


def test_sentences_are_parted_by_a_natural_pause() -> None:
    said = "Antibodies block the germ. Memory cells remember it."
    loud = np.flatnonzero(np.abs(np.frombuffer(voice().speak(said), "<i2").astype(int)) > 400)
    pauses = np.diff(loud) / 24_000
    assert 0.12 <= pauses.max() <= 0.27
    ending = np.frombuffer(voice().speak("Let us go on."), "<i2")
    still = len(ending) - np.flatnonzero(np.abs(ending.astype(int)) > 400)[-1]
    assert 0.1 <= still / 24_000 <= 0.25


def test_short_lines_are_kept() -> None:
    first = voice().speak("Good.")
    began = time.process_time()
    assert voice().speak("Good.") == first
    assert time.process_time() - began < 0.02


def test_parts_are_shared_by_threads() -> None:
    pcms = [learner_pcm(said) for said in SENTENCES[:3]]
    alone = [recogniser().transcribe(pcm) for pcm in pcms]
    with ThreadPoolExecutor(4) as pool:
        heard = pool.map(recogniser().transcribe, pcms * 2)
        spoken = pool.map(voice().speak, [f"Number {n} of the test." for n in range(6)])
        vectors = pool.map(lambda n: embedder().embed([f"text {n}"])[0], range(6))
        assert list(heard) == alone * 2
        assert all(len(pcm) > 24_000 for pcm in spoken)
        assert list(vectors) == [embedder().embed([f"text {n}"])[0] for n in range(6)]


def test_embeddings_are_unit_vectors_near_for_like_meaning() -> None:
    dog, puppy, tax = np.array(embedder().embed(["a dog", "a puppy", "income tax"]))
    assert np.linalg.norm(dog) == pytest.approx(1.0, abs=1e-4)
    assert dog @ puppy > 0.6 > 0.4 > dog @ tax
    assert len(embedder().embed(["word " * 5_000, ""])) == 2


def feed(pointer: SileroEndPointer, pcm: bytes, size: int) -> list[Activity]:
    return [
        found
        for start in range(0, len(pcm), size)
        for found in pointer.feed(pcm[start : start + size])
    ]


@pytest.mark.parametrize("size", [640, 1_000, 32_000 * 60])
def test_utterances_are_found_by_counting_samples(size: int) -> None:
    pointer = SileroEndPointer(550, 300)
    speech = learner_pcm(SENTENCES[0])
    length = len(speech) // 32
    found = feed(pointer, quiet(1_000) + speech + quiet(1_500), size)
    assert [activity.started for activity in found] == [True, False]
    assert 850 <= found[0].offset_ms <= 1_250
    assert abs(found[1].offset_ms - (1_000 + length)) < 350
    heard = len(pointer.utterance()) // 32
    assert length * 0.85 < heard < length + 700
    whole = recogniser().transcribe(speech)
    assert word_errors(whole, recogniser().transcribe(pointer.utterance())) <= 0.3


def test_a_longer_hold_joins_what_a_shorter_one_splits() -> None:
    pcm = learner_pcm(SENTENCES[0]) + quiet(900) + learner_pcm(SENTENCES[1]) + quiet(2_500)
    starts = {
        hold: sum(a.started for a in feed(SileroEndPointer(hold, 300), pcm, 640))
        for hold in (500, 2_000)
    }
    assert starts == {500: 2, 2_000: 1}


def test_pauses_are_told_while_they_last() -> None:
    pointer = SileroEndPointer(1_500, 300)
    pointer.feed(quiet(500))
    assert pointer.quiet_ms() == 0
    pointer.feed(learner_pcm(SENTENCES[0]) + quiet(600))
    assert 400 <= pointer.quiet_ms() <= 900
    pointer.feed(quiet(1_500))
    assert pointer.quiet_ms() == 0


def test_silence_and_noise_start_nothing() -> None:
    pointer = SileroEndPointer(550, 300)
    noise = (np.random.default_rng(1).standard_normal(5 * 16_000) * 200).astype("<i2").tobytes()
    assert pointer.feed(quiet(5_000) + noise) == []
    assert pointer.utterance() == b""


def test_an_endless_utterance_is_ended() -> None:
    speech = learner_pcm(" ".join(SENTENCES * 4))
    pointer = SileroEndPointer(30_000, 300)
    found = feed(pointer, speech * (MAX_UTTERANCE_MS // (len(speech) // 32) + 1), 32_000)
    assert [activity.started for activity in found[:2]] == [True, False]
    assert len(pointer.utterance()) // 32 <= MAX_UTTERANCE_MS + 1_000


def test_reset_forgets_the_utterance_but_not_the_time() -> None:
    pointer = SileroEndPointer(550, 300)
    pointer.feed(learner_pcm(SENTENCES[0]))
    pointer.reset()
    assert pointer.utterance() == b""
    passed = len(learner_pcm(SENTENCES[0])) // 32
    (begun, *_) = pointer.feed(quiet(320) + learner_pcm(SENTENCES[1]))
    assert begun.started
    assert begun.offset_ms > passed


def test_the_engine_loads_within_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    recogniser()
    began = time.process_time()
    engine = local_engine()
    load = time.process_time() - began
    costs = []
    for work in (
        lambda: engine.recogniser.transcribe(learner_pcm(SENTENCES[3])),
        lambda: engine.voice.speak("What do you remember about the memory cells in the body?"),
        lambda: engine.embedder.embed(["Memory cells remember the germ."]),
    ):
        learner_pcm(SENTENCES[3])
        began = time.process_time()
        work()
        costs.append(time.process_time() - began)
    heard, spoken, embedded = costs
    with capsys.disabled():
        print(
            f"\nCPU s: load {load:.2f}, transcribe 4 s {heard:.2f}, speak 11 words {spoken:.2f}, "
            f"embed {embedded:.3f}"
        )
    assert load < 8.0
    assert heard < 2.0
    assert spoken < 3.0
    assert engine.end_pointer(1_500, 300).feed(quiet(100)) == []
