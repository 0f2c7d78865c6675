"""Whole conversations in all styles with five kinds of learners: properties that a person expects.

No models: embeddings are bags of words. `learners.py` holds the learners and the lessons.
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from local_gemini.brain import LocalBrain, phrases
from local_gemini.brain.language import sentences
from local_gemini.brain.material import material_of
from local_gemini.brain.naming import Kind, kind_of
from local_gemini.brain.unaided import ANGLES
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.learners import LEARNERS, STYLES, TEXTS, Lesson, good, run, title_of
from tests.local_gemini.lesson_text import live_instruction, move_request, state_update

BRAIN = LocalBrain(BagEmbedder())
TURNS = 16
WORDS_MAX = {"Socratic": 85, "Conversational": 90, "Lecture": 200}
BY_NAME = {path.stem: path for path in TEXTS}
VACCINES = BY_NAME["How_vaccines_work"]


def lesson(path: Path = VACCINES, style: str = "Socratic") -> Lesson:
    return Lesson(BRAIN, path, style)


def source_of(path: Path) -> str:
    return " ".join(re.findall(r"[\w']+", path.read_text("utf-8").lower()))


def flat(text: str) -> str:
    return " ".join(re.findall(r"[\w']+", text.lower()))


@pytest.mark.req("STYLE-4", "STYLE-8", "STYLE-19", "STYLE-26")
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", LEARNERS)
def test_turns_are_short_ask_once_and_do_not_repeat(path: Path, style: str, kind: str) -> None:
    talk = run(Lesson(BRAIN, path, style), LEARNERS[kind], TURNS)
    for at, reply in enumerate(talk.replies):
        closed = at == len(talk.replies) - 1 and talk.progress.closed
        assert reply.count("?") == (0 if closed else 1), reply
        assert closed or reply.rstrip().endswith("?")
        assert len(reply.split()) <= WORDS_MAX[style] + 10 * closed, reply
        assert "  " not in reply
        assert not re.search(r"[.!?,;:]\s*[,;:]|\.\.", reply), reply
        again = "repeat" in talk.said[at] or "Slower" in talk.said[at]
        if not again:
            assert reply not in talk.replies[max(0, at - 6) : at], reply


@pytest.mark.req("STYLE-5", "STYLE-13", "AGND-9", "MOVE-26")
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_good_answers_reach_the_closing(path: Path) -> None:
    for style in ("Socratic", "Conversational"):
        talk = Lesson(BRAIN, path, style)
        run(talk, good, 2 * len(talk.points) + 3)
        assert talk.progress.closed, talk.replies
        closing = sentences(talk.replies[-1])
        assert 2 <= len(closing) <= 3
        assert "In short:" in talk.replies[-1]


@pytest.mark.req("GRND-19")
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_the_summary_holds_statements_of_the_text(path: Path) -> None:
    talk = run(Lesson(BRAIN, path, "Socratic"), good, 20)
    source = source_of(path)
    told = [line for line in sentences(talk.replies[-1]) if line.startswith(("In short:", "And:"))]
    gists = [gist for line in told for gist in line.split(": ", 1)[1].split("; ")]
    assert len(gists) >= min(2, len(talk.points))
    for gist in gists:
        assert flat(gist) in source


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_titles_are_well_formed(path: Path) -> None:
    titles = lesson(path).points
    source = source_of(path)
    assert len({title.lower() for title in titles}) == len(titles)
    for title in titles:
        assert title[0].isupper()
        assert len(title.split()) <= 6
        assert flat(title) in source
        assert not re.match(r"(?:it|they|this|these|and|of|is|are)\b", title, re.IGNORECASE)
        assert title.lower() not in {"immune", "harmless", "new", "many", "real", "way", "thing"}


@pytest.mark.parametrize(
    ("stem", "titles"),
    [
        (
            "How_vaccines_work",
            ["A harmless piece of the germ", "Antibodies", "Memory cells", "Herd immunity"],
        ),
        ("Tides", ["Pull of the moon", "Spring tides"]),
        (
            "Sleep_and_memory",
            ["What happens in deep sleep", "Dreams", "Why naps help", "Caffeine"],
        ),
    ],
)
def test_points_are_named_as_a_person_would(stem: str, titles: list[str]) -> None:
    assert lesson(BY_NAME[stem]).points == titles


def test_steps_are_named_by_what_is_done() -> None:
    titles = lesson(BY_NAME["How_to_bake_sourdough_bread"]).points
    assert titles[0] == "Feed the starter"
    assert titles[2:4] == ["Fold the dough", "Let the dough rise"]
    assert all(kind_of(title) is Kind.ORDER for title in titles)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_questions_are_grammatical_and_come_from_the_text(path: Path) -> None:
    talk = lesson(path)
    walk = talk.mind._walk
    made = material_of(walk.judge.topic, walk.judge.points)
    seen: set[str] = set()
    for index, asks in enumerate(made.asks):
        assert len(asks) >= 5
        assert asks[0].text not in seen
        seen.add(asks[0].text)
        for ask in asks:
            assert ask.text.count("?") == 1
            assert ask.text.endswith("?")
            assert ask.text[0].isupper()
            assert not re.search(r"\b(?:does \w+s \w+s\b|the the|a the)", ask.text)
            assert not re.search(r"\b(?:it|they|them|these)\b(?!.*…)", ask.text), ask.text
            assert made.find(ask.text) is not None
            if ask.cloze:
                begun = flat(ask.text)
                assert begun in source_of(path)
                assert flat(ask.answer) in source_of(path)
            if ask.answer:
                assert flat(ask.answer) in flat(" ".join(walk.judge.points[index].body))


@pytest.mark.parametrize(
    ("title", "asked"),
    [
        ("Antibodies", "What role do antibodies play?"),
        ("Herd immunity", "What role does the herd immunity play?"),
        ("Lymph node", "What role does the lymph node play?"),
        ("National Assembly", "What role does the National Assembly play?"),
        ("How plates move", "Can you tell me how plates move?"),
        ("Wash the tomatoes", "How should you wash the tomatoes?"),
        ("Washing tomatoes", "What matters when you are washing tomatoes?"),
        ("What is rain?", "What is rain?"),
    ],
)
def test_templates_fit_the_form_of_a_title(title: str, asked: str) -> None:
    body = ("The herd immunity of a town rises. The National Assembly met.",)
    assert phrases.generic(title, body, 2) == asked


@pytest.mark.parametrize(
    "words",
    [
        "I think of Xean shows the immune system a harmless piece of the blocket",
        "It zorgles the immune system with a harmless flumph of the germ",
    ],
)
def test_words_that_are_not_in_the_text_are_never_said_back(words: str) -> None:
    talk = lesson()
    talk.say("Hello")
    reply = flat(talk.say(words))
    for word in ("xean", "blocket", "zorgles", "flumph"):
        assert word not in reply


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", ["good", "medium"])
def test_acknowledgements_quote_the_text(path: Path, kind: str) -> None:
    talk = run(Lesson(BRAIN, path, "Socratic"), LEARNERS[kind], TURNS)
    source = source_of(path)
    quoted = 0
    for reply in talk.replies:
        first = sentences(reply)[0].split(", and with that")[0].rstrip(".")
        forms = sorted((*phrases.YES, *phrases.START), key=len, reverse=True)
        form = next((form for form in forms if first.startswith(form)), "")
        if form and first + "." not in phrases.PRAISE:
            quoted += 1
            assert flat(first.removeprefix(form)) in source, first
    assert quoted >= 1


def test_an_answer_to_another_point_counts_there() -> None:
    talk = lesson()
    talk.say("Hello")
    reply = talk.say("When many people are immune, the germ cannot spread.")
    assert talk.progress.covered == {3}
    assert "vaccine" in reply


def test_the_last_answer_leads_to_the_summary() -> None:
    talk = lesson()
    for words in (
        "Hello",
        "It shows the immune system a harmless piece of the germ",
        "They fit the surface like a key",
        "They remember the germ for years",
    ):
        talk.say(words)
    reply = talk.say("When many people are immune, the germ cannot spread.")
    assert reply.startswith(("Yes, the germ cannot spread,", "Right, the germ cannot spread,"))
    assert "In short:" in reply


def test_poor_recognition_is_met_with_a_kind_request() -> None:
    talk = lesson()
    talk.say("Hello")
    reply = talk.say("Fleas are kittens on the tarmac gable")
    assert any(asking in reply for _, asking in phrases.UNCLEAR)
    again = talk.say("It shows the immune system a harmless piece of the germ.")
    assert 0 in talk.progress.covered
    assert "harmless piece of the germ" in again


@pytest.mark.req("STYLE-6", "MOVE-20")
def test_stuck_learners_get_a_cloze_then_an_offer_then_another_point() -> None:
    talk = lesson()
    talk.say("Hello")
    assert "…?" in talk.say("I don't know")
    assert sentences(talk.say("No idea"))[-1] in phrases.OFFERS
    told = talk.say("Yes please")
    assert "A vaccine shows the immune system a harmless piece of the germ." in told
    assert talk.progress.covered == {0}
    talk.say("I don't know")
    talk.say("I don't know")
    parked = talk.say("no, later")
    assert talk.progress.covered == {0}
    assert "memory cells" in parked


@pytest.mark.req("STYLE-5")
def test_two_answers_in_earnest_that_miss_are_followed_by_the_answer() -> None:
    talk = lesson()
    talk.say("Hello")
    talk.say("It shows the immune system a harmless piece of the germ.")
    first = talk.say("Antibodies have to do with the body.")
    assert "The body makes antibodies." not in first
    second = talk.say("The body has antibodies somewhere, I guess.")
    assert "Antibodies fit the surface of the germ" in first + second
    assert 1 in talk.progress.covered


def test_a_denial_is_not_praised() -> None:
    talk = lesson()
    talk.say("Hello")
    talk.say("It shows the immune system a harmless piece of the germ.")
    reply = talk.say("Antibodies do not fit the surface of the germ.")
    assert reply.startswith(phrases.OTHERWISE)
    assert 1 not in talk.progress.covered


@pytest.mark.parametrize(
    ("words", "held"),
    [
        ("Why can the body practise without danger?", "the piece cannot cause the disease"),
        ("Who is protected by herd immunity?", "newborn babies"),
        ("How long do memory cells remember the germ?", "for years"),
        ("What is the capital of Portugal?", "does not say anything about the capital of Portugal"),
        ("Can you give me an example?", "no example"),
    ],
)
def test_questions_are_answered_from_the_text_or_honestly_not(words: str, held: str) -> None:
    talk = lesson(style="Conversational")
    talk.say("Hello")
    assert held in talk.say(words)


def test_examples_are_found() -> None:
    talk = lesson(BY_NAME["Sleep_and_memory"], "Conversational")
    talk.say("Hello")
    assert "a school exam" in talk.say("Can you give me an example?")


def test_slower_disagreeing_and_who_are_you() -> None:
    talk = lesson(style="Conversational")
    talk.say("Hello")
    told = talk.say("Tell me about antibodies")
    slow = talk.say("Slower please")
    assert slow.startswith(phrases.ONCE_MORE)
    assert sentences(told)[1] in slow
    assert "The text puts it like this" in talk.say("I disagree.")
    assert talk.say("I just doubt that it is so simple").startswith(phrases.NOTED)
    assert "local tutor" in talk.say("Who are you?")


@pytest.mark.req("STYLE-34", "API-22")
def test_after_the_summary_questions_are_still_answered() -> None:
    talk = run(lesson(), good, 12)
    assert talk.progress.closed
    assert "newborn babies" in talk.say("Who is protected by herd immunity?")
    assert talk.say("Thank you") == phrases.WELCOME
    assert "?" not in talk.say("Hello")


@pytest.mark.parametrize("cut", [False, True])
def test_a_goodbye_after_the_end_is_answered_shortly(cut: bool) -> None:
    talk = run(lesson(), good, 12)
    assert talk.progress.closed
    if cut:
        talk.mind.heard(talk.replies[-1][:20], interrupted=True)
    assert talk.say("Thank you, goodbye!") == "You are welcome. Goodbye."
    assert talk.say("Bye") == "Goodbye."
    resumed = lesson()
    resumed.mind = BRAIN.mind(
        live_instruction(talk.ground, "Socratic", covered=talk.points, turns=12)
    )
    assert resumed.say("Thank you, goodbye!") == "You are welcome. Goodbye."


def test_a_goodbye_in_the_middle_is_not_held_up_with_a_question() -> None:
    talk = lesson()
    talk.say("Hello")
    assert talk.say("I have to go, bye") == "Goodbye. We can go on later where we stop."


def test_styles_sound_different() -> None:
    openings = {style: lesson(style=style).say("Hello") for style in STYLES}
    assert "four ideas, one at a time" in openings["Socratic"]
    assert "Ask me anything" in openings["Conversational"]
    assert "a short lecture in four parts" in openings["Lecture"]
    assert "The takeaway:" in openings["Lecture"]
    for reply in openings.values():
        assert "Let us talk about" not in reply


@pytest.mark.req("STYLE-29")
def test_a_lecture_never_quizzes() -> None:
    for kind in LEARNERS:
        talk = run(lesson(style="Lecture"), LEARNERS[kind], TURNS)
        for reply in talk.replies:
            if "?" in reply:
                assert sentences(reply)[-1] in (phrases.MORE, phrases.ANY_MORE)


def test_a_topic_without_a_text_is_explained_by_the_learner() -> None:
    prompt = "TASK ground-topic\nTITLE: Ocean tides\nBUDGET digestChars=6000 outlineMax=20"
    request = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    outline = json.loads(BRAIN.generate("any", request).text or "")
    assert [point["title"] for point in outline["outline"]] == list(ANGLES)
    tutor = BRAIN.mind(live_instruction(outline, "Socratic", topic="Ocean tides"))
    replies = [
        " ".join(tutor.answer(words))
        for words in (
            "Hello",
            "The water goes up and down twice a day.",
            "At the beach in Brittany the sea went out very far.",
            "I think the moon pulls the water towards it.",
            "It is a bit like the seasons of the year, which the sun makes.",
            "Fishermen need to know when the water is high.",
        )
    ]
    assert sum("no knowledge of my own" in reply for reply in replies) == 1
    assert "You mention the moon." in replies[3]
    assert all(reply.count("?") == 1 for reply in replies[:-1])
    assert "?" not in replies[-1]
    assert "in your own words" not in replies[-1]


@pytest.mark.req("OBS-18")
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", ["good", "medium", "curious", "poor"])
@pytest.mark.parametrize("style", STYLES)
def test_the_observer_covers_what_the_speaking_tutor_covers(
    path: Path, kind: str, style: str
) -> None:
    talk = Lesson(BRAIN, path, style)
    state: dict[str, object] = {"agenda": talk.points, "coveredAngles": []}
    for turn in range(10):
        talk.say(LEARNERS[kind](talk, turn))
        request = move_request(
            talk.ground,
            style,
            state,
            talk.said[-1],
            reply=talk.replies[-1],
            turns=turn + 1,
            topic=title_of(path),
        )
        state = json.loads(BRAIN.generate("any", request).text or "")["updatedRevealState"]
        ours = [talk.points[index] for index in sorted(talk.progress.covered)]
        assert state["coveredAngles"] == ours, (talk.said[-1], talk.replies[-1])
        talk.mind.note(state_update(talk.points, ours))
        if talk.progress.closed:
            break


def test_typed_lessons_walk_like_spoken_ones() -> None:
    talk = lesson()
    spoken = [
        talk.say(words) for words in ("", "I don't know", "It shows a harmless piece of germ")
    ]
    state: dict[str, object] = {}
    typed = []
    for turn, words in enumerate(talk.said):
        request = move_request(
            talk.ground, "Socratic", state, words, turns=turn, topic=title_of(VACCINES)
        )
        decision = json.loads(BRAIN.generate("any", request).text or "")
        state = decision["updatedRevealState"]
        typed.append(decision["text"])
    assert typed == spoken


def test_turns_cost_little() -> None:
    talk = lesson(BY_NAME["The_Great_Fire_of_London"])
    began = time.process_time()
    talk.say("Hello")
    assert time.process_time() - began < 0.3
    began = time.process_time()
    for turn in range(1, 6):
        talk.say(good(talk, turn))
    assert (time.process_time() - began) / 5 < 0.1
