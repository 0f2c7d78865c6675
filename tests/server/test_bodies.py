"""What a JSON body may be made of: no text breaks what reads it, and no body holds everybody up."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.bodies import parse_json
from server.errors import Refused
from server.operations.documents import DOCUMENT_BODY_MAX, TEXT_MAX_CHARS

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(VALUES.filter(lambda value: "Infinity" not in json.dumps(value)))
def test_every_json_value_is_read_as_it_is(value: Any) -> None:
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


def refused(body: bytes) -> str:
    with pytest.raises(Refused) as caught:
        parse_json(body)
    return caught.value.message


@pytest.mark.parametrize(
    "body",
    [
        rb'"\ud800"',
        rb'{"a": [{"b": "x\uDFFFy"}]}',
        rb'{"\ud83d": 1}',
        rb'["\ude00\ud83d"]',
        rb'"\\\ud83d"',
    ],
)
def test_half_a_character_is_refused_wherever_it_is(body: bytes) -> None:
    assert refused(body) == "The request contains broken characters."


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\\ud800"', r"\ud800"),
        (rb'{"\u00e9": "\u0000"}', {"é": "\x00"}),
        (b'"\xf0\x9f\x98\x80"', "😀"),
    ],
)
def test_whole_characters_are_not(body: bytes, value: Any) -> None:
    assert parse_json(body) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"NaN",
        b"[Infinity]",
        b"\xff",
        b"'a'",
        b"[" * 100_000 + b"]" * 100_000,
        b"9" * 31,
        b"-" + b"9" * 5000,
        b'{"a":1}x',
        b"\xef\xbb\xbf{}",
    ],
    ids=lambda body: repr(body)[:20],
)
def test_what_is_no_json_is_refused(body: bytes) -> None:
    assert refused(body) in ("The request is not valid JSON.", "The request has too many parts.")


SIZE = DOCUMENT_BODY_MAX - 100


@pytest.mark.parametrize(
    "body",
    [
        b'{"x":[' + b"[]," * (SIZE // 3) + b"1]}",
        b'{"x":[' + b"{}," * (SIZE // 3) + b"1]}",
        b'{"x":[' + b"1," * (SIZE // 2) + b"1]}",
        b'{"x":[' + (b"9" * 4000 + b",") * (SIZE // 4001) + b"1]}",
        b'{"x":"' + b"\\u0041" * (SIZE // 6) + b'"}',
        b'{"x":"' + b"\\n" * (SIZE // 2) + b'"}',
        b"[" * SIZE,
    ],
    ids=["lists", "objects", "numbers", "long numbers", "escapes", "line ends", "depth"],
)
def test_a_body_of_millions_of_parts_is_refused_before_it_is_read(body: bytes) -> None:
    """Reading these takes up to 2 s, in which no lesson has any sound. As a ratio: a machine may be
    busy, but the largest upload is read on it as well."""

    def took(what: bytes) -> float:
        best = 60.0
        for _ in range(5):
            started = time.process_time()
            try:
                parse_json(what)
            except Refused:
                pass
            best = min(best, time.process_time() - started)
        return best

    refused(body)
    assert took(body) < 8 * took(b'{"base64":"' + b"A" * SIZE + b'"}')


def test_the_largest_documents_are_read() -> None:
    for text in (
        "," * TEXT_MAX_CHARS,
        "[" * TEXT_MAX_CHARS,
        "\n" * TEXT_MAX_CHARS,
        "😀" * TEXT_MAX_CHARS,
        "\\" * TEXT_MAX_CHARS,
        '"' * TEXT_MAX_CHARS,
    ):
        body = json.dumps({"text": text}).encode()
        assert parse_json(body) == {"text": text}
