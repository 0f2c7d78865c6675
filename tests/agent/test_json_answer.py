from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.json_answer import NotJson, parse_object, salvage_object


@pytest.mark.req("GRND-2")
@pytest.mark.parametrize(
    "text",
    [
        '{"k": 1}',
        '  \n{"k": 1}\n ',
        '```json\n{"k": 1}\n```',
        '```\n{"k": 1}\n```',
        'Here you are: {"k": 1}',
        '{"k": 1} I hope this helps.',
        'In {braces} and {"other": 1}: {"k": 1}',
        '\ufeff{"k": 1}',
        '{"k": 1}{"k": 2}',
        '{ broken {"k": 1}',
    ],
)
def test_wrapping_does_no_harm(text: str) -> None:
    assert parse_object(text, key="k") == {"k": 1}


@pytest.mark.req("GRND-2")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage",
        "[1, 2]",
        '"k"',
        '{"other": 1}',
        '{"k": 1,}',
        "{'k': 1}",
        '{"k": NaN}',
        '{"k": Infinity}',
        '{"k": ',
        "{" * 10_000,
        '{"a":' * 50_000,
        "null",
    ],
)
def test_garbage_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
        parse_object(text, key="k")


def test_the_huge_is_refused_without_reading_it() -> None:
    huge = '{"k": "' + "x" * 10_000_000 + '"}'
    started = time.perf_counter()
    with pytest.raises(NotJson) as refusal:
        parse_object(huge, key="k")
    assert time.perf_counter() - started < 0.1
    assert len(str(refusal.value)) < 100


OBJECTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=8,
    ),
)


@given(OBJECTS, st.data())
def test_whatever_is_cut_off_the_rest_is_true(
    value: dict[str, object], data: st.DataObject
) -> None:
    whole = {"k": "first", **{f"x{key}": item for key, item in value.items()}}
    text = json.dumps(whole)
    cut = data.draw(st.integers(0, len(text)))
    try:
        got = salvage_object(text[:cut], key="k")
    except NotJson:
        assert cut < len('{"k": "first", ')
        return
    assert got["k"] == "first"
    assert list(got) == list(whole)[: len(got)]
    for key in list(got)[:-1]:
        assert got[key] == whole[key]


def test_an_unfinished_first_member_cannot_be_saved() -> None:
    with pytest.raises(NotJson):
        salvage_object('{"k": "unfini', key="k")
    with pytest.raises(NotJson):
        salvage_object("nothing", key="k")
