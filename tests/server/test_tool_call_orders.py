"""Tool calls in any order of calls, verdicts, interruptions and losses: the promises hold."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from media.live.port import Interrupted, ToolCall, ToolCancelled
from server import rtvi
from server.errands import Errands
from server.tool_calls import APPROVE_WITHIN_S, OPEN_MAX, RUN_WITHIN_S, Arguments, ToolCalls
from tests.virtual_time import run_virtual

PAGES = ("ada-1", "ada-2", "eve-1")
_IDS = st.sampled_from(["a", "b"])
_CALL = st.tuples(
    st.just("call"), _IDS, st.sampled_from(["asks", "asks", "free", "slow", "unknown"])
)
_VERDICT = st.tuples(st.just("verdict"), _IDS, st.sampled_from(PAGES), st.booleans())
_ACTS = st.lists(
    st.tuples(
        st.one_of(
            _CALL,
            _CALL,
            _VERDICT,
            _VERDICT,
            _VERDICT,
            st.tuples(st.just("cancel"), _IDS),
            st.tuples(st.sampled_from(["interrupt", "lost", "left", "away", "back"])),
        ),
        st.sampled_from([0.0, 0.0, 0.01, 3.0, 30.0]),
    ),
    max_size=30,
)


@dataclass
class Desk:
    """The link and the page at once; `yes` are the calls that the asked page has allowed."""

    page: str = PAGES[0]
    session: int = 0
    answered: Counter[tuple[int, str]] = field(default_factory=Counter)
    made: Counter[tuple[int, str]] = field(default_factory=Counter)
    asked: dict[str, str] = field(default_factory=dict)
    yes: Counter[str] = field(default_factory=Counter)
    ran: Counter[str] = field(default_factory=Counter)
    going: int = 0

    def answer(self, call_id: str, response: dict[str, object]) -> bool:
        self.answered[self.session, call_id] += 1
        return True

    def withdraw(self, call_id: str) -> None:
        """Nothing is sent."""

    def tell(self, message: object) -> None:
        assert isinstance(message, rtvi.ToolApproval)
        self.asked[message.tool_call_id] = self.page

    async def body(self, args: Arguments, brought: object) -> dict[str, object]:
        """`asks`: the key of the call comes back with its yes, so that one is told from another."""
        self.ran[str(brought)] += 1
        self.going += 1
        try:
            await asyncio.sleep(1.0)
        finally:
            self.going -= 1
        return {}

    async def slow(self, args: Arguments, brought: object) -> dict[str, object]:
        await asyncio.sleep(10 * RUN_WITHIN_S)
        return {}


def act(desk: Desk, calls: ToolCalls, what: tuple[object, ...]) -> None:
    match what:
        case ("call", str() as call_id, str() as name):
            desk.made[desk.session, call_id] += 1
            calls.live(ToolCall(call_id, name, {}))
        case ("verdict", str() as call_id, str() as page, bool() as approved):
            key = f"{desk.session}.{call_id}"
            if desk.asked.get(key) == page and approved:
                desk.yes[key] += 1
            status = "approved" if approved else "rejected"
            calls.verdict(
                page,
                rtvi.ToolResult(tool_call_id=key, status=status, result=key),  # type: ignore[arg-type]
            )
        case ("cancel", str() as call_id):
            calls.live(ToolCancelled((call_id,)))
        case ("interrupt",):
            calls.live(Interrupted())
        case ("lost",):
            calls.link_lost()
            desk.session += 1
        case ("left",):
            calls.left(desk.page)
            desk.page = PAGES[1]
        case ("away",):
            desk.page = ""
        case ("back",):
            desk.page = PAGES[1]


@pytest.mark.req("TOOL-5", "TOOL-9", "TOOL-14", "TOOL-15", "TOOL-17", "TOOL-19")
@settings(max_examples=300, deadline=None)
@given(_ACTS)
def test_no_order_runs_what_nobody_allowed_or_answers_twice(
    acts: list[tuple[tuple[object, ...], float]],
) -> None:
    """T15, T16, T17: whatever comes in whatever order, also the same ids in the next session."""

    async def main() -> None:
        desk, errands = Desk(), Errands()
        running = asyncio.create_task(errands.run())
        await asyncio.sleep(0)
        calls = ToolCalls(
            {"free": desk.body, "asks": desk.body, "slow": desk.slow},
            link=desk,
            errands=errands,
            tell=desk.tell,
            connection=lambda: desk.page,
            uid="u",
            requiring_approval=frozenset({"asks"}),
        )
        for what, wait in acts:
            act(desk, calls, what)
            await asyncio.sleep(wait)
            assert desk.going <= OPEN_MAX
        await asyncio.sleep(APPROVE_WITHIN_S + RUN_WITHIN_S + 1)
        # Whatever was asked with a yes ran at most once; without one, never.
        allowed = {key: count for key, count in desk.ran.items() if key != "None"}
        assert all(count == 1 and desk.yes[key] for key, count in allowed.items())
        # Every call ends, by itself, and is answered once at most.
        for session, call_id in desk.made:
            if session == desk.session:
                step = calls.step(call_id)
                assert step is None or step.final
        refused_again = desk.made - Counter(dict.fromkeys(desk.made, 1))
        assert all(count <= 1 + refused_again[key] for key, count in desk.answered.items())
        assert desk.going == 0
        calls.link_lost()
        errands.finish()
        await running

    run_virtual(main())
