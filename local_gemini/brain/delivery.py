"""How one tutor says things: opening, questions, explanations, mini-lectures, closing. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

from local_gemini.brain import phrases
from local_gemini.brain.coverage import Judge
from local_gemini.brain.judgement import Judgement
from local_gemini.brain.language import alike
from local_gemini.brain.lexicon import VAGUE
from local_gemini.brain.matching import meanings
from local_gemini.brain.material import Ask, material_of
from local_gemini.brain.naming import running
from local_gemini.brain.progress import Move, Progress
from local_gemini.brain.quoting import condensed, quote, stands_alone, statement
from local_gemini.brain.retrieval import EXAMPLE

# Questions that already address the learner take no further lead.
_SELF_CONTAINED = ("If ", "Which ", "Can ", "What can you", "How would you", "What do you know")
TOLD_SENTENCES = {"socratic": 2, "conversational": 3, "lecture": 4}
TOLD_WORDS = {"socratic": 50, "conversational": 55, "lecture": 120}
ADDED_WORDS = 26
# A sentence that was said to this share needs no addition.
SAID_ALREADY = 0.6
GISTS_MAX, GIST_WORDS = 6, 16


class Delivery:
    """The moves of a walk that are decided, put into sentences; keeps the progress in step."""

    def __init__(self, judge: Judge, style: str, progress: Progress | None = None) -> None:
        self.judge = judge
        self.style = style
        self.progress = progress or Progress()
        self.material = material_of(judge.topic, judge.points)
        self.unaided = not any(point.body for point in judge.points)

    def _open(self, greeting: Sequence[str] = ()) -> Move:
        if self._done():
            return self._close()
        lines = phrases.opening(
            "" if self.judge.telling_topic else self.judge.topic,
            [point.title for point in self.judge.points],
            self.style,
            has_text=not self.unaided,
        )
        if self.style == "lecture" and not self.unaided:
            return self._lecture(self._next(), [*greeting, *lines])
        self._turn_to(self._next())
        return self._go_on("ask", [*greeting, *lines], lead="")

    def _go_on(
        self,
        mode: str,
        lines: Sequence[str],
        *,
        explained: frozenset[int] = frozenset(),
        lead: str | None = None,
    ) -> Move:
        """`lines`, then the next question about the point in question."""
        state = self.progress
        if self.unaided:
            self._turn_to(fresh := self._unasked())
            if fresh is None:
                state.question = state.meta = ""
                return Move(mode, (*(line for line in lines if line), *phrases.NOTHING_LEFT))
        point = state.asked
        if point is None:
            return Move(mode, tuple(line for line in lines if line), explained)
        ask = self.material.ask(point, state.times.get(point, 0))
        state.times[point] = state.times.get(point, 0) + 1
        state.question, state.meta = ask.text, ""
        said = [line.replace("?", ".") for line in lines if line]
        if ask.cloze:
            return Move(mode, (*said, self._pick(phrases.FINISH), ask.text), explained)
        leads = phrases.LEADS[self.style]
        before = leads[state.turn % len(leads)] if lead is None else lead
        if ask.text.startswith(_SELF_CONTAINED):
            before = ""
        text = before + (ask.text[:1].lower() if before else ask.text[:1]) + ask.text[1:]
        return Move(mode, (*said, text), explained)

    def _meta(self, mode: str, lines: Sequence[str], asking: str) -> Move:
        """`lines`, then a question about the talk; the question about the text stays open."""
        self.progress.meta = asking
        return Move(mode, (*(line.replace("?", ".") for line in lines if line), asking))

    def _resume(self, mode: str, lines: Sequence[str], explained: frozenset[int]) -> Move:
        """`lines`, then the open question once more, or the next one when it is settled."""
        state = self.progress
        if self._done():
            return self._offer(lines, explained)
        if self.style == "lecture" and not self.unaided:
            self._turn_to(self._next())
            return self._meta(mode, lines, phrases.MORE)
        if state.asked is None or state.asked in state.covered:
            self._turn_to(self._next())
            return self._go_on(mode, lines, explained=explained)
        if self.unaided or not state.question or "…" in state.question:
            return self._go_on(mode, lines, explained=explained)
        state.meta = ""
        said = [line.replace("?", ".") for line in lines if line]
        again = phrases.STILL + state.question[:1].lower() + state.question[1:]
        return Move(mode, (*said, again), explained)

    def _tell(self, point: int | None, opener: Sequence[str]) -> Move:
        """Explain `point`, then ask about the next one."""
        state = self.progress
        if point is None:
            return self._resume("ask", opener, frozenset())
        told = self._told(point)
        state.covered.add(point)
        explained = frozenset({point}) if told else frozenset[int]()
        lines = [*opener, *told]
        if self._done():
            return self._offer(lines, explained) if told else self._close()
        self._turn_to(self._next())
        return self._go_on("reveal" if told else "ask", lines, explained=explained)

    def _told(self, point: int) -> list[str]:
        """The sentences of `point` to explain it with, what was asked about first."""
        body = [line for line in self.judge.points[point].body if "?" not in line]
        if not body:
            return []
        found = self.material.find(self.progress.question)
        needed = set(meanings(found[1].answer)) if found and found[0] == point else set()
        start = max(range(len(body)), key=lambda at: len(needed & set(meanings(body[at]))))
        start = start if needed and stands_alone(body[start]) else 0
        room = TOLD_WORDS[self.style]
        told: list[str] = []
        for line in body[start : start + TOLD_SENTENCES[self.style]]:
            if told and len(line.split()) > room:
                break
            told.append(statement(line))
            room -= len(line.split())
        example = next((line for line in body if EXAMPLE.search(line)), "")
        if example and statement(example) not in told and len(example.split()) <= room:
            told.append(statement(example))
        return told

    def _lecture(self, point: int | None, opener: Sequence[str]) -> Move:
        """A mini-lecture: frame, the point's sentences, an example if any, a takeaway, a check."""
        state = self.progress
        if point is None:
            return self._close()
        title = self.judge.points[point].title
        told = self._told(point)
        total = len(self.judge.points)
        frame = f"{_ordinal(point, total)}: {running(title, self.judge.points[point].body)}."
        state.covered.add(point)
        lines = [*opener, frame, *told, self._takeaway(point, told)]
        explained = frozenset({point})
        if self._done():
            return self._offer(lines, explained)
        self._turn_to(self._next())
        state.meta = phrases.MORE
        said = [line.replace("?", ".") for line in lines if line]
        return Move("reveal", (*said, phrases.MORE), explained)

    def _takeaway(self, point: int, told: Sequence[str]) -> str:
        gist = self._gist(point)
        if not told or not gist or meanings(gist) == meanings(" ".join(told)):
            return ""
        return f"The takeaway: {gist}."

    def _offer(self, lines: Sequence[str], explained: frozenset[int]) -> Move:
        """All points are told: leave room for a question before the closing summary."""
        self.progress.offered = True
        self.progress.meta = phrases.ANY_MORE
        said = [line.replace("?", ".") for line in lines if line]
        return Move("reveal", (*said, phrases.ANY_MORE), explained)

    def _recap(self) -> Move:
        points, covered = self.judge.points, sorted(self.progress.covered)
        names = [running(points[at].title, points[at].body) for at in covered[:5]]
        so_far = f"So far we have had {phrases.listed(names)}." if names else ""
        left = len(points) - len(covered)
        still = f"{phrases.number(left).capitalize()} of {phrases.number(len(points))} to go."
        return self._resume("ask", [so_far, still], frozenset())

    def _close(self, said: str = "") -> Move:
        self.progress.closed = True
        self.progress.offered = False
        self.progress.question = self.progress.meta = ""
        titles = [point.title for point in self.judge.points]
        gists = [gist for at in range(len(titles)) if (gist := self._gist(at))]
        if len(gists) > GISTS_MAX:
            step = (len(gists) - 1) / (GISTS_MAX - 1)
            gists = [gists[round(step * at)] for at in range(GISTS_MAX)]
        return Move("conclude", tuple(phrases.wrap_up(titles, self.style, gists, said)))

    def _gist(self, point: int) -> str:
        """The statement of a point in one short clause, as it stands inside a sentence."""
        body = self.judge.points[point].body
        title = set(meanings(self.judge.points[point].title))
        weights = self.judge.weights[point]
        best, most = "", -1.0
        for at, line in enumerate(body):
            text = condensed(line)
            if not stands_alone(line) or not text or len(text.split()) > GIST_WORDS + 6:
                continue
            own = set(meanings(text))
            value = sum(weights.get(item, 0.3) for item in own) / (len(own) + 3)
            value += 0.5 * bool(own & title) - 0.05 * at
            value -= 0.3 if len(text.split()) > GIST_WORDS else 0.0
            if value > most:
                best, most = text, value
        if not best and body:
            best = condensed(body[0])
        return self.material.inside(best)

    # --- small parts -----------------------------------------------------------------------

    def _acknowledged(self, judged: Judgement, point: int | None, forms: Sequence[str]) -> str:
        """`forms` with the source's phrase that the learner used; empty when none stands out."""
        if point is None or self.unaided:
            return ""
        body = self.judge.points[point].body
        ask = self._ask_of(self.progress.question)
        if ask is not None and ask.cloze and point in judged.covered:
            needed = set(meanings(ask.answer))
            if len(needed & judged.said) >= SAID_ALREADY * len(needed):
                return f"{self._pick(forms)} {self.material.inside(ask.answer)}."
        said = quote(
            body,
            judged.matched,
            judged.said,
            self.judge.weights[point],
            self.material.names,
            judged.key,
        )
        if not said or said.lower() in VAGUE:
            return ""
        return f"{self._pick(forms)} {said}."

    def _addition(self, point: int | None, judged: Judgement) -> str:
        """A sentence of the point beyond what the learner said; empty when there is none."""
        best, most = "", 1.5
        for line in self.judge.points[point].body if point is not None else ():
            own = set(meanings(line))
            said = sum(any(alike(item, other) for other in judged.said) for item in own)
            leaning = not stands_alone(line) or "?" in line
            if leaning or len(line.split()) > ADDED_WORDS or said >= SAID_ALREADY * len(own):
                continue
            value = float(len(own) - said)
            if value > most:
                best, most = statement(line), value
        return best

    def _silent_about(self, named: str) -> str:
        if self.unaided:
            return "That is beyond me: I am the local tutor, without outside knowledge."
        return f"The text does not say {f'anything about {named}' if named else 'more about that'}."

    def _ask_of(self, question: str) -> Ask | None:
        found = self.material.find(question)
        return found[1] if found is not None else None

    def _unasked(self) -> int | None:
        """The open point with a question that was not put yet, the one in question first."""
        state = self.progress
        still_open = [at for at in range(len(self.judge.points)) if at not in state.covered]
        fresh = [at for at in still_open if state.times.get(at, 0) < len(self.material.asks[at])]
        return min(fresh, key=lambda at: (at != state.asked, at in state.parked, at), default=None)

    def _done(self) -> bool:
        return self.progress.done(len(self.judge.points))

    def _next(self) -> int | None:
        return self.progress.following(len(self.judge.points))

    def _turn_to(self, point: int | None) -> None:
        self.progress.turn_to(point)

    def _pick(self, options: Sequence[str]) -> str:
        return options[self.progress.turn % len(options)]


def _ordinal(point: int, total: int) -> str:
    if total == 1:
        return "The subject"
    if point == total - 1:
        return "The last part"
    return f"Part {phrases.number(point + 1)} of {phrases.number(total)}"
