"""The local tutor's own words: openers, questions, hints, closing. Pure, deterministic."""

from __future__ import annotations

import re
from collections.abc import Sequence

from local_gemini.brain.language import central, fold, noun_phrases, rarity, stems, words
from local_gemini.brain.lexicon import STOP_WORDS, VERBS

GOOD = ("Good.", "Nice.", "All right.", "Well put.")
HEARD = ("I see.", "Interesting.", "Thank you.")
STUCK = ("No problem.", "That is fine.", "No worries.")
WAITING = ("Of course.", "Take your time, I am listening.")
# Said often, so their sound is made once at start.
OPENERS = (
    *GOOD,
    *HEARD,
    *STUCK,
    *WAITING,
    "Good question.",
    "Sure.",
    "Hello again.",
    "You are welcome.",
    "Let us stay with the topic.",
)
HINT = "Here is a hint:"
SCAFFOLDS = (HINT, "We will visit", "You brought in", "You spoke about", "So far")
QUOTE_MAX = 240

_FIRST = (
    "What can you tell me about {}?",
    "How would you explain {} in your own words?",
    "What do you know about {}?",
    "What would you say about {}?",
)
_SIMPLER = (
    "What is one thing that you connect with {}?",
    "If you had to guess, what would you say about {}?",
    "Which word comes to mind first when you hear {}?",
)
_CLAUSE = re.compile(r"^(?:how|why|what|when|where|who|which)\b", re.IGNORECASE)
_EXAMPLE = re.compile(r"^an example of ", re.IGNORECASE)


def is_scaffold(sentence: str) -> bool:
    """Whether `sentence` only supports the learner and so explains nothing by itself."""
    return sentence.startswith(SCAFFOLDS)


def statement(sentence: str) -> str:
    """`sentence` of a source, short enough to be spoken, without a question mark."""
    text = " ".join(sentence.replace("?", ".").split())
    if len(text) > QUOTE_MAX:
        text = text[:QUOTE_MAX].rsplit(" ", 1)[0].rstrip(" ,;:") + "."
    return text if text[-1:] in ".!" else text + "."


def running(title: str, body: Sequence[str] = ()) -> str:
    """`title` as it stands inside a sentence: lower case unless it looks like a name."""
    text = title.replace("?", "").strip()
    first = words(text)[:1]
    if not first or (first[0].isupper() and len(first[0]) > 1):
        return text
    word = first[0].lower()
    common = word in STOP_WORDS or word in VERBS or _CLAUSE.match(text) is not None
    if common or re.search(rf"\b{re.escape(word)}\b", " ".join(body)):
        return text[:1].lower() + text[1:]
    return text


def question(title: str, body: Sequence[str], turn: int) -> str:
    """The first question about a point; `turn` varies its form. Exactly one question mark."""
    name = running(title, body)
    if title.rstrip().endswith("?"):
        return title.replace("?", "").strip() + "?"
    if _CLAUSE.match(name):
        return f"Can you explain {name}?"
    if _EXAMPLE.match(name):
        return f"Can you give me {name}?"
    return _FIRST[turn % len(_FIRST)].format(name)


def simpler(title: str, body: Sequence[str], tries: int) -> str:
    """An easier question about a point; `tries` (1, 2, …) varies it. Exactly one question mark."""
    return _SIMPLER[(tries - 1) % len(_SIMPLER)].format(running(title, body))


def hint(title: str, body: Sequence[str], tries: int) -> str:
    """A pointer to words of the point, never its statement."""
    known = set(stems(title))
    options: list[str] = []
    for line in body:
        for phrase in noun_phrases(line):
            own = set(stems(phrase))
            if own and not own & known:
                known |= own
                options.append(phrase)
    options.sort(key=lambda phrase: -len(phrase))
    if not options:
        return f"{HINT} start with a single word, anything that you connect with it."
    start = (tries - 1) * 2 % len(options)
    chosen = [*options[start:], *options[:start]][:2]
    return f"{HINT} think of {listed([running(item, body) for item in chosen])}."


def acknowledgement(terms: Sequence[str], turn: int) -> str:
    """A sentence that names what the learner said; empty when nothing matched."""
    if not terms:
        return ""
    named = listed([fold(term) if term.islower() else term for term in terms[:3]])
    return f"You {('brought in', 'spoke about')[turn % 2]} {named}."


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def opening(topic: str, count: int, *, has_text: bool) -> list[str]:
    """The introduction, without any fact of the text."""
    name = topic or "this text"
    plan = f"We will visit {count} points, one at a time." if count > 1 else ""
    own = "" if has_text else "I am the local tutor: I bring questions, not outside knowledge."
    return [line for line in (f"Let us talk about {name.replace('?', '')}.", plan, own) if line]


def closing(topic: str, titles: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Two or three sentences that sum up, without a question."""
    name = (topic or "this text").replace("?", "")
    names = [running(title, lines) for title in titles]
    if len(names) > 6:
        names = [*names[:3], f"{len(names) - 4} more", names[-1]]
    count = "the point" if len(titles) == 1 else f"all {len(titles)} points"
    made = [
        f"Well done, you have worked through {count} of {name}.",
        f"Together we covered {listed(names)}.",
    ]
    quiet = [line for line in lines if "?" not in line and len(line) <= QUOTE_MAX]
    if quiet:
        best = central(quiet[:60], rarity([stems(line) for line in quiet[:60]]))[0]
        made.append(f"To keep in mind: {statement(quiet[best])}")
    return made
