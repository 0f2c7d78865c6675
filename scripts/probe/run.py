"""All groups of checks, one after the other; what cannot be reached is told as such."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence

from agent.live_token import EXTENDED_THINKING
from media.live.port import LiveClosed, LiveRefused
from scripts.probe import steering
from scripts.probe.bench import Bench
from scripts.probe.columns import columns
from scripts.probe.lesson import instruction
from scripts.probe.report import Check, Column, Report, failed, passed
from scripts.probe.tokens import NAMES as TOKEN_NAMES
from scripts.probe.tokens import tokens

Tell = Callable[[Check | Column], None]
Group = Callable[[Bench], AsyncIterator[Check]]

# Close codes that mean: not with this setup.
REFUSED_SETUP = (1007, 1008)
CAPABILITIES = "capabilities"
_GROUPS: dict[str, tuple[Sequence[str], Group]] = {
    "steering": (steering.STEERING, steering.steering),
    "signals": (steering.SIGNALS, steering.signals),
    "speech": (steering.SPOKEN, steering.spoken),
    "status": (steering.STATUS, steering.status),
    "token": (TOKEN_NAMES, tokens),
}
GROUPS = (*_GROUPS, CAPABILITIES)


def groups_of(model: str, *, with_token: bool) -> tuple[str, ...]:
    """What is probed of `model` unless somebody wants less."""
    extended = model.removeprefix("models/").startswith(EXTENDED_THINKING)
    left_out = {*(() if extended else ("status",)), *(() if with_token else ("token",))}
    return tuple(group for group in GROUPS if group not in left_out)


async def probe(bench: Bench, tell: Tell, groups: Collection[str]) -> Report:
    """The checks and columns of these groups, told as soon as they are known."""
    report = Report(bench.model, bench.base_url or "Google")

    def note(found: Check) -> None:
        report.checks.append(found)
        tell(found)

    try:
        async with bench.line(instruction()):
            note(passed("opens", "setupComplete"))
    except LiveRefused as refused:
        note(failed("opens", str(refused)))
        if refused.code not in REFUSED_SETUP:
            return report
        groups = {CAPABILITIES} & set(groups)  # which of them the setup is refused for
    for name, (names, group) in _GROUPS.items():
        if name in groups:
            async for found in _whole(names, group(bench)):
                note(found)
    if CAPABILITIES in groups:
        async for column in columns(bench):
            report.columns.append(column)
            tell(column)
    return report


async def _whole(names: Sequence[str], checks: AsyncIterator[Check]) -> AsyncIterator[Check]:
    """The group's checks; after the loss of the session, a FAIL for each that is left."""
    left = list(names)
    try:
        async for found in checks:
            left.remove(found.name)
            yield found
    except (LiveClosed, LiveRefused) as lost:
        for name in left:
            yield failed(name, f"not reached: {lost}")
