"""What the voice is given to read, and the sample rate it comes out with. No models."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_gemini.speech.models import SpeechMissing, Weight, locate
from local_gemini.speech.recogniser import RATE, SEGMENT_MAX_S, is_noise, read_pieces, segments
from local_gemini.speech.resample import to_24k
from local_gemini.speech.spoken import LINE_MAX, UNREADABLE, lines, plain, spelled


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("37 °C", "37 degrees Celsius"),
        ("95% of it", "95 percent of it"),
        ("e.g. cells, i.e. small ones", "for example cells, that is small ones"),
        ("Dr. Smith vs. Mr. Hyde", "doctor Smith versus mister Hyde"),
        ("1789–1790", "1789 to 1790"),
        ("x ≤ 3 × y²", "x at most 3 times y squared"),
        ("the α-helix", "the alpha -helix"),
        ("naïve café “quoted”", "naive cafe quoted"),
        ("12.5 km, 40 kg and 3/4 of it", "12.5 kilometres, 40 kilograms and three quarters of it"),
        ("it costs €1,000.", "it costs 1,000 euros."),
        ("see https://www.example.org/a/b?x=1.", "see example dot org."),
        ("write to bob@site.com", "write to bob at site dot com"),
        ("said so [12] (see Fig. 3).", "said so."),
        ("water (H2O) boils", "water, H2O, boils"),
        ("9 a.m. to 10:30 p.m. Then it ended.", "9 A M to 10 30 P M. Then it ended."),
        ("pp. 3-5, call 555-0134", "page 3 to 5, call 555-0134"),
        ("like a …?", "like a?"),
        ("[the page](http://x.org/y)", "the page"),
        ("**bold** and `code` #tag", "bold and code tag"),
        ("one — two", "one, two"),
        ("wait... what?!", "wait. what?!"),
        ("Привет", ""),
        ("", ""),
    ],
)
def test_text_is_made_plain(written: str, read: str) -> None:
    assert plain(written) == read


@given(st.text(max_size=900))
def test_any_text_gives_short_ascii_lines(text: str) -> None:
    for line in lines(text):
        assert line.isascii()
        assert 0 < len(line) <= LINE_MAX


def test_long_sentences_are_cut_at_clauses() -> None:
    sentence = ", and ".join(f"clause number {n} says something" for n in range(20)) + "."
    cut = lines(sentence)
    assert len(cut) > 2
    assert " ".join(cut) == sentence
    assert all(line.startswith(("clause", "and")) for line in cut)
    assert max(map(len, lines("word " * 500))) <= LINE_MAX
    assert lines("x" * 5_000) == ["x" * 24]
    assert len(lines("7" * 5_000)[0]) < LINE_MAX


def test_unknown_scripts_are_said_to_be_unreadable() -> None:
    assert lines("光合作用") == [UNREADABLE]
    assert lines("!!! 😀") == []
    assert lines("漢字 and kanji") == ["and kanji"]


def test_spelling_drops_what_no_lexicon_reads() -> None:
    assert spelled("a1-b!?") == "a 1 b"


def test_resampling_keeps_tone_level_and_length() -> None:
    seconds = np.arange(22_050) / 22_050
    tone = np.sin(2 * np.pi * 1_000 * seconds).astype(np.float32)
    out = to_24k(tone)
    assert len(out) == 24_000
    wanted = np.sin(2 * np.pi * 1_000 * np.arange(24_000) / 24_000)
    assert np.abs(out[100:-100] - wanted[100:-100]).max() < 0.01
    assert len(to_24k(np.zeros(0, np.float32))) == 0


def test_long_audio_is_cut_where_it_is_quiet() -> None:
    noise = np.random.default_rng(0).standard_normal(30 * RATE).astype(np.float32)
    noise[int(10.0 * RATE) : int(10.4 * RATE)] = 0
    pieces = segments(noise)
    assert sum(map(len, pieces)) == len(noise)
    assert all(len(piece) <= SEGMENT_MAX_S * RATE for piece in pieces)
    assert 10.0 <= len(pieces[0]) / RATE <= 10.4
    assert len(segments(noise[: 5 * RATE])) == 1


@pytest.mark.parametrize(
    ("text", "noise"), [("You", True), (" you. ", True), ("♪ ♪", True), ("", True), ("Yes", False)]
)
def test_noise_answers_are_known(text: str, noise: bool) -> None:
    assert is_noise(text) is noise


def test_word_pieces_have_one_or_two_byte_lengths() -> None:
    long = b"x" * 200
    assert read_pieces(b"\x00\x02ab" + bytes([128 + 200 % 128, 200 // 128]) + long) == [
        b"",
        b"ab",
        long,
    ]


def test_weights_are_checked_and_may_come_from_a_folder(tmp_path: Path) -> None:
    content = b"weights"
    digest = hashlib.sha256(content).hexdigest()
    (tmp_path / "own.bin").write_bytes(content)
    assert locate(Weight("no_such_package", "x", "own.bin", digest), tmp_path).is_file()
    with pytest.raises(SpeechMissing, match="holds other content"):
        locate(Weight("no_such_package", "x", "own.bin", "0" * 64), tmp_path)
    with pytest.raises(SpeechMissing, match=r"pip install 'pidjin\[local\]'"):
        locate(Weight("no_such_package", "x", "other.bin", digest), tmp_path)
