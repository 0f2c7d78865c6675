"""The extractive outline: structure found, nothing invented, bounded for any text."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local_gemini.brain import LocalBrain
from local_gemini.brain.language import sentences
from local_gemini.brain.outline import Outline, outline_document
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.lesson_text import VACCINES, ground

STATEMENTS = (
    "Cells are the smallest units of life.",
    "The cell membrane controls what enters and leaves the cell.",
    "Mitochondria release energy from glucose.",
    "Ribosomes build proteins from amino acids.",
    "The nucleus stores the DNA.",
    "Chloroplasts catch sunlight in plant cells.",
    "Water boils at 100 degrees Celsius at sea level.",
    "Osmosis moves water through a membrane.",
    "Enzymes speed up reactions in the body.",
    "Red blood cells carry oxygen.",
    "White blood cells fight germs.",
    "Nerve cells pass electric signals.",
    "Stem cells can become other cells.",
    "Bacteria have no nucleus.",
    "Viruses need a host to multiply.",
)


def titles(outline: Outline) -> list[str]:
    return [part.title for part in outline.parts]


@pytest.mark.req("GRND-23")
@pytest.mark.parametrize(
    "line",
    ["{n}. {text}", "{n}) {text}", "- {text}", "* {text}", "• {text}", "Statement {n}: {text}"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fifteen_statements_give_fifteen_points(line: str, end: str) -> None:
    text = end.join(line.format(n=n, text=said) for n, said in enumerate(STATEMENTS, 1))
    outline = outline_document("Facts about cells" + end + end + text)
    assert outline.depth == "deep"
    assert [part.summary for part in outline.parts] == list(STATEMENTS)
    assert len(set(titles(outline))) == 15


def test_titles_are_short_names_out_of_the_statements() -> None:
    outline = outline_document("\n".join(f"- {said}" for said in STATEMENTS))
    for part in outline.parts:
        assert len(part.title) <= 60
        assert part.title.lower() in part.summary.lower()
        assert len(part.title) < len(part.summary)


def test_headings_become_the_points() -> None:
    text = (
        "# Plate tectonics\n\nA short intro.\n\n## How plates move\nHeat drives slow currents in "
        "the mantle.\n\n## Earthquakes\r\nStress builds up until the rock breaks.\n\n"
        "## Volcanoes\n- Magma rises where a plate sinks.\n- Hot spots lie far from borders.\n"
    )
    outline = outline_document(text)
    assert titles(outline) == ["How plates move", "Earthquakes", "Volcanoes"]
    assert "Hot spots lie far from borders." in outline.parts[2].summary
    assert "A short intro." in outline.parts[0].summary


def test_a_label_before_a_colon_is_the_title() -> None:
    outline = outline_document(
        "1. **Supply**: it falls when costs rise.\n2. Demand: it falls when prices rise.\n"
        "3. Balance: prices settle where both meet."
    )
    assert titles(outline) == ["Supply", "Demand", "Balance"]


def test_prose_gives_a_point_per_topic() -> None:
    outline = outline_document(VACCINES)
    assert outline.depth == "standard"
    assert len(outline.parts) == 5
    assert "memory cells" in titles(outline)[3].lower()
    one_block = outline_document(VACCINES.replace("\n\n", " "))
    assert 3 <= len(one_block.parts) <= 5


@pytest.mark.req("GRND-19")
@pytest.mark.parametrize("text", [VACCINES, "\n".join(f"- {said}" for said in STATEMENTS)])
def test_nothing_is_invented(text: str) -> None:
    source = " ".join(text.split()).lower()
    outline = outline_document(text)
    for part in outline.parts:
        for sentence in sentences(part.summary):
            assert sentence.lower() in source
    for word in re.findall(r"\w+", outline.digest.lower()):
        assert word in source or word.isdigit() or word == "and"


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("The French Revolution began in 1789.", 1),
        ("Фотосинтез превращает свет в энергию. Растения поглощают газ. Кислород выделяется.", 3),
        ("光合作用是植物利用阳光的过程。植物吸收二氧化碳。它们释放氧气。", 3),
        ("  \n\n ", 0),
        ("!!! ... 😀", 0),
    ],
)
def test_odd_texts_are_taken(text: str, points: int) -> None:
    assert len(outline_document(text).parts) == points


def test_more_statements_than_points_are_joined_not_dropped() -> None:
    text = "\n".join(f"{n}. Rule number {n} is about subject{n}." for n in range(1, 48))
    outline = outline_document(text)
    assert len(outline.parts) == 20
    joined = " ".join(part.summary for part in outline.parts)
    assert all(f"subject{n}." in joined for n in range(1, 48))


@pytest.mark.parametrize(
    "text",
    [
        (VACCINES * 100)[:120_000],
        "".join(f"word{n} is a thing. " for n in range(6_500))[:120_000],
        "a" * 120_000,
        "- x\n" * 30_000,
        "# h\ntext\n" * 12_000,
        "?!. " * 30_000,
    ],
    ids=["prose", "lower case", "one word", "bullets", "headings", "stops"],
)
def test_large_texts_take_bounded_time(text: str) -> None:
    began = time.process_time()
    outline = outline_document(text)
    assert time.process_time() - began < 3.0
    assert len(outline.parts) <= 20
    assert len(outline.digest) <= 6_000


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=600), st.integers(1, 20), st.integers(200, 8_000))
def test_any_text_stays_within_its_budget(text: str, most: int, room: int) -> None:
    outline = outline_document(text, outline_max=most, total_chars=room, section_chars=300)
    assert len(outline.parts) <= most
    assert len(outline.digest) <= room // 2
    assert len({part.title.lower() for part in outline.parts}) == len(outline.parts)


@pytest.mark.req("GRND-23", "PROMPT-15")
def test_grounding_answer_fits_the_output_cap() -> None:
    text = "\n".join(
        f"{n}. {said} {'More words follow here. ' * 30}" for n, said in enumerate(STATEMENTS, 1)
    )
    brain = LocalBrain(BagEmbedder())
    answer = ground(brain, text, generationConfig={"maxOutputTokens": 2_048})
    assert len(json.dumps(answer, ensure_ascii=False)) <= 2_048 * 4
    assert answer["depth"] == "deep"
    assert len(answer["outline"]) == 15
    assert answer["needsGrounding"] is False
    for number, point in enumerate(answer["outline"], 1):
        assert f"{number}. {point['title']}: " in answer["digest"]
