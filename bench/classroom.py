"""Lessons side by side: opened one after the other, kept talking, measured over a window."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from bench import arrivals
from bench.figures import middle
from bench.house import LESSONS_PER_PERSON, House, Metrics, span_of
from bench.learner import Learner
from bench.process import ProcessBroken
from bench.sound import Repertoire
from media.pacer import Pacer, Tick

# A process admits a handful of set-ups a second: each is 10 to 15 ms of its core.
OPEN_EVERY_S = 0.2
# Each costs the server a few ms: its quantiles are sorted when asked for.
SCRAPE_S = 2.0
# Multiples of it are spread evenly over a round, however many there are.
GOLDEN = 0.618_034


@dataclass
class Window:
    """One stretch of measuring. Shares are of one core, `waited_share` of the time that the server
    was ready and did not run; times in s; `scrapes` one in SCRAPE_S."""

    lessons: int
    seconds: float
    server_share: float
    waited_share: float
    model_share: float
    rss_mb: float
    late: list[float]
    lost: int
    received: int
    turns: int
    scrapes: list[Metrics] = field(default_factory=list)

    @property
    def share_each(self) -> float:
        return self.server_share / self.lessons

    def span(self, name: str, q: float = 0.95) -> float | None:
        """A quantile of a span of the server: the middle one of the scrapes."""
        found = (span_of(scrape, name, q) for scrape in self.scrapes)
        return middle([value for value in found if value is not None])


class Classroom:
    """An async context manager: whoever is inside when it ends is closed."""

    def __init__(self, house: House, repertoire: Repertoire) -> None:
        self.house, self.repertoire = house, repertoire
        self.learners: list[Learner] = []
        self.answers_s: list[float] = []
        self.connects_s: list[float] = []
        self._people: list[tuple[str, str]] = []
        self._failures: list[Exception] = []
        self.pacer = Pacer(self._tick_failed)
        self._ticking: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Classroom:
        self._ticking = asyncio.create_task(self.pacer.run(), name="learners")
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._ticking is not None:
            self._ticking.cancel()
            await asyncio.wait([self._ticking])
        await asyncio.gather(*(learner.drop() for learner in self.learners), return_exceptions=True)

    def _tick_failed(self, tick: Tick, error: Exception) -> None:
        self._failures.append(error)

    async def sign_up(self, people: int) -> None:
        while len(self._people) < people:
            self._people.append(await self.house.person(len(self._people)))

    def newcomer(self, number: int) -> Learner:
        """A learner who has not joined yet; three share a person."""
        token, topic_id = self._people[number // LESSONS_PER_PERSON % len(self._people)]
        return Learner(self.house, token, topic_id, self.repertoire.room, number)

    async def fill(self, lessons: int) -> None:
        """Opens lessons until there are so many; each talks from its beginning."""
        await self.sign_up(-(-lessons // LESSONS_PER_PERSON))
        loop = asyncio.get_running_loop()
        while len(self.learners) < lessons:
            began = loop.time()
            learner = self.newcomer(len(self.learners))
            self.learners.append(learner)
            await learner.join(self.pacer)
            self.talk()
            self.answers_s.append(learner.answer_s)
            self.connects_s.append(learner.connected_s)
            await asyncio.sleep(max(0.0, began + OPEN_EVERY_S - loop.time()))

    def talk(self, *, loss: float = 0.0) -> None:
        """Everybody in rounds, out of step; `loss` is the share of packets that get lost."""
        for number, learner in enumerate(self.learners):
            rounds = self.repertoire.lossy_round if loss else self.repertoire.round
            if not learner.round:
                learner.position = int(len(rounds) * (GOLDEN * number % 1.0))
            learner.round, learner.loss, learner.microphone_on = rounds, loss, True

    def hush(self, *, microphones: bool = True) -> None:
        """Nobody talks; with `microphones` off, not a packet is sent."""
        for learner in self.learners:
            learner.round, learner.loss, learner.microphone_on = (), 0.0, microphones

    async def measure(self, seconds: float) -> Window:
        """What the server does in the next `seconds`. Raises ProcessBroken."""
        loop, server, model = asyncio.get_running_loop(), self.house.server, self.house.model
        for learner in self.learners:
            learner.arrivals.clear()
            learner.turns = 0
        scrapes = []
        began, cpu, waited, model_cpu = (
            loop.time(),
            server.cpu_s(),
            server.waited_s(),
            model.cpu_s(),
        )
        while (left := began + seconds - loop.time()) > 0:
            await asyncio.sleep(min(SCRAPE_S, left))
            server.check()
            scrapes.append(await self.house.metrics())
        took = loop.time() - began
        late: list[float] = []
        for learner in self.learners:
            late += arrivals.lateness(tuple(learner.arrivals))
        if self._failures:
            raise ProcessBroken(f"a learner failed: {self._failures[0]!r}")
        return Window(
            lessons=len(self.learners),
            seconds=took,
            server_share=(server.cpu_s() - cpu) / took,
            waited_share=(server.waited_s() - waited) / took,
            model_share=(model.cpu_s() - model_cpu) / took,
            rss_mb=server.rss_mb(),
            late=late,
            lost=sum(arrivals.lost(tuple(learner.arrivals)) for learner in self.learners),
            received=sum(len(learner.arrivals) for learner in self.learners),
            turns=sum(learner.turns for learner in self.learners),
            scrapes=scrapes,
        )

    async def asleep(self, within_s: float) -> bool:
        """Waits until no lesson holds a Live session; False when some do to the end."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        while await self.house.live_sessions():
            if loop.time() > deadline:
                return False
            await asyncio.sleep(0.5)
        return True

    def own_lateness(self) -> dict[str, Any]:
        """How late our own packets left (s): what the server's figures cannot be better than."""
        late = self.pacer.lateness
        return {"p50": late.p50, "p99": late.p99, "worst": late.worst, "restarts": late.restarts}
