"""Tools of a Live session on the real wire: the verdict, interruptions, late results."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel

from local_gemini.faults import close, tool_call, tool_calls
from local_gemini.record import SessionRecord
from local_gemini.script import Script
from media.live.call import Step
from media.live.link import LinkDown, LinkEvent
from media.live.port import LiveEvent, ToolCall, ToolSpec, TurnComplete
from server import rtvi
from server import tool_calls as desk
from server.errands import Errands
from server.errors import Unavailable
from server.tool_calls import ToolCalls
from tests.media.live.local_lesson import Lesson, lesson
from tests.media.peers import until

HERE = {"lat": 52.5, "lon": 13.4}
SPECS = (ToolSpec("get_location", "Where the learner is."), ToolSpec("lookup", "Looks up."))


@dataclass
class Tools:
    """The bodies of both tools: what ran, with what; `go` holds them back."""

    started: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    brought: list[object] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    fails: bool = False

    async def run(self, name: str, brought: object) -> dict[str, object]:
        self.started.append(name)
        self.brought.append(brought)
        await self.go.wait()
        if self.fails:
            raise Unavailable("no")
        self.finished.append(name)
        return {"result": brought}


@dataclass
class Talk:
    here: Lesson
    calls: ToolCalls
    tools: Tools
    told: list[rtvi.ToolApproval] = field(default_factory=list)
    page: str = "ada-1"

    def tell(self, message: BaseModel) -> None:
        assert isinstance(message, rtvi.ToolApproval)
        self.told.append(message)
        self.here.changed.set()

    def say(self, status: str, *, of: str = "", by: str = "ada-1", result: object = None) -> None:
        message = {"toolCallId": of or self.told[-1].tool_call_id, "status": status}
        frame = {"t": "tool_result", "d": {**message, "result": result}}
        got = rtvi.decode(_frame(frame))
        assert isinstance(got, rtvi.Received)
        assert isinstance(got.message, rtvi.ToolResult)
        self.calls.verdict(by, got.message)

    @property
    def session(self) -> SessionRecord:
        return self.here.service.sessions[-1]

    async def asked(self, count: int = 1) -> None:
        await self.here.until(lambda: len(self.told) >= count)

    async def until(self, seen: Callable[[], object]) -> None:
        await until(seen, "the tool call goes on")


def _frame(data: object) -> str:
    return json.dumps({"label": "rtvi-ai", "type": "client-message", "id": "1", "data": data})


@asynccontextmanager
async def talking(
    script: Script, *, go: bool = True, model: str = "gemini-3.8-live"
) -> AsyncIterator[Talk]:
    tools, errands = Tools(), Errands()
    if go:
        tools.go.set()

    async def get_location(args: desk.Arguments, brought: object) -> dict[str, object]:
        return await tools.run("get_location", brought)

    async def lookup(args: desk.Arguments, brought: object) -> dict[str, object]:
        return await tools.run("lookup", brought)

    async with lesson(script, tools=SPECS, model=model) as here, asyncio.TaskGroup() as group:
        running = group.create_task(errands.run())
        talk: Talk
        calls = ToolCalls(
            {"get_location": get_location, "lookup": lookup},
            link=here.link,
            errands=errands,
            tell=lambda message: talk.tell(message),
            connection=lambda: talk.page,
            uid="u-ada",
        )
        talk = Talk(here, calls, tools)

        def live(event: LiveEvent | LinkEvent) -> None:
            if isinstance(event, LinkDown):
                calls.link_lost()
            else:
                calls.live(event)  # type: ignore[arg-type]

        here.also = live
        try:
            yield talk
        finally:
            calls.link_lost()
            errands.finish()
            await running


LOCATION = tool_call("get_location", {"precise": "no"}, call_id="c1")


@pytest.mark.req("TOOL-6", "TOOL-7", "TOOL-8", "TOOL-10", "TOOL-11", "TOOL-13")
async def test_an_approved_tool_runs_once_and_its_result_is_answered(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """T15: approve."""
    caplog.set_level(logging.INFO, "server.tool_calls")
    async with talking(Script().on("turn", LOCATION, n=1)) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        assert talk.told[0].model_dump(by_alias=True) == {
            "toolCallId": "0.c1",
            "toolName": "get_location",
            "args": {"precise": "no"},
        }
        assert talk.tools.started == []
        talk.say("approved", result=HERE)
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        assert talk.tools.finished == ["get_location"]
        (response,) = talk.session.tool_responses
        assert (response["id"], response["response"]) == ("c1", {"result": HERE})
        assert talk.calls.step("c1") is Step.ANSWERED
        assert len(talk.session.replies) == 1
    said = [(r.getMessage(), r.__dict__.get("outcome")) for r in caplog.records]
    assert said == [("tool approval asked for", None), ("tool verdict", "approved")]
    assert all(record.__dict__["uid"] == "u-ada" for record in caplog.records)
    assert "52.5" not in caplog.text


@pytest.mark.req("TOOL-7", "TOOL-14")
async def test_a_declined_tool_never_runs_and_the_model_goes_on() -> None:
    """T15: deny; the deny is final, a replayed or changed verdict does nothing."""
    async with talking(Script().on("turn", LOCATION, n=1)) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        talk.say("rejected")
        talk.say("approved", result=HERE)
        talk.say("rejected")
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        talk.say("approved", result=HERE)
        await asyncio.sleep(0.05)
        assert talk.tools.started == []
        (response,) = talk.session.tool_responses
        assert response["response"] == {"error": "not done: rejected"}
        assert talk.calls.step("c1") is Step.REJECTED
        assert len(talk.session.replies) == 1


@pytest.mark.req("TOOL-15")
async def test_nobody_says_anything_and_the_tool_does_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """T15: timeout; there is no default yes, and a yes that comes late is none."""
    monkeypatch.setattr(desk, "APPROVE_WITHIN_S", 0.05)
    async with talking(Script().on("turn", LOCATION, n=1)) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        talk.say("approved", result=HERE)
        await asyncio.sleep(0.05)
        assert talk.tools.started == []
        (response,) = talk.session.tool_responses
        assert response["response"] == {"error": "not done: expired"}
        assert talk.calls.step("c1") is Step.EXPIRED


@pytest.mark.req("TOOL-14", "TOOL-17")
async def test_only_the_connection_that_was_asked_has_a_say() -> None:
    """T15: another connection's id, an unknown call, a verdict told twice."""
    async with talking(Script().on("turn", LOCATION, n=1)) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        talk.say("approved", by="eve-1", result="elsewhere")
        talk.say("approved", by="", result="elsewhere")
        talk.say("approved", of="0.c2", result="elsewhere")
        talk.say("approved", of="c1", result="elsewhere")
        await asyncio.sleep(0.05)
        assert talk.tools.started == []
        assert talk.calls.step("c1") is Step.REQUESTED
        talk.say("approved", result=HERE)
        talk.say("approved", result="elsewhere")
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        talk.say("approved", result="elsewhere")
        await asyncio.sleep(0.05)
        assert talk.tools.brought == [HERE]
        assert len(talk.session.tool_responses) == 1


