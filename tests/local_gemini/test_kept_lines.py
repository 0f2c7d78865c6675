"""Lines that were said before are bounded by their bytes, not only by their number."""

from __future__ import annotations

import tracemalloc

from local_gemini.speech.kept import BYTES, LINES, KeptLines

LINE = 150_000  # bytes, three seconds of speech


def test_what_went_unused_for_longest_makes_room() -> None:
    kept = KeptLines()
    for number in range(BYTES // LINE):
        kept.put(f"line {number}", bytes(LINE))
    assert kept.get("line 0") == bytes(LINE)
    kept.put("one more", bytes(LINE))
    assert kept.get("line 0") == bytes(LINE)
    assert kept.get("line 1") is None


def test_a_long_life_takes_no_more_than_the_bound() -> None:
    kept = KeptLines()
    tracemalloc.start()
    try:
        for number in range(4 * LINES):
            kept.put(f"line {number}", bytes(LINE))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert BYTES / 2 < held < BYTES + 200_000


def test_a_line_said_again_counts_once() -> None:
    kept = KeptLines()
    kept.put("first", bytes(LINE))
    for _ in range(2 * BYTES // LINE):
        kept.put("again", bytes(LINE))
    assert kept.get("first") == bytes(LINE)


def test_lines_without_sound_are_counted() -> None:
    kept = KeptLines()
    for number in range(LINES + 1):
        kept.put(f"line {number}", b"")
    assert kept.get("line 0") is None
    assert kept.get("line 1") == b""
