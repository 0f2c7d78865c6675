"""Every rule is said exactly once, and reaches the prompt it belongs to."""

from __future__ import annotations

import pytest

from agent import styles
from agent.prompts import classic, flow_c, grounding, move_contract, native, observer, verbatim
from agent.prompts.classic import compose_live_classic_instruction
from agent.prompts.grounding import document_prompt, topic_prompt
from agent.prompts.rules import Rule
from agent.prompts.verbatim import verbatim_request
from agent.styles import policy
from agent.tiers import DEFAULT_TIERS
from tests.agent.topics import flow_c_of, native_of

TABLES: dict[str, tuple[tuple[Rule, ...], str]] = {
    "socratic": (styles.SOCRATIC, policy("socratic")),
    "conversational": (styles.CONVERSATIONAL, policy("conversational")),
    "lecture": (styles.LECTURE, policy("lecture")),
    "contract": (move_contract.RULES, move_contract.move_contract()),
    "observer": (observer.RULES, observer.observer_addendum()),
    "native": (native.FRAME, native_of()),
    "flow_c": (flow_c.RULES, flow_c_of()),
    "classic": (classic.RULES, compose_live_classic_instruction()),
    "verbatim": (verbatim.RULES, verbatim_request("Hello.")),
    "document": (
        (*grounding.DOCUMENT_RULES, grounding.EXPECTED_POINTS_RULE),
        document_prompt(title="T", text="x", expected=3, caps=DEFAULT_TIERS.deep),
    ),
    "news": (
        (grounding.NEWS_DIRECTIVE, *grounding.TOPIC_RULES),
        topic_prompt(topic="T", news=True, caps=DEFAULT_TIERS.deep),
    ),
}
IN_SCOPE = (
    [f"STYLE-{n}" for n in range(3, 35)]
    + [
        f"PROMPT-{n}"
        for n in (*range(1, 8), *range(11, 21), *range(23, 28), *range(29, 35), 36, 37)
    ]
    + ["OBS-18", "OWN-48"]
)


@pytest.mark.req("STYLE-2")
def test_every_rule_is_written_exactly_once() -> None:
    ids = [rule.id for rules, _ in TABLES.values() for rule in rules]
    assert sorted(ids) == sorted(IN_SCOPE)


# Spelled out, so that a search for an id finds it.
@pytest.mark.req(
    "STYLE-3",
    "STYLE-4",
    "STYLE-5",
    "STYLE-6",
    "STYLE-7",
    "STYLE-8",
    "STYLE-9",
    "STYLE-10",
    "STYLE-11",
    "STYLE-12",
    "STYLE-13",
    "STYLE-14",
    "STYLE-15",
    "STYLE-16",
    "STYLE-17",
    "STYLE-18",
    "STYLE-19",
    "STYLE-20",
    "STYLE-21",
    "STYLE-22",
    "STYLE-23",
    "STYLE-24",
    "STYLE-25",
    "STYLE-26",
    "STYLE-27",
    "STYLE-28",
    "STYLE-29",
    "STYLE-30",
    "STYLE-31",
    "STYLE-32",
    "STYLE-33",
    "STYLE-34",
    "PROMPT-1",
    "PROMPT-2",
    "PROMPT-3",
    "PROMPT-4",
    "PROMPT-5",
    "PROMPT-6",
    "PROMPT-7",
    "PROMPT-11",
    "PROMPT-12",
    "PROMPT-13",
    "PROMPT-14",
    "PROMPT-15",
    "PROMPT-16",
    "PROMPT-17",
    "PROMPT-18",
    "PROMPT-19",
    "PROMPT-20",
    "PROMPT-23",
    "PROMPT-24",
    "PROMPT-25",
    "PROMPT-26",
    "PROMPT-27",
    "PROMPT-29",
    "PROMPT-30",
    "PROMPT-31",
    "PROMPT-32",
    "PROMPT-33",
    "PROMPT-34",
    "PROMPT-36",
    "PROMPT-37",
    "OBS-18",
    "OWN-48",
    "OWN-49",
)
@pytest.mark.parametrize("table", TABLES)
def test_every_rule_reaches_its_prompt_once(table: str) -> None:
    rules, composed = TABLES[table]
    for rule in rules:
        assert composed.count(rule.text) == 1, rule.id


def rule(rule_id: str) -> str:
    return next(r.text for rules, _ in TABLES.values() for r in rules if r.id == rule_id)