@pytest.mark.req("TOOL-15", "TOOL-17")
async def test_whoever_was_asked_and_left_has_not_said_yes() -> None:
    """T15: the page that was asked is gone; its successor cannot answer for it."""
    async with talking(Script().on("turn", LOCATION, n=1)) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        talk.calls.left("somebody else")
        assert talk.calls.step("c1") is Step.REQUESTED
        talk.calls.left("ada-1")
        talk.page = "ada-2"
        talk.say("approved", by="ada-2", result=HERE)
        talk.say("approved", by="ada-1", result=HERE)
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        assert talk.tools.started == []
        assert talk.session.tool_responses[0]["response"] == {"error": "not done: expired"}


async def test_nobody_there_means_no() -> None:
    async with talking(Script().on("turn", LOCATION, n=1)) as talk:
        talk.page = ""
        talk.here.link.prompt("Where am I?")
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        assert (talk.told, talk.tools.started) == ([], [])
        (response,) = talk.session.tool_responses
        assert response["response"] == {"error": "nobody is there to allow it"}


@pytest.mark.req("TOOL-9")
async def test_other_tools_run_at_once_and_unknown_ones_are_refused() -> None:
    calls = [{"id": "c1", "name": "lookup", "args": {}}, {"id": "c2", "name": "rm", "args": {}}]
    async with talking(Script().on("turn", tool_calls(calls), n=1)) as talk:
        talk.here.link.prompt("Look it up.")
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        assert (talk.told, talk.tools.finished) == ([], ["lookup"])
        told = {one["id"]: one["response"] for one in talk.session.tool_responses}
        assert told == {"c1": {"result": None}, "c2": {"error": "there is no tool rm"}}


async def test_a_tool_that_fails_is_an_answer_too() -> None:
    async with talking(Script().on("turn", tool_call("lookup", call_id="c1"), n=1)) as talk:
        talk.tools.fails = True
        talk.here.link.prompt("Look it up.")
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        assert talk.session.tool_responses[0]["response"] == {"error": "the tool failed"}
        assert talk.calls.step("c1") is Step.FAILED


async def test_a_tool_that_hangs_is_ended_by_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """T16: no call stays in progress for the rest of the session."""
    monkeypatch.setattr(desk, "RUN_WITHIN_S", 0.05)
    script = Script().on("turn", tool_call("lookup", call_id="c1"), n=1)
    async with talking(script, go=False) as talk:
        talk.here.link.prompt("Look it up.")
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        assert talk.calls.step("c1") is Step.FAILED
        assert talk.tools.finished == []


