"""How the tutor meets questions of the learner: from the text, or with a question. No I/O."""

from __future__ import annotations

import re

from local_gemini.brain import phrases
from local_gemini.brain.delivery import Delivery
from local_gemini.brain.matching import meanings
from local_gemini.brain.progress import Move
from local_gemini.brain.quoting import statement
from local_gemini.brain.retrieval import (
    COMPARISON,
    REASON,
    Found,
    answer_to,
    example_in,
    named_in,
    wants_example,
)


class Answering(Delivery):
    """The part of a walk that answers; Socratic asks back first (STYLE-36)."""

    def _questioned(self, learner: str) -> Move:
        state = self.progress
        if wants_example(learner) and not self.unaided:
            found = example_in(self.judge, state.asked)
            if found is None:
                alike = example_in(self.judge, state.asked, COMPARISON)
                known = alike is not None and alike.point in state.covered
                lines = [statement(line) for line in alike.lines] if alike and known else []
                lead = phrases.ONLY_COMPARISON if lines else phrases.NO_EXAMPLE
                return self._resume("ask", [lead, *lines], frozenset())
        else:
            found = answer_to(self.judge, learner)
        reason = self._reason(learner)
        if reason is not None:
            return reason
        named = named_in(learner)
        bare = not set(meanings(named)) - set(meanings(self.judge.topic))
        if bare and not wants_example(learner):
            # "Just tell me" and "explain it" ask about the point that is open.
            if self.unaided:
                return self._resume("ask", [self._silent_about("")], frozenset())
            return self._asked_for(state.asked, None, learner)
        if found is None:
            return self._resume("ask", [self._silent_about(named)], frozenset())
        return self._asked_for(found.point, found, learner)

    def _reason(self, learner: str) -> Move | None:
        """A bare "why" asks for the reason of what was told last; None when it was no such."""
        told = self.progress.last.explained if self.progress.last is not None else frozenset()
        if not told or re.match(r"^\W*(?:but |and |so )?(?:why|how come)\b", learner, re.I) is None:
            return None
        if set(meanings(named_in(learner))):
            return None
        said = " ".join(self.progress.last.sentences if self.progress.last else ())
        reasons = [
            statement(line)
            for point in sorted(told)
            for line in self.judge.points[point].body
            if REASON.search(line) and statement(line) not in said
        ]
        lines = reasons[:1] or [phrases.NO_REASON]
        return self._resume("reveal" if reasons else "ask", lines, frozenset())

    def _asked_for(self, point: int | None, found: Found | None, learner: str) -> Move:
        """The learner wants to hear about `point`, or the sentences of `found`."""
        state = self.progress
        sure = self._pick(phrases.SURE)
        if self.style == "lecture" and (found is None or point not in state.covered):
            return self._lecture(point, [sure])
        tried = point in state.turned_back or (
            point == state.asked and state.misses + state.engaged > 0
        )
        if self.style == "socratic" and point not in state.covered and not tried:
            return self._turned_back(point, learner)
        if found is None:
            return self._tell(point, [sure])
        lines = [sure, *(statement(line) for line in found.lines)]
        state.covered.add(found.point)
        return self._resume("reveal", lines, frozenset({found.point}))

    def _turned_back(self, point: int | None, learner: str) -> Move:
        """A first direct question is met with a question (MOVE-20)."""
        state = self.progress
        if point is None:
            return self._resume("ask", [], frozenset())
        self._turn_to(point)
        state.turned_back.add(point)
        ask = self.material.ask(point, state.times.get(point, 0))
        repeated = set(meanings(ask.text)) <= set(meanings(learner))
        if ask.cloze or repeated or self.unaided:
            name = phrases.subject_of(self.judge.points[point].title, self.judge.points[point].body)
            state.question, state.meta = f"What do you think yourself about {name}?", ""
            asking = f"Before I say more, what do you think yourself about {name}?"
            return Move("ask", (phrases.GOOD_QUESTION, asking))
        return self._go_on("ask", [phrases.GOOD_QUESTION], lead="Before I say more, ")

    def _disagreed(self) -> Move:
        state = self.progress
        told = state.last.explained if state.last is not None else frozenset()
        lines = [phrases.DIFFERENT]
        if told:
            body = self.judge.points[min(told)].body
            lines.append(f"The text puts it like this: {statement(body[0])}" if body else "")
        if self.style == "lecture":
            return self._meta("reveal", lines, phrases.MORE)
        return self._meta("probe", lines, phrases.DOUBT)
