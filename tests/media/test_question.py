"""What counts as a question of the tutor, in the scripts that lessons are held in."""

import pytest

from media.question import asks


@pytest.mark.parametrize(
    "text",
    [
        "Why does it last?",
        "That was the cell. Why does it last? ",
        "She asked: “Why does it last?”",
        "Is it (or was it?)",
        "Really?!?",
        "¿Por qué dura?",
        "为什么？",
        "لماذا؟",
        "Γιατί διαρκεί;",
        "Γιατί διαρκεί\u037e",
        "Ի՞նչ է սա։",
        "**Why?**",
    ],
)
def test_a_question_is_known_by_its_last_mark(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "?”".replace("?", ""),
        "Why? Because of the cells.",
        "It lasts; a year;",
        "Ի՞նչ է սա։ Սա բջիջ է։",
        "It lasts.",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert not asks(text)