@pytest.mark.parametrize("step", [Step.REQUESTED, Step.APPROVED, Step.RUNNING])
@pytest.mark.parametrize("model", ["gemini-3.8-live", "gemini-3.1-flash-live-preview"])
async def test_an_interrupted_call_ends_and_its_result_is_never_sent(
    step: Step, model: str
) -> None:
    """T16: the learner goes on at each step of the call's life, and is answered once."""
    script = Script().on("turn", LOCATION, n=1)
    async with talking(script, go=False, model=model) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        if step is not Step.REQUESTED:
            talk.say("approved", result=HERE)
        if step is Step.RUNNING:
            await talk.until(lambda: talk.tools.started)
        assert talk.calls.step("c1") is step
        if step is Step.APPROVED:
            talk.calls.superseded()  # in the very turn of the loop in which the yes came
            assert talk.calls.step("c1") is Step.SUPERSEDED
        talk.here.link.prompt("Never mind. What is a cell?")
        await talk.until(lambda: talk.calls.step("c1") in (Step.SUPERSEDED, Step.WITHDRAWN))
        talk.tools.go.set()
        if step is Step.REQUESTED:
            talk.say("approved", result=HERE)
        await talk.until(lambda: talk.session.replies and talk.session.replies[-1].complete)
        assert talk.tools.started == (["get_location"] if step is Step.RUNNING else [])
        assert talk.tools.finished == []
        assert talk.session.tool_responses == []
        answered = [reply.learner for reply in talk.session.replies if reply.complete]
        assert answered == ["Never mind. What is a cell?"]
        assert not talk.here.link.stats.calls_expired


async def test_an_answered_call_is_not_taken_back() -> None:
    """T16: interrupted after the answer; the last step."""
    async with talking(Script().on("turn", LOCATION, n=1)) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        talk.say("approved", result=HERE)
        await talk.until(lambda: talk.session.tool_responses)
        talk.calls.superseded()
        talk.here.link.prompt("And now?")
        await talk.until(lambda: talk.session.replies[-1].learner == "And now?")
        await talk.until(lambda: talk.session.replies[-1].complete)
        assert talk.calls.step("c1") is Step.ANSWERED
        assert len(talk.session.tool_responses) == 1


async def test_a_call_dies_with_its_session_and_its_id_may_come_again() -> None:
    """T16, T17: the session is lost while the learner is asked; an old yes allows nothing new."""
    script = Script().on("turn", tool_call("get_location", call_id="c1", wait=False), n=1)
    script.on("turn_complete", close(1011, "internal"), session=1, n=1)
    script.on("turn", tool_call("get_location", {"again": "yes"}, call_id="c1"), session=2, n=1)
    async with talking(script) as talk:
        talk.here.link.prompt("Where am I?")
        await talk.asked()
        old = talk.told[0].tool_call_id
        await talk.here.until(lambda: talk.here.of(LinkDown))
        talk.here.link.prompt("Once more?")
        await talk.asked(2)
        talk.say("approved", of=old, result="stale")
        await asyncio.sleep(0.05)
        assert talk.tools.started == []
        talk.say("approved", result=HERE)
        await talk.until(lambda: talk.session.tool_responses)
        assert talk.tools.brought == [HERE]


async def test_a_call_that_comes_twice_is_answered_once_and_a_late_result_not_at_all() -> None:
    """T17: exactly one response per call and one reply per turn."""
    twice = tool_call("lookup", call_id="c1", wait=False)
    script = Script().on("turn", twice, n=1).on("turn", twice, n=1)
    script.on("turn", tool_call("lookup", call_id="c2", wait=False), n=2)
    async with talking(script) as talk:
        talk.here.link.prompt("Look it up.")
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        await talk.until(lambda: talk.session.tool_responses)
        assert len(talk.here.of(ToolCall)) == 2
        assert talk.tools.finished == ["lookup"]
        talk.tools.go.clear()
        talk.here.link.prompt("And this.")
        await talk.here.until(lambda: len(talk.here.of(TurnComplete)) == 2)
        assert talk.calls.step("c2") is Step.RUNNING
        talk.calls.superseded()  # the learner's next turn begins
        talk.here.link.prompt("Something else.")
        talk.tools.go.set()
        await talk.here.until(lambda: len(talk.here.of(TurnComplete)) == 3)
        assert [one["id"] for one in talk.session.tool_responses] == ["c1"]
        assert [reply.learner for reply in talk.session.replies] == [
            "Look it up.",
            "And this.",
            "Something else.",
        ]


async def test_a_flood_of_calls_is_bounded() -> None:
    calls = [{"id": f"c{n}", "name": "lookup", "args": {}} for n in range(desk.OPEN_MAX + 2)]
    async with talking(Script().on("turn", tool_calls(calls), n=1), go=False) as talk:
        talk.here.link.prompt("Look it all up.")
        await talk.here.until(lambda: talk.here.of(ToolCall))
        await talk.until(lambda: len(talk.session.tool_responses) == 2)
        assert len(talk.tools.started) == desk.OPEN_MAX
        talk.tools.go.set()
        await talk.here.until(lambda: talk.here.of(TurnComplete))
        assert len(talk.session.tool_responses) == desk.OPEN_MAX + 2
