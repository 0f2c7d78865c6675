"""Judges an exchange that was spoken already, and notes what the next reply should do. Pure."""

from __future__ import annotations

from local_gemini.brain import phrases
from local_gemini.brain.intent import Intent, classify
from local_gemini.brain.language import sentences
from local_gemini.brain.prompt import Exchange
from local_gemini.brain.walk import Walk


def observe(walk: Walk, exchange: Exchange) -> tuple[str, str]:
    """The mode of a spoken exchange and the private note for the next reply.

    Coverage is judged as the speaking tutor judges it: what the learner showed, given the question
    that was open, and what the reply explained.
    """
    state, judge = walk.progress, walk.judge
    before = set(state.covered)
    asked = state.asked
    reply = sentences(exchange.reply or "")
    announces = walk.only_announces(exchange.utterance)
    told = frozenset[int]() if announces else judge.explained(reply)
    intent = classify(exchange.utterance)
    shown: frozenset[int] = frozenset()
    struggled = intent in (Intent.UNSURE, Intent.NOTHING, Intent.QUESTION)
    if intent is Intent.ANSWER:
        shown = walk.judged(exchange.utterance).covered
        struggled = not shown
    state.covered |= shown | told
    state.opened = True
    asking = [line for line in reply if line.rstrip().endswith("?")]
    if asking:
        walk.heard_question(asking[-1])
    total = len(judge.points)
    if len(state.covered) == total and not asking and total:
        mode = "conclude"
    elif told - before:
        mode = "reveal"
    elif asking and state.asked == asked and asked is not None and state.turn > 0:
        mode = "probe"
    else:
        mode = "ask"
    state.turn += 1
    return mode, _note(walk, struggled=struggled, new=(shown | told) - before)


def _note(walk: Walk, *, struggled: bool, new: frozenset[int] | set[int]) -> str:
    state, points = walk.progress, walk.judge.points
    following = next((i for i in range(len(points)) if i not in state.covered), None)
    if following is None:
        return "Every point is covered; give the short closing summary and ask nothing more."
    title = points[following].title
    if new:
        done = phrases.listed([points[index].title for index in sorted(new)])
        return f"Now covered: {done}. Turn to {title} with one open question."
    if struggled:
        return f"The learner is not there yet; make the question about {title} simpler."
    return f"Still open: {title}. Ask one question about it."
