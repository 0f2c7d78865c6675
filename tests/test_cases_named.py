"""Thirty ways in which voice agents fail people, by number: each is named by a test that shows the
opposite, in its docstring, its name or the comment beside it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent

CASES = {
    1: "three turns on one connection, though the stream ends after each",
    2: "the service says that it speaks and sends no sound",
    3: "a reply is interrupted and never completed",
    4: "a short noise after speech or over the reply",
    5: "frames stop in mid-utterance; a microphone that was never on",
    6: "push-to-talk taps of 30, 80 and 200 ms; a page that goes with the key down",
    7: "a short quiet word",
    8: "pauses of 0.6, 1.0 and 1.5 s in one sentence",
    9: "goAway in the middle of a reply",
    10: "1011, and the redial refused while the old socket is open",
    11: "a handle that is refused",
    12: "a peer that dies and comes back in 10 s, and in 60 s",
    13: "a silent update at four moments, for each capability profile",
    14: "a blocking tool is pending while the learner speaks",
    15: "approve, deny, time out, another connection's id, a verdict told twice",
    16: "an interruption at each step of a tool call",
    17: "tool results twice and late; typing while somebody speaks",
    18: "the tutor's own voice comes back",
    19: "an interruption with seconds of reply queued",
    20: "transcripts out of order; the end in the middle of one",
    21: "an interruption at 37 % of a reply",
    22: "a microphone that hears noise only; access that is revoked",
    23: "usage told as a sum and as what was added",
    24: "one, three, and three spread packets lost",
    25: "a closed tab; twenty aborted offers",
    26: "two hundred sessions opened and closed",
    27: "a consumer that stalls for two seconds",
    28: "a session that ignores cancellation; SIGTERM with three lessons",
    29: "a step in the signal, at the sample",
    30: "an end that is asked for while seconds are queued, and taken back",
}
_NUMBER = re.compile(r"\bT(\d{1,2})\b")
_IN_NAME = re.compile(r"^test_t(\d{1,2})_")


def named_in(source: str) -> Iterator[tuple[int, str]]:
    """(number, test) of every case that a test of `source` names."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not node.name.startswith("test_"):
            continue
        head = " ".join(lines[node.lineno - 1 : max(node.lineno, node.body[0].lineno - 1)])
        comments = " ".join(re.findall(r"#(.*)", head))
        told = f"{ast.get_docstring(node) or ''} {comments}"
        for number in (*_NUMBER.findall(told), *_IN_NAME.findall(node.name)):
            yield int(number), node.name


@cache
def named() -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    for file in sorted(ROOT.rglob("test_*.py")):
        if file != Path(__file__).resolve():
            for number, test in named_in(file.read_text("utf-8")):
                found[number].add(test)
    return found


@pytest.mark.parametrize("number", CASES)
def test_each_case_is_named_by_a_test(number: int) -> None:
    assert named().get(number), f"T{number}: {CASES[number]}"


def test_no_test_names_a_case_that_there_is_not() -> None:
    assert set(named()) <= set(CASES)


def test_a_name_counts_in_a_docstring_a_comment_or_the_name_of_a_test_only() -> None:
    source = '''
"""T1: the docstring of the file does not count."""
def test_one() -> None:
    """T2, T3: two of them."""
def test_t4_in_its_name() -> None: ...
async def test_beside_it() -> None:  # T5
    text = "T6"
def helper() -> None:
    """T7: no test."""
'''
    assert sorted(number for number, _ in named_in(source)) == [2, 3, 4, 5]
