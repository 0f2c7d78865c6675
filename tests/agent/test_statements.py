from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.statements import count_list_items, expected_points, is_item

CORPUS = Path(__file__).parent / "data" / "statements.txt"
SPELLED = str.maketrans({"␉": "\t", "␍": "\r", "␠": "\u00a0"})


def corpus() -> dict[str, tuple[int, str]]:
    """Name -> (count, text)."""
    records: dict[str, tuple[int, str]] = {}
    for record in CORPUS.read_text(encoding="utf-8").split("\n%% ")[1:]:
        head, _, text = record.partition("\n")
        count, _, name = head.partition(" ")
        assert name not in records
        records[name] = (int(count), text.translate(SPELLED))
    return records


TEXTS = corpus()


@pytest.mark.req("GRND-8", "TEST-10")
@pytest.mark.parametrize("name", TEXTS)
def test_the_count_of_a_text(name: str) -> None:
    count, text = TEXTS[name]
    assert count_list_items(text) == count


@pytest.mark.req("GRND-8")
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("end", ["\r\n", "\r", "\u2028"])
def test_the_line_ends_do_not_matter(name: str, end: str) -> None:
    count, text = TEXTS[name]
    assert count_list_items(text.replace("\r\n", "\n").replace("\n", end)) == count


def test_the_corpus_holds_lists_and_false_friends() -> None:
    counts = [count for count, _ in TEXTS.values()]
    assert sum(1 for count in counts if count) >= 40
    assert sum(1 for count in counts if not count) >= 25


@pytest.mark.req("GRND-8")
@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("1. First", 1),
        ("2) Second", 1),
        ("  12. Indented", 1),
        ("1.2. Nested", 1),
        ("- dash", 1),
        ("* star", 1),
        ("• dot", 1),
        ("# Title", 1),
        ("### Deeper", 1),
        ("Statement 3: Water is wet.", 1),
        ("Statement 3:", 1),
        ("", 0),
        ("   ", 0),
        ("Plain prose about water.", 0),
        ("About 3.5 million people live there.", 0),
        ("1984. It was a cold day.", 0),
        ("-5 degrees", 0),
        ("--- ", 0),
        ("#hashtag", 0),
        ("Figure 3: A map", 0),
        ("Figure it out: 3", 0),
    ],
)
def test_a_line(line: str, count: int) -> None:
    assert count_list_items(line) == count
    assert is_item(line) is bool(count)


def test_code_is_not_a_list() -> None:
    text = "```\n# comment\n- option\n```\n- item\n~~~\n1. no\n```\n2. no\n~~~\n- item"
    assert count_list_items(text) == 2


def test_an_unclosed_fence_hides_the_rest() -> None:
    assert count_list_items("- one\n```\n- two") == 1


@pytest.mark.req("GRND-9")
def test_a_lone_heading_is_the_title_of_the_list() -> None:
    statements = "\n".join(f"{n}. Statement" for n in range(1, 16))
    assert expected_points(statements) == 15
    assert expected_points("# My notes\n" + statements) == 15
    assert expected_points("My notes\n========\n\n" + statements) == 15
    assert expected_points("# A\n# B\n# C") == 3
    assert expected_points("- alone") == 0
    assert expected_points("Prose.") == 0


@given(st.text(max_size=300))
def test_any_text_has_a_count(text: str) -> None:
    assert 0 <= count_list_items(text) <= len(text.splitlines())
    assert 0 <= expected_points(text) <= len(text.splitlines())


def test_long_text_is_counted_in_a_breath() -> None:
    started = time.process_time()
    assert count_list_items("1. x\n" * 24_000) == 24_000
    assert count_list_items("- " * 60_000 + "x") == 1
    assert count_list_items("a" * 120_000) == 0
    assert count_list_items("a." * 60_000) == 0
    assert count_list_items("1" * 120_000) == 0
    assert count_list_items("x\n---\n" * 20_000) == 20_000
    assert time.process_time() - started < 3.0
