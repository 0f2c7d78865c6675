"""The stages of a run, in an order that lets one wait for another: what is done, never judged."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import barge, repair, sound
from bench.arrivals import Yielding
from bench.classroom import Classroom, Window
from bench.house import House, house, start_with_local_speech
from bench.machine import Cores
from bench.process import prefer

# From the opening of lessons to a steady mix of talking, replying and silence.
SETTLE_S = 10.0
LOSS, LOSS_SETTLE_S = 0.03, 6.0
BARGE_LESSONS, BARGE_TIMES = 8, 3
# The product sleeps after 30 s of silence; the replies and the hold come before it.
ASLEEP_WITHIN_S = 70.0
VANISHED, VANISHED_WITHIN_S = 3, 12.0
# A lesson closes within 3 s of its goodbye; the bookkeeping has 10 s more.
GONE_WITHIN_S = 20.0
CHURN_AT_ONCE = 4
POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Options:
    """`lessons` ascending; `seconds` of each window; `sessions` opened and closed in a row."""

    lessons: tuple[int, ...] = (1, 8, 32)
    seconds: float = 20.0
    quick: bool = False
    sessions: int = 200

    @property
    def settle_s(self) -> float:
        return SETTLE_S / 2 if self.quick else SETTLE_S


@dataclass(frozen=True, slots=True)
class Held:
    """What the process holds at a moment."""

    opened: int
    rss_mb: float
    descriptors: int
    threads: int


@dataclass
class Findings:
    """Everything measured; None and empty where a stage was left out."""

    preferred: bool = False
    started_s: float = 0.0
    local_started_s: float | None = None
    idle_share: float = 0.0
    idle_rss_mb: float = 0.0
    windows: list[Window] = field(default_factory=list)
    lossy: Window | None = None
    asleep: Window | None = None
    muted: Window | None = None
    answers_s: list[float] = field(default_factory=list)
    connects_s: list[float] = field(default_factory=list)
    yieldings: list[Yielding] = field(default_factory=list)
    standing: dict[str, repair.Standing] = field(default_factory=dict)
    vanished_s: list[float] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    left_over: float | None = None
    complaints: dict[str, int] = field(default_factory=dict)
    learners: dict[str, Any] = field(default_factory=dict)


def say(text: str) -> None:
    sys.stderr.write(f"bench: {text}\n")
    sys.stderr.flush()


async def run(options: Options, cores: Cores, command: tuple[str, ...] = ()) -> Findings:
    """The whole run. Raises ProcessBroken, and whatever breaks a run. `command` as in `house`."""
    found = Findings(preferred=prefer(os.getpid()))
    os.sched_setaffinity(0, cores.others)
    say("making the learners' speech (once per machine)")
    repertoire = await asyncio.to_thread(sound.repertoire)
    with tempfile.TemporaryDirectory(prefix="pidjin-bench-") as folder:
        async with house(cores, Path(folder), command) as home:
            found.started_s = home.started_s
            say(f"server {home.server.pid} ready after {home.started_s:.2f} s")
            async with Classroom(home, repertoire) as classroom:
                await _idle(home, found)
                await _lessons(options, classroom, found)
                await _silence(options, classroom, found)
                await _vanish(home, classroom, found)
                await _churn(options, home, classroom, found)
            found.complaints = dict(home.watch.complaints)
        if not options.quick:
            say("start with the local speech models")
            found.local_started_s = await start_with_local_speech(cores, Path(folder))
    return found


async def _idle(home: House, found: Findings) -> None:
    began, cpu = time.monotonic(), home.server.cpu_s()
    await asyncio.sleep(2.0)
    found.idle_share = (home.server.cpu_s() - cpu) / (time.monotonic() - began)
    found.idle_rss_mb = home.server.rss_mb()


async def _lessons(options: Options, classroom: Classroom, found: Findings) -> None:
    measured_loss = False
    for number, lessons in enumerate(options.lessons):
        last = number == len(options.lessons) - 1
        say(f"{lessons} lesson(s): opening")
        await classroom.fill(lessons)
        await asyncio.sleep(options.settle_s)
        say(f"{lessons} lesson(s): measuring {options.seconds:g} s")
        found.windows.append(await classroom.measure(options.seconds))
        found.learners[str(lessons)] = classroom.own_lateness()
        if not measured_loss and (lessons >= BARGE_LESSONS or last):
            measured_loss = True
            await _loss(options, classroom, found)
            await _barge(options, classroom, found)
            classroom.talk()
    found.answers_s, found.connects_s = classroom.answers_s, classroom.connects_s


async def _loss(options: Options, classroom: Classroom, found: Findings) -> None:
    say(f"{LOSS:.0%} of the microphone's packets lost")
    classroom.talk(loss=LOSS)
    await asyncio.sleep(LOSS_SETTLE_S / 2 if options.quick else LOSS_SETTLE_S)
    found.lossy = await classroom.measure(options.seconds / 2)


async def _barge(options: Options, classroom: Classroom, found: Findings) -> None:
    say("talking over the tutor")
    classroom.hush()
    some = classroom.learners[:BARGE_LESSONS]
    times = 1 if options.quick else BARGE_TIMES
    async with asyncio.TaskGroup() as group:
        runs = [
            group.create_task(barge.interrupt(learner, classroom.repertoire, times, seed))
            for seed, learner in enumerate(some)
        ]
    for task in runs:
        found.yieldings += task.result()


async def _silence(options: Options, classroom: Classroom, found: Findings) -> None:
    """While the lessons fall asleep, there is time for what needs none."""
    classroom.hush()
    say("delay after loss, two peers in one process")
    found.standing = await repair.standing_delays(classroom.repertoire.round)
    if options.quick:
        return
    say("waiting for the lessons to fall asleep")
    if await classroom.asleep(ASLEEP_WITHIN_S):
        found.asleep = await classroom.measure(options.seconds / 2)
        classroom.hush(microphones=False)
        await asyncio.sleep(1.0)
        found.muted = await classroom.measure(options.seconds / 2)
        classroom.hush()


async def _vanish(home: House, classroom: Classroom, found: Findings) -> None:
    say("learners vanish")
    loop = asyncio.get_running_loop()
    gone = classroom.learners[-VANISHED:]
    for learner in gone:
        learner.vanish()
    at = loop.time()
    wanted = {learner.peer_id for learner in gone}
    for _ in range(int(VANISHED_WITHIN_S / POLL_S)):
        if wanted <= home.watch.lost_at.keys():
            break
        await asyncio.sleep(POLL_S)
    found.vanished_s = [
        home.watch.lost_at.get(peer_id, float("inf")) - at for peer_id in sorted(wanted)
    ]
    for learner in gone:
        await learner.leave()  # on behalf of the dead: nobody comes back for these lessons
    del classroom.learners[-VANISHED:]


async def _churn(options: Options, home: House, classroom: Classroom, found: Findings) -> None:
    say(f"{options.sessions} sessions opened and closed")
    await asyncio.gather(*(learner.leave() for learner in classroom.learners))
    classroom.learners.clear()
    await _empty(home)
    warm = max(CHURN_AT_ONCE, options.sessions // 5 // CHURN_AT_ONCE * CHURN_AT_ONCE)
    for opened in range(0, options.sessions, CHURN_AT_ONCE):
        if opened == warm:
            found.held.append(await _held(home, opened))
        visitors = [classroom.newcomer(opened + n) for n in range(CHURN_AT_ONCE)]
        classroom.learners.extend(visitors)
        await asyncio.gather(*(visitor.join(classroom.pacer) for visitor in visitors))
        await asyncio.gather(*(visitor.leave() for visitor in visitors))
        classroom.learners.clear()
    found.left_over = await _empty(home)
    found.held.append(await _held(home, options.sessions))


async def _empty(home: House) -> float:
    """Waits until no lesson is left; returns how many are."""
    left = 0.0
    for _ in range(int(GONE_WITHIN_S / POLL_S)):
        left = (await home.metrics()).get("pidjin_lessons", 0.0)
        if not left:
            break
        await asyncio.sleep(POLL_S)
    return left


async def _held(home: House, opened: int) -> Held:
    await _empty(home)
    await asyncio.sleep(1.0)  # sockets that linger for a close frame
    server = home.server
    return Held(opened, server.rss_mb(), server.descriptors(), server.threads())