# What the requirement asks the words to name.
MARKERS = {
    "STYLE-3": ["one to three sentences", "no key fact", "no conclusion"],
    "STYLE-4": ["exactly one", "question", "wait"],
    "STYLE-5": ["only when", "current question", "with substance"],
    "STYLE-6": ["empty", "skipped", "simpler", "never a reveal"],
    "STYLE-7": ["major points", "short label", "updatedRevealState.coveredAngles"],
    "STYLE-8": ["80 words", "one question"],
    "STYLE-9": ["contradicts", "openly", "discrepancyFlagged"],
    "STYLE-10": ["current affairs", "digest over your memory", "live search"],
    "STYLE-11": ["instructions", "digest", "grounded context", "internal state"],
    "STYLE-12": ["covered already", "curious", "ask", "probe"],
    "STYLE-13": ["conclude", "two to three sentences", "No choices", "no question", "no filler"],
    "STYLE-14": ["first", "learner's idea", "sincere"],
    "STYLE-15": ["tell me", "what causes", "two to four sentences", "daily life", "reveal"],
    "STYLE-16": ["single question", "Never answer a question with a question"],
    "STYLE-17": ["thinks aloud", "recognise", "single follow-up question", "interrogation"],
    "STYLE-18": ["stuck", "reveal", "one simple question"],
    "STYLE-19": ["80 words", "everyday words"],
    "STYLE-20": ["major points", "updatedRevealState.coveredAngles", "covered points again"],
    "STYLE-21": ["disagree", "plainly", "discrepancyFlagged"],
    "STYLE-22": ["current affairs", "digest over your memory", "live search"],
    "STYLE-23": ["instructions", "digest", "grounded context", "internal state"],
    "STYLE-24": ["conclude", "brief", "friendly", "do not pad"],
    "STYLE-25": ["framing sentence", "to four points", "concrete example", "takeaway"],
    "STYLE-26": ["200 words", "more depth"],
    "STYLE-27": ["precise", "define", "one clause"],
    "STYLE-28": ["updatedRevealState.coveredAngles", "recap"],
    "STYLE-29": ["once", "go on", "never quiz"],
    "STYLE-30": ["not covered yet", "next"],
    "STYLE-31": ["both sides", "newer sources", "discrepancyFlagged"],
    "STYLE-32": ["current affairs", "digest over your memory", "live search"],
    "STYLE-33": ["instructions", "digest", "grounded context", "internal state"],
    "STYLE-34": ["conclude", "two or three sentences", "no choice, invitation or question"],
    "PROMPT-1": ["ask", "probe", "reveal", "conclude", "text", "updatedRevealState"],
    "PROMPT-2": ['"ask"', "next open agenda question", "same words"],
    "PROMPT-3": ['"probe"', "easier step"],
    "PROMPT-4": ['"reveal"', "one point", "Unless your style"],
    "PROMPT-5": ['"conclude"', "fully covered", "short summary", "no choices"],
    "PROMPT-6": ["agenda", "coveredAngles", "only grows"],
    "PROMPT-7": ["web search", "memory", "evergreen"],
    "PROMPT-11": ["document alone", "nothing from outside", "unsure"],
    "PROMPT-12": ["main thesis", "numbers and dates", "examples"],
    "PROMPT-13": ["digestChars", "outlineMax", "sectionDigestChars"],
    "PROMPT-14": ["too long", "which part"],
    "PROMPT-15": ['"digest"', '"needsGrounding": false', '"depth"', '"outline"'],
    "PROMPT-16": ["one point for each", "EXPECTED POINTS"],
    "PROMPT-17": ["Search the web if", "changes over time", "conceptual or evergreen"],
    "PROMPT-18": ["neutral", "verified", "approximate dates"],
    "PROMPT-19": ["reputable", "5"],
    "PROMPT-20": ['"digest"', '"needsGrounding": true | false', '"depth"', '"outline"'],
    "PROMPT-23": ["hear the learner", "words of your own", "as soon as"],
    "PROMPT-24": ["short sentences", "no lists", "no markdown", "no stage directions", "agenda"],
    "PROMPT-25": ["no JSON", "no tools", "closing summary"],
    "PROMPT-26": ["[TUTOR STATE UPDATE]", "silently", "outranks"],
    "PROMPT-27": ["noise", "silent"],
    "PROMPT-29": ["LEARNER UTTERANCE", "TUTOR REPLY", "private", "one or two sentences"],
    "PROMPT-30": ["advance_turn", "learnerText", "sessionId", "topicId", "once", "exact words"],
    "PROMPT-31": ["Wait for the result", "verbatim"],
    "PROMPT-32": ["conclude", "silent until the learner"],
    "PROMPT-33": ["Never answer by yourself", "once more", "one moment", "third time"],
    "PROMPT-34": ["(user said nothing / skipped)", "noise", "silent"],
    "PROMPT-36": ["Write down", "do not answer", "exactly"],
    "PROMPT-37": ["word for word", "between the two marker lines", "nothing but"],
    "OBS-18": ["coveredAngles", "explained", "mention it", "not enough"],
    "OWN-48": ["switch", "service", "the app manages that selection"],
}


def test_every_rule_is_checked_for_its_words() -> None:
    assert list(MARKERS) == IN_SCOPE


@pytest.mark.parametrize("rule_id", MARKERS)
def test_a_rule_names_what_it_must(rule_id: str) -> None:
    for marker in MARKERS[rule_id]:
        assert marker in rule(rule_id)
