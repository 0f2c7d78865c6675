"""Names of points out of ordinary sentences of many shapes, and the first question about them."""

from __future__ import annotations

import re

import pytest

from local_gemini.brain import phrases
from local_gemini.brain.grammar import tagged
from local_gemini.brain.naming import Kind, kind_of
from local_gemini.brain.outline import outline_document
from local_gemini.brain.titles import TITLE_MAX, short, titles_of

SENTENCES = [
    ("The constitution of 1949 gave the states a strong voice.", "Constitution of 1949"),
    ("The act of 1976 protects consumers against unfair terms.", "Act of 1976"),
    ("The sauce of 1820 needed three hours.", "Sauce of 1820"),
    ("The crisis of 2008 began with bad loans.", "Crisis of 2008"),
    ("Section 343 protects the tenant.", "Section 343"),
    ("World War 2 ended in 1945.", "World War 2"),
    ("Apollo 11 landed on the Moon in 1969.", "Apollo 11"),
    ("The river number 16 carries 48 tonnes of sand to the sea every year.", "River number 16"),
    ("The symphony of 1808 opens with four notes.", "Symphony of 1808"),
    ("Salt draws water out of the aubergines.", "Salt"),
    ("Beat 4 eggs with 250 grams of flour and add milk slowly.", "Beat 4 eggs"),
    ("Add salt.", "Add salt"),
    ("The delta of the Nile grew for 5,000 years.", "Delta of the Nile"),
    ("Red blood cells carry oxygen from the lungs to the tissues.", "Red blood cells"),
    ("Interest rates of 5 percent slow the economy.", "Interest rates of 5 percent"),
    ("There are 7 continents and 5 oceans.", "Continents"),
    ("Nobody may enter a home without the consent of the tenant.", "Consent of the tenant"),
    ("The Amazon carries 209,000 cubic metres per second into the Atlantic.", "Amazon"),
    ("It is what it is.", "Point"),
]


def named(sentence: str) -> str:
    return titles_of([("", sentence)], "")[0]


@pytest.mark.parametrize(("sentence", "title"), SENTENCES)
def test_an_ordinary_sentence_gives_a_whole_name(sentence: str, title: str) -> None:
    assert named(sentence) == title


@pytest.mark.parametrize("sentence", [sentence for sentence, _ in SENTENCES])
def test_a_name_ends_with_a_noun_or_with_its_number(sentence: str) -> None:
    title = named(sentence)
    last = tagged(title)[-1]
    assert last.tag in "NP#"
    if kind_of(title) is not Kind.ORDER:
        assert not any(token.tag in "VA" for token in tagged(title))


def test_what_is_cut_for_its_length_ends_with_a_whole_name() -> None:
    cut = short(
        "The history of the constitution of the Federal Republic of Germany and its many amendments"
    )
    assert cut == "The history of the constitution of the Federal Republic"
    cut = short("Costs of 1,250,000 dollars which the ministry of finance had to pay for the")
    assert cut == "Costs of 1,250,000 dollars which the ministry of finance"


@pytest.mark.parametrize("mark", ["# ", "1. ", ""])
def test_a_long_word_is_shortened_and_not_lost(mark: str) -> None:
    word = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft"
    (part,) = outline_document(mark + word).parts
    assert part.title.startswith("Donaudampfschifffahrt")
    assert part.title.endswith("…")
    assert len(part.title) <= TITLE_MAX


def test_marks_alone_are_no_name() -> None:
    body = "The plates of the earth carry the continents."
    for heading in ("#", "---", "***", "…"):
        assert titles_of([(heading, body)], "")[0] == "Plates of the earth"


def test_three_hundred_statements_are_named_by_what_they_are_about() -> None:
    text = "\n".join(
        f"{n}. The river number {n} carries {3 * n} tonnes of sand to the sea every year."
        for n in range(1, 301)
    )
    titles = [part.title for part in outline_document(text).parts]
    assert len(titles) == 20
    assert all(re.fullmatch(r"River number \d+", title) for title in titles)


@pytest.mark.parametrize(
    ("title", "body", "asked"),
    [
        (
            "Constitution of 1949",
            "The constitution of 1949 gave the states a voice.",
            "What can you tell me about the constitution of 1949?",
        ),
        ("Section 343", "Section 343 protects.", "What can you tell me about Section 343?"),
        ("Apollo 11", "Apollo 11 landed.", "What can you tell me about Apollo 11?"),
        ("Plates move slowly", "", "How would you explain that plates move slowly?"),
        ("Water is wet", "", "How would you explain that water is wet?"),
        ("Add salt", "Add salt.", "How should you add salt?"),
        ("Laws passed in 1949", "", "What can you tell me about laws passed in 1949?"),
        (
            "Climate changes and migration",
            "",
            "What can you tell me about climate changes and migration?",
        ),
    ],
)
def test_the_first_question_about_a_name_is_english(title: str, body: str, asked: str) -> None:
    assert phrases.generic(title, [body], 0) == asked
