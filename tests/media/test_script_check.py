"""Transcripts in a script that nobody speaks here."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.script_check import LATIN, scripts_of, unexpected

ENGLISH = frozenset({LATIN})


@pytest.mark.parametrize(
    "text",
    [
        "안녕하세요",
        "Спасибо за просмотр",
        "ご視聴ありがとうございました",
        "请订阅",
        "شكرا جزيلا لك",
        "हाँ ठीक है",
        "ok спасибо большое",
    ],
)
def test_a_foreign_script_is_noticed(text: str) -> None:
    assert unexpected(text, ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "…",
        "42, 43!",
        "Memory cells keep the pattern.",
        "Où est la bibliothèque ?",
        "the angle α of the triangle",
        "the letter Ω",
        "π",
        "I said спасибо to her and she laughed",
        "👍",
    ],
)
def test_what_an_english_speaker_may_say_is_not(text: str) -> None:
    assert not unexpected(text, ENGLISH)


def test_the_material_tells_what_may_be_spoken() -> None:
    assert not unexpected("Спасибо", ENGLISH | scripts_of("Война и мир"))
    japanese = scripts_of("ワクチンの仕組み")
    assert not unexpected("免疫", ENGLISH | japanese)
    assert not unexpected("ひらがなとカタカナ", japanese)
    assert unexpected("안녕하세요", ENGLISH | japanese)


@given(st.text(max_size=100))
def test_no_text_is_unexpected_in_its_own_scripts(text: str) -> None:
    assert not unexpected(text, scripts_of(text))
