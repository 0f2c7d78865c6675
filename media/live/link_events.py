"""What a link says about itself, beside the events of the session it keeps. No I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinkUp:
    """A session is open. Only `first` is a moment for a greeting.

    `resumed`: by handle, the service remembers everything. `reseeded`: a fresh session in the
    middle of a lesson, composed from the stored state.
    """

    first: bool
    resumed: bool = False
    reseeded: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True)
class LinkDown:
    """No session for now, and the link is working on it. A running reply is lost.

    `reason` is `rotation` for a planned hand-over, otherwise close code and text.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class LinkFailed:
    """The link has given up. `code`: quota, denied, invalid, policy, setup_timeout, lost."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class LinkAsleep:
    """The socket is closed to save tokens; sound or a typed turn wakes the link."""


@dataclass(frozen=True, slots=True)
class LinkAwake:
    """Waking: a `LinkUp` or a `LinkFailed` follows."""


LinkEvent = LinkUp | LinkDown | LinkFailed | LinkAsleep | LinkAwake
