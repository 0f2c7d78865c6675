from __future__ import annotations

import pytest

from agent.statements import count_list_items, expected_points


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
        ("These 15: are too few letters of a list?", 1),
        ("", 0),
        ("   ", 0),
        ("Plain prose about water.", 0),
        ("3.5 million people live there.", 0),
        ("About 3.5 million people live there.", 0),
        ("1984. It was a cold day.", 0),
        ("-5 degrees", 0),
        ("--- ", 0),
        ("* * *", 0),
        ("**bold** opening", 0),
        ("#hashtag", 0),
        ("Figure 3: A map", 0),
        ("At 10:30 we left", 0),
        ("Figure it out: 3", 0),
    ],
)
def test_a_line(line: str, count: int) -> None:
    assert count_list_items(line) == count


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
    assert expected_points("# A\n# B\n# C") == 3
    assert expected_points("- alone") == 0
    assert expected_points("Prose.") == 0


def test_long_text_is_counted_in_a_breath() -> None:
    import time

    started = time.perf_counter()
    assert count_list_items("1. x\n" * 24_000) == 24_000
    assert count_list_items("- " * 60_000 + "x") == 1
    assert count_list_items("a" * 120_000) == 0
    assert time.perf_counter() - started < 2.0
