"""One tutor's walk over the agenda: learner words in, mode and sentences out. No clock, no I/O.

Socratic asks before it tells, Conversational answers, Lecture explains (areas STYLE, PROMPT).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from local_gemini.brain import phrases
from local_gemini.brain.coverage import Judge, Judgement
from local_gemini.brain.intent import Intent, classify
from local_gemini.brain.language import content_words, stems

# After this many answers in earnest the point is explained; non-answers never lead there.
ENGAGED_MAX = 2
# After this many non-answers in a row the point is put aside and another one is asked.
MISSES_MAX = 3
ANSWERS_FROM = 0.45
TOLD_SENTENCES = 3
LECTURE_SENTENCES = 4


@dataclass(frozen=True, slots=True)
class Move:
    """What the tutor does: `ask`, `probe`, `reveal` or `conclude`, and the sentences of it."""

    mode: str
    sentences: tuple[str, ...]
    explained: frozenset[int] = frozenset()


@dataclass(slots=True)
class Progress:
    """Where a walk stands; indices are positions in the agenda."""

    covered: set[int] = field(default_factory=set)
    asked: int | None = None
    question: str = ""
    engaged: int = 0
    misses: int = 0
    turn: int = 0
    parked: set[int] = field(default_factory=set)
    preferred: int | None = None
    opened: bool = False
    offered: bool = False
    closed: bool = False
    last: Move | None = None


class Walk:
    """Decides one move per learner utterance and keeps the progress."""

    def __init__(self, judge: Judge, style: str, progress: Progress | None = None) -> None:
        self.judge = judge
        self.style = style
        self.progress = progress or Progress()

    def step(self, learner: str) -> Move:
        """The move that answers `learner` (empty: silence, a skip, or the opening)."""
        intent = classify(learner)
        move = self._step(intent, learner)
        state = self.progress
        state.turn += 1
        state.opened = True
        if intent is not Intent.WAIT:
            state.last = move
        return move

    def said(self, spoken: Sequence[str]) -> None:
        """Take over what was said in this tutor's name, by another model or before a restart."""
        state = self.progress
        state.opened = True
        asking = [line for line in spoken if line.rstrip().endswith("?")]
        if asking:
            self._asking(self.judge.asked_about(asking[-1]), asking[-1])
        if spoken:
            state.last = Move("ask", tuple(spoken))

    def _step(self, intent: Intent, learner: str) -> Move:
        state = self.progress
        if intent is Intent.REPEAT and state.last is not None:
            return state.last
        if intent is Intent.WAIT:
            return Move("probe", phrases.WAITING)
        if not self.judge.points:
            return self._without_points(intent)
        if not state.opened and intent not in (Intent.ANSWER, Intent.QUESTION):
            return self._open()
        if state.closed or (self._done() and not state.offered and intent is not Intent.QUESTION):
            return self._after_all(intent, learner)
        if state.asked is None or state.asked in state.covered:
            self._turn_to(self._next())
        if intent is Intent.ANSWER:
            return self._answered(learner)
        if intent is Intent.QUESTION:
            return self._questioned(learner)
        if state.offered:
            return self._close()
        if intent is Intent.RECAP:
            return self._recap()
        if intent is Intent.SKIP:
            return self._skipped()
        if intent in (Intent.GREETING, Intent.THANKS):
            opener = "Hello again." if intent is Intent.GREETING else "You are welcome."
            return self._go_on("ask", [opener])
        if intent is Intent.CONTINUE and self.style != "lecture":
            return self._go_on("ask", [self._pick(phrases.GOOD)])
        return self._unsure()

    # --- what the learner said -------------------------------------------------------------

    def _answered(self, learner: str) -> Move:
        state = self.progress
        judged = self.judge.demonstrated(learner, asked=state.asked, question=state.question)
        new = judged.covered - state.covered
        state.covered |= judged.covered
        if new:
            return self._rewarded(judged, new)
        if state.offered:
            return self._close()
        if self.style == "lecture":
            return self._lecture(self._next(), [self._pick(phrases.HEARD)])
        if not judged.related:
            state.misses += 1
            if self.style == "socratic" and state.misses >= MISSES_MAX:
                return self._skipped()
            return self._go_on("probe", ["Let us stay with the topic."], easier=True)
        state.engaged += 1
        opener = [
            self._pick(phrases.HEARD),
            phrases.acknowledgement(judged.terms, state.turn),
        ]
        if self.style == "conversational" or state.engaged >= ENGAGED_MAX:
            return self._tell(state.asked, opener)
        body = self._body(state.asked)
        clue = phrases.hint(self._title(state.asked), body, state.engaged)
        return self._go_on("probe", [*opener, clue], easier=True)

    def _rewarded(self, judged: Judgement, new: frozenset[int]) -> Move:
        state = self.progress
        if self._done():
            return self._close()
        lines = [
            self._pick(phrases.GOOD),
            phrases.acknowledgement(judged.terms, state.turn),
        ]
        point = state.asked if state.asked in new else min(new)
        extra = self._addition(point, judged.terms)
        told = frozenset({point}) if extra and point is not None else frozenset[int]()
        if self.style == "lecture":
            return self._lecture(self._next(), lines)
        if extra:
            lines.append(f"The text adds: {extra}" if state.turn % 2 else extra)
        self._turn_to(self._next())
        return self._go_on("reveal" if extra else "ask", lines, explained=told)

    def _questioned(self, learner: str) -> Move:
        state = self.progress
        found = self.judge.closest(learner)
        # "Just tell me" and "explain it" ask about the point that is open.
        bare = len(set(stems(learner)) - set(stems(self.judge.topic))) < 1
        point = state.asked if bare or found is None else found[0]
        if not bare and (found is None or found[1] < ANSWERS_FROM):
            return self._go_on("ask", [self._silent_about(learner)])
        if self.style == "lecture":
            return self._lecture(point, ["Sure."])
        if self.style == "conversational" or point in state.covered:
            return self._tell(point, ["Sure."])
        again = state.asked == point and state.misses + state.engaged > 0
        if point != state.asked:
            self._turn_to(point)
        if again:
            return self._unsure()
        state.misses += 1
        name = phrases.running(self._title(point), self._body(point))
        asking = f"Before I say more, what do you already think about {name}?"
        self._asking(point, asking)
        return Move("ask", ("Good question.", asking))

    def _unsure(self) -> Move:
        state = self.progress
        if self.style == "lecture":
            return self._lecture(self._next(), [])
        if self.style == "conversational":
            return self._tell(state.asked, [self._pick(phrases.STUCK)])
        state.misses += 1
        if state.misses >= MISSES_MAX:
            return self._skipped()
        clue = phrases.hint(self._title(state.asked), self._body(state.asked), state.misses)
        return self._go_on("probe", [self._pick(phrases.STUCK), clue], easier=True)

    def _skipped(self) -> Move:
        state = self.progress
        if state.asked is not None:
            state.parked.add(state.asked)
        following = self._next()
        if following == state.asked:
            state.misses = 0
            state.turn += 1
            return self._go_on("probe", ["This is the only point still open."], easier=True)
        self._turn_to(following)
        return self._go_on("ask", ["Let us leave that one for a moment."])

    def _after_all(self, intent: Intent, learner: str) -> Move:
        state = self.progress
        if not state.closed:
            return self._close()
        if intent is Intent.THANKS:
            return Move("conclude", ("You are welcome.",))
        found = self.judge.closest(learner) if intent is Intent.QUESTION else None
        if found is not None and found[1] >= ANSWERS_FROM and (body := self._body(found[0])):
            told = [phrases.statement(line) for line in body[:TOLD_SENTENCES]]
            return Move("reveal", ("Sure.", *told))
        if intent is Intent.QUESTION:
            return Move("conclude", (self._silent_about(learner),))
        topic = self.judge.topic.replace("?", "") or "this text"
        return Move("conclude", (f"Every point of {topic} is covered.",))

    # --- what the tutor does ---------------------------------------------------------------

    def _open(self) -> Move:
        points = self.judge.points
        lines = phrases.opening(
            self.judge.topic, len(points), has_text=any(point.body for point in points)
        )
        if self._done():
            return self._close()
        if self.style == "lecture":
            return self._lecture(self._next(), lines[:1])
        self._turn_to(self._next())
        return self._go_on("ask", lines)

    def _go_on(
        self,
        mode: str,
        lines: Sequence[str],
        *,
        easier: bool = False,
        explained: frozenset[int] = frozenset(),
    ) -> Move:
        """`lines`, then the one question of this turn."""
        state = self.progress
        point = state.asked
        title, body = self._title(point), self._body(point)
        asking = (
            phrases.simpler(title, body, max(1, state.misses + state.engaged))
            if easier
            else phrases.question(title, body, point or 0)
        )
        self._asking(point, asking)
        said = [line.replace("?", ".") for line in lines if line]
        return Move(mode, (*said, asking), explained)

    def _tell(self, point: int | None, opener: Sequence[str]) -> Move:
        """Explain `point`, then ask about the next one."""
        state = self.progress
        body = self._body(point)
        if point is None or not body:
            if point is not None and state.engaged >= ENGAGED_MAX:
                state.covered.add(point)
                if self._done():
                    return self._close()
                self._turn_to(self._next())
                return self._go_on("ask", opener)
            return self._go_on("probe", [*opener, self._silent_about("")], easier=True)
        told = [phrases.statement(line) for line in body[:TOLD_SENTENCES]]
        state.covered.add(point)
        explained = frozenset({point})
        if self._done():
            if self.style == "socratic":
                return self._close()
            return self._offer([*opener, *told], explained)
        self._turn_to(self._next())
        return self._go_on("reveal", [*opener, *told], explained=explained)

    def _lecture(self, point: int | None, opener: Sequence[str]) -> Move:
        """A mini-lecture: frame, the point's sentences, an example if any, a takeaway, a check."""
        state = self.progress
        if point is None:
            return self._close()
        body = self._body(point)
        title = phrases.running(self._title(point), body)
        if not body:
            state.covered.add(point)
            return self._offer([*opener, self._silent_about("")], frozenset())
        told = [phrases.statement(line) for line in body[:LECTURE_SENTENCES]]
        key = self._addition(point, ()) or told[0]
        lines = [*opener, f"This part is about {title}.", *told]
        if len(told) > 1:
            lines.append(f"The takeaway: {key}")
        state.covered.add(point)
        explained = frozenset({point})
        if self._done():
            return self._offer(lines, explained)
        self._turn_to(self._next())
        state.question = "Shall I go on?"
        said = [line.replace("?", ".") for line in lines if line]
        return Move("reveal", (*said, state.question), explained)

    def _offer(self, lines: Sequence[str], explained: frozenset[int]) -> Move:
        """All points are told: leave room for a question before the closing summary."""
        state = self.progress
        if not self._done():
            self._turn_to(self._next())
            state.question = "Shall I go on?"
        else:
            state.offered = True
            state.question = "Is there anything that you would like to hear more about?"
        said = [line.replace("?", ".") for line in lines if line]
        return Move("reveal", (*said, state.question), explained)

    def _recap(self) -> Move:
        points, covered = self.judge.points, sorted(self.progress.covered)
        names = [phrases.running(points[i].title, points[i].body) for i in covered[:5]]
        so_far = f"So far we have covered {phrases.listed(names)}." if names else ""
        left = f"{len(points) - len(covered)} of {len(points)} points are still open."
        return self._go_on("ask", [so_far, left])

    def _close(self) -> Move:
        self.progress.closed = True
        self.progress.offered = False
        points = self.judge.points
        lines = [line for point in points for line in point.body]
        titles = [point.title for point in points]
        return Move("conclude", tuple(phrases.closing(self.judge.topic, titles, lines)))

    def _without_points(self, intent: Intent) -> Move:
        name = self.judge.topic.replace("?", "") or "this"
        lines = [f"I have no text about {name} to work with."]
        if intent is Intent.THANKS:
            return Move("ask", ("You are welcome.",))
        return Move("ask", (*lines, "What would you like to say about it?"))

    def _silent_about(self, learner: str) -> str:
        if not any(point.body for point in self.judge.points):
            return "I am the local tutor and have no outside knowledge to answer that from."
        named = content_words(learner)[-3:]
        about = f" about {' '.join(named)}" if named else " more about it"
        return f"The text that I have says nothing{about}."

    # --- small parts -----------------------------------------------------------------------

    def _done(self) -> bool:
        return len(self.progress.covered) >= len(self.judge.points)

    def _next(self) -> int | None:
        """The next open point: the one steered to, else the first one that is not put aside."""
        state = self.progress
        open_points = [i for i in range(len(self.judge.points)) if i not in state.covered]
        if state.preferred in open_points and state.preferred not in state.parked:
            return state.preferred
        fresh = [index for index in open_points if index not in state.parked]
        if not fresh:
            state.parked.clear()
            fresh = [index for index in open_points if index != state.asked] or open_points
        return fresh[0] if fresh else None

    def _turn_to(self, point: int | None) -> None:
        state = self.progress
        if point != state.asked:
            state.misses = 0
            state.engaged = 0
        state.asked = point

    def _asking(self, point: int | None, question: str) -> None:
        if point is not None:
            self._turn_to(point)
        self.progress.question = question

    def _addition(self, point: int | None, terms: Sequence[str]) -> str:
        """The sentence of a point that says most beyond `terms`."""
        said = {item for term in terms for item in stems(term)}
        lines = [line for line in self._body(point) if "?" not in line]
        best = max(lines, key=lambda line: len(set(stems(line)) - said), default="")
        return phrases.statement(best) if best else ""

    def _title(self, point: int | None) -> str:
        return self.judge.points[point].title if point is not None else self.judge.topic

    def _body(self, point: int | None) -> tuple[str, ...]:
        return self.judge.points[point].body if point is not None else ()

    def _pick(self, options: Sequence[str]) -> str:
        return options[self.progress.turn % len(options)]
