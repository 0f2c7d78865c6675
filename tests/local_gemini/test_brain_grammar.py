"""Questions out of sentences, clozes, gists, numbers: what is safe is turned, the rest is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_gemini.brain.clauses import names_in
from local_gemini.brain.matching import meanings
from local_gemini.brain.naming import running
from local_gemini.brain.numerals import in_digits
from local_gemini.brain.questions import cloze_of, questions_of
from local_gemini.brain.quoting import condensed, quote, stands_alone


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("Antibodies are proteins that stick to the germ.", "What are antibodies?"),
        ("A starter is a mix of flour and water.", "What is a starter?"),
        ("Memory cells can survive for decades.", "What can memory cells do?"),
        ("The cell membrane controls the traffic.", "What does the cell membrane do?"),
        ("Viruses need a host to multiply.", "What do viruses need?"),
        (
            "When many people are immune, the germ cannot spread.",
            "What happens when many people are immune?",
        ),
        (
            "If both branches changed the line, a conflict occurs.",
            "What happens if both branches changed the line?",
        ),
        (
            "The Himalayas grew when India pushed into Asia.",
            "What happened when India pushed into Asia?",
        ),
        (
            "Because the piece cannot cause the disease, the body can practise without danger.",
            "Why can the body practise without danger?",
        ),
        ("The rent is reduced because the use is limited.", "Why is the rent reduced?"),
        (
            "Memory fades for some vaccines, which is why booster doses exist.",
            "Why do booster doses exist?",
        ),
        ("Paris grew quickly because railways brought workers.", "Why did Paris grow quickly?"),
        ("The heart has four chambers.", "How many chambers does the heart have?"),
        (
            "The king called the Estates General in 1789.",
            "When did the king call the Estates General?",
        ),
        ("On 14 July a crowd took the Bastille.", "What did a crowd do on 14 July?"),
        (
            "The tenant shall give access if the visit was announced.",
            "When shall the tenant give access?",
        ),
    ],
)
def test_sentences_are_turned_into_the_question_they_answer(line: str, asked: str) -> None:
    names = names_in([line, "The crowd of Paris."])
    made = questions_of([line], names)
    assert asked in [question.text for question in made]
    for question in made:
        assert set(meanings(question.answer)) <= set(meanings(line))


@pytest.mark.parametrize(
    "line",
    [
        "It takes place in the chloroplasts.",
        "There they present it to white blood cells.",
        "The outer shell of the Earth is broken into plates.",
        "They rely on us for it.",
        "Dreams are most vivid in REM sleep.",
        "Is it so?",
        "Note: this is a label, and nothing more.",
    ],
)
def test_unsafe_sentences_give_no_question(line: str) -> None:
    assert questions_of([line], frozenset()) == []


def test_a_cloze_stops_before_the_telling_words() -> None:
    cloze = cloze_of("Antibodies fit the surface of the germ like a key.", frozenset(), frozenset())
    assert cloze is not None
    assert (cloze.text, cloze.answer) == (
        "antibodies fit the surface of the germ like a …?",
        "key",
    )
    assert cloze_of("Stem cells can become other cells.", frozenset(), frozenset()) is None
    assert cloze_of("Yes.", frozenset(), frozenset()) is None


@pytest.mark.parametrize(
    ("line", "gist"),
    [
        (
            "Memory cells remember the germ for years, so a real germ meets a fast response.",
            "Memory cells remember the germ for years",
        ),
        (
            "The rent is reduced by 10 percent because the use is limited.",
            "The rent is reduced by 10 percent",
        ),
        (
            "When many people are immune, the germ cannot spread.",
            "When many people are immune, the germ cannot spread",
        ),
    ],
)
def test_gists_keep_the_main_clause(line: str, gist: str) -> None:
    assert condensed(line) == gist


def test_only_phrases_that_the_learner_used_are_quoted() -> None:
    lines = ["A vaccine shows the immune system a harmless piece of the germ."]
    matched = frozenset(meanings("harmless piece germ"))
    weights = dict.fromkeys(meanings(lines[0]), 1.0)
    said = quote(lines, matched, matched, weights, frozenset())
    assert said == "a harmless piece of the germ"
    assert quote(lines, frozenset(), frozenset(), weights, frozenset()) == ""


def test_leaning_sentences_are_known() -> None:
    assert not stands_alone("It does not need light itself.")
    assert not stands_alone("However, it failed.")
    assert stands_alone("Antibodies fit the germ.")


@pytest.mark.parametrize(
    ("title", "body", "inside"),
    [
        ("Lymph node", "They carry it to a lymph node.", "the lymph node"),
        ("Herd immunity", "This herd immunity protects babies.", "herd immunity"),
        ("Caffeine", "Caffeine blocks receptors. Half of the caffeine stays.", "caffeine"),
        ("Water pipes", "The landlord replaces the water pipes.", "the water pipes"),
        ("Lord Mayor", "The Lord Mayor refused.", "the Lord Mayor"),
        ("Antibodies", "The body makes antibodies.", "antibodies"),
    ],
)
def test_titles_take_the_article_of_their_text(title: str, body: str, inside: str) -> None:
    assert running(title, tuple(body.split(". "))) == inside


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("in seventeen eighty nine", "in 1789"),
        ("nineteen fourteen to twenty nineteen", "1914 to 2019"),
        ("thirteen thousand two hundred houses", "13200 houses"),
        ("13,200 houses and eighty-seven churches", "13200 houses and 87 churches"),
        ("the fourteenth of July", "the 14 of July"),
        ("two hundred and five", "205"),
        ("one of them, the second", "one of them, the second"),
        ("", ""),
    ],
)
def test_number_words_become_digits(said: str, written: str) -> None:
    assert in_digits(said) == written


def test_synonyms_and_forms_meet() -> None:
    assert meanings("the bug") == meanings("germs")
    assert meanings("stop it") == meanings("prevented it")
    assert meanings("sixteen sixty six") == meanings("1666")


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="aAbcdefs .,;?!'0123 theofiswhn-…\n", max_size=120))
def test_any_text_is_taken(text: str) -> None:
    for question in questions_of([text], names_in([text])):
        assert question.text.count("?") == 1
    cloze_of(text, frozenset(), frozenset())
    condensed(text)
    in_digits(text)
    running(text, (text,))
