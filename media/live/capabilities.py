"""What each Live model accepts on the wire: one table, looked up by model name. No I/O.

A model that no row knows gets the safest row: nothing in it is refused by any model seen so far.
Every difference between models that the code depends on is a column here and nowhere else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum

from media.live.port import LiveSetup

# Sanity bounds of the service's activity detection settings, in ms.
SILENCE_MS = range(0, 60_001)
PREFIX_MS = range(0, 10_001)
START_SENSITIVITIES = ("START_SENSITIVITY_HIGH", "START_SENSITIVITY_LOW")
END_SENSITIVITIES = ("END_SENSITIVITY_HIGH", "END_SENSITIVITY_LOW")
THINKING_LEVELS = ("MINIMAL", "LOW", "MEDIUM", "HIGH")


class Seeding(Enum):
    """How past turns enter a fresh session without being answered."""

    HISTORY = "history"  # `historyConfig` in the setup, then one completed client content
    CONTENT = "content"  # an uncompleted client content, ending with a user turn
    NONE = "none"  # not at all: the instruction alone carries agenda and turn count


class Typing(Enum):
    """How a typed learner turn is sent so that it is answered."""

    CONTENT = "content"  # client content with `turnComplete: true`
    REALTIME = "realtime"  # realtime text input


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One row of the table. A False or empty column means: never put it on the wire."""

    context_mid_session: bool = False
    typing: Typing = Typing.REALTIME
    seeding: Seeding = Seeding.NONE
    thinking_levels: tuple[str, ...] = ()
    empty_resumption: bool = False
    manual_activity: bool = False
    audio_stream_end: bool = False
    tools: bool = False
    # Audio sent while a call is unanswered closes a session of these models (1008).
    blocking_tools: bool = True


SAFEST = Capabilities()

_LIVE_3_8 = Capabilities(
    context_mid_session=True,
    typing=Typing.CONTENT,
    seeding=Seeding.HISTORY,
    empty_resumption=True,
    manual_activity=True,
    tools=True,
    blocking_tools=False,
)

# First match wins.
_TABLE: tuple[tuple[re.Pattern[str], Capabilities], ...] = (
    (
        re.compile(r"gemini-3\.8-live-extended-thinking"),
        # MINIMAL is refused by this model.
        replace(_LIVE_3_8, thinking_levels=("LOW", "MEDIUM", "HIGH")),
    ),
    (re.compile(r"gemini-3\.8-live"), _LIVE_3_8),
    (
        # Client content only as initial history (1007 later on).
        re.compile(r"gemini-3\.1-flash-live"),
        Capabilities(
            seeding=Seeding.HISTORY,
            empty_resumption=True,
            manual_activity=True,
            audio_stream_end=True,
            tools=True,
        ),
    ),
    (
        # An empty `sessionResumption` closes these with 1008.
        re.compile(r"gemini-(2\.5-flash(-preview)?-native-audio|live-2\.5-flash)"),
        Capabilities(
            context_mid_session=True,
            typing=Typing.CONTENT,
            seeding=Seeding.CONTENT,
            manual_activity=True,
            audio_stream_end=True,
            tools=True,
        ),
    ),
)


class SetupInvalid(ValueError):
    """A setup that no session can be opened with; the text lists every problem."""


def capabilities_of(model: str) -> Capabilities:
    """The row of `model` (with or without `models/`); unknown models get `SAFEST`."""
    name = model.removeprefix("models/")
    for pattern, row in _TABLE:
        if pattern.match(name):
            return row
    return SAFEST


def validated(setup: LiveSetup, row: Capabilities | None = None) -> LiveSetup:
    """`setup` reduced to what its model accepts; raises SetupInvalid when it cannot be opened.

    `row` None is the table's.
    Reduced: the thinking level (left out, or raised to the lowest accepted one: VOICE-10), manual
    activity, past turns. Refused: an empty model, unknown enums, durations out of range.
    """
    problems = []
    if not setup.model.removeprefix("models/").strip():
        problems.append("the model name is empty")
    if setup.silence_ms not in SILENCE_MS:
        problems.append(f"silence_ms {setup.silence_ms} is not within 0..{SILENCE_MS[-1]}")
    if setup.prefix_ms not in PREFIX_MS:
        problems.append(f"prefix_ms {setup.prefix_ms} is not within 0..{PREFIX_MS[-1]}")
    if setup.start_sensitivity not in START_SENSITIVITIES:
        problems.append(f"unknown start_sensitivity {setup.start_sensitivity!r}")
    if setup.end_sensitivity not in END_SENSITIVITIES:
        problems.append(f"unknown end_sensitivity {setup.end_sensitivity!r}")
    level = setup.thinking_level.upper() if setup.thinking_level else None
    if level and level not in THINKING_LEVELS:
        problems.append(f"unknown thinking_level {setup.thinking_level!r}")
    if any(seed.role not in ("user", "model") for seed in setup.seeds):
        problems.append("a seed has a role other than user or model")
    if problems:
        raise SetupInvalid("; ".join(problems))
    row = row or capabilities_of(setup.model)
    seeds = tuple(seed for seed in setup.seeds if seed.text.strip())
    return replace(
        setup,
        vad_enabled=setup.vad_enabled or not row.manual_activity,
        thinking_level=_accepted(level, row),
        seeds=() if row.seeding is Seeding.NONE or setup.handle else seeds,
    )


def _accepted(level: str | None, row: Capabilities) -> str | None:
    if level is None or not row.thinking_levels:
        return None
    return level if level in row.thinking_levels else row.thinking_levels[0]
