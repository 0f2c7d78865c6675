"""How one tutor says things: opening, questions, explanations, mini-lectures, closing. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from local_gemini.brain import phrases
from local_gemini.brain.coverage import Judge
from local_gemini.brain.intent import Intent
from local_gemini.brain.language import stems
from local_gemini.brain.progress import Move, Progress

# After this many answers in earnest the point is explained; non-answers never lead there.
ENGAGED_MAX = 2
TOLD_SENTENCES = 3
LECTURE_SENTENCES = 4


class Delivery:
    """The moves of a walk that are decided, put into sentences; keeps the progress in step."""

    def __init__(self, judge: Judge, style: str, progress: Progress | None = None) -> None:
        self.judge = judge
        self.style = style
        self.progress = progress or Progress()

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

    def _silent_about(self, named: str) -> str:
        if not any(point.body for point in self.judge.points):
            return "I am the local tutor and have no outside knowledge to answer that from."
        return (
            f"The text that I have says nothing {f'about {named}' if named else 'more about it'}."
        )

    # --- small parts -----------------------------------------------------------------------

    def _done(self) -> bool:
        return self.progress.done(len(self.judge.points))

    def _next(self) -> int | None:
        return self.progress.following(len(self.judge.points))

    def _turn_to(self, point: int | None) -> None:
        self.progress.turn_to(point)

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
