"""A walk without a text: the learner explains, the tutor asks on with the learner's words. Pure."""

from __future__ import annotations

from local_gemini.brain.clauses import inside
from local_gemini.brain.grammar import noun_phrases, span, tagged
from local_gemini.brain.language import content_words
from local_gemini.brain.matching import meanings

# Titles of the points: what helps a learner to explain something to oneself.
ANGLES = (
    "What you know already",
    "An example",
    "The reason behind it",
    "A contrast",
    "Where it matters",
)
NO_KNOWLEDGE = (
    "The local tutor has no outside knowledge about this topic. "
    "It can ask, listen and keep track, but it cannot state facts."
)
_QUESTIONS = {
    ANGLES[0]: (
        "What do you already know about {}?",
        "How would you explain {} to a friend in one sentence?",
        "Which word comes to mind first when you hear {}?",
        "Where did you first hear about {}?",
    ),
    ANGLES[1]: (
        "Can you give an example of that from your own experience?",
        "Where have you met {} in real life?",
        "Which picture or story would you use to show {} to a child?",
        "What would be a very small example?",
    ),
    ANGLES[2]: (
        "Why do you think that is so?",
        "What has to happen first, and what follows from it?",
        "What would change if that were not so?",
        "Which cause seems most likely to you?",
    ),
    ANGLES[3]: (
        "What would you compare {} with, and what is the difference?",
        "What do people often mix up with {}?",
        "What is the opposite of {}, as you see it?",
        "What does not belong to {} at all?",
    ),
    ANGLES[4]: (
        "Where does that matter in everyday life?",
        "Who needs to know about {}, and for what?",
        "What could one do better with this knowledge?",
        "What would you still like to find out about {}?",
    ),
}
_OTHER = (
    "What can you tell me about {}?",
    "How would you explain {} in your own words?",
    "If you had to guess, what would you say about {}?",
    "Which word comes to mind first when you hear {}?",
)


def angle_questions(title: str, topic: str) -> tuple[str, ...]:
    """The questions about one angle, the one to open with first."""
    name = inside(" ".join(topic.replace("?", " ").split())) or "this topic"
    if title in _QUESTIONS:
        return tuple(text.format(name) for text in _QUESTIONS[title])
    named = inside(title.replace("?", "").strip())
    return tuple(text.format(named) for text in _OTHER)


def is_unaided(digest: str) -> bool:
    """Whether a digest only says that there is no knowledge."""
    return NO_KNOWLEDGE.split(". ", maxsplit=1)[0] in digest


def taken_up(utterance: str, topic: str) -> str:
    """The most telling noun phrase of `utterance`, to be said back; empty when there is none."""
    known = set(meanings(topic))
    tokens = tagged(utterance)
    best, most = "", 0
    for phrase in noun_phrases(utterance):
        text = span(utterance, tokens, phrase.first, phrase.last)
        fresh = [item for item in meanings(text) if item not in known]
        if fresh and len(fresh) > most and len(text.split()) <= 5 and content_words(text):
            if tokens[phrase.first].low in ("my", "our", "your", "its", "their", "his", "her"):
                text = span(utterance, tokens, phrase.first + 1, phrase.last)
            best, most = inside(text), len(fresh)
    return best
