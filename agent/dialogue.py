"""Settles a decision against the stored state of the lesson. Pure (AGND, OBS-3 to OBS-17)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agent.agenda import (
    Coverage,
    cover,
    drifts,
    establish,
    is_complete,
    labels_of,
    remaining,
)
from agent.context_update import compose_context_update
from agent.decision import Decision, Mode
from agent.tiers import TierCaps
from agent.topic import Grounded

# Progress beyond agenda and coverage is kept while it stays small (characters of JSON).
EXTRA_CHARS = 4_000
_OWN_KEYS = ("agenda", "coveredAngles")


@dataclass(frozen=True, slots=True)
class MoveRequest:
    """One turn to decide on.

    `reveal_state` is what the model is shown (see `shown_state`), `learner_turns` the stored turns
    with learner words, `recent` the last exchanges as (speaker, text) with speaker `learner` or
    `tutor`, oldest first. A non-blank `tutor_reply` means observer mode: it was already spoken.
    """

    topic: Grounded
    topic_id: str
    grounded_at: datetime
    style: str
    reveal_state: dict[str, Any]
    learner_turns: int
    utterance: str
    tutor_reply: str | None
    tutor_interrupted: bool
    model: str
    thinking_level: str
    recent: tuple[tuple[str, str], ...] = ()

    @property
    def observing(self) -> bool:
        return bool(self.tutor_reply and self.tutor_reply.strip())


@dataclass(frozen=True, slots=True)
class Settled:
    """What is stored and answered. `text` is what the learner got: the spoken reply if any.

    `unmatched` are reported labels that fit no point; `drifted` asks for a drift log entry,
    `gated` for `conclude_gated`. `complete`: every point is covered.
    """

    mode: Mode
    text: str
    reveal_state: dict[str, Any]
    discrepancy_flagged: bool
    gated: bool
    drifted: bool
    context_update: str | None
    unmatched: tuple[str, ...] = ()
    complete: bool = False
    remaining: tuple[str, ...] = field(default=())


def shown_state(stored: Mapping[str, Any], topic: Grounded, tier_caps: TierCaps) -> dict[str, Any]:
    """The stored state with its canonical agenda, as the model and a fresh client see it."""
    agenda = _canonical(stored, topic, None, tier_caps)
    coverage = _coverage(agenda, stored, None)
    return {**_extras(stored, {}), "agenda": list(agenda), "coveredAngles": list(coverage.covered)}


def settle(
    request: MoveRequest,
    decision: Decision,
    stored_state: Mapping[str, Any],
    topic: Grounded,
    tier_caps: TierCaps,
    enforce: bool,
    *,
    refreshed_digest: str | None = None,
) -> Settled:
    """Applies agenda, coverage and gate; a client's reveal state is never consulted (AGND-12)."""
    reported = decision.updated_reveal_state
    agenda = _canonical(stored_state, topic, reported.get("agenda"), tier_caps)
    coverage = _coverage(agenda, stored_state, reported.get("coveredAngles"))
    left = remaining(agenda, coverage.covered)
    gated = enforce and decision.mode == "conclude" and bool(left)
    mode: Mode = "probe" if gated else decision.mode
    update = None
    text = decision.text
    if request.observing and request.tutor_reply is not None:
        text = request.tutor_reply.strip()
        update = compose_context_update(
            mode=mode,
            note=decision.text,
            agenda=agenda,
            covered=coverage.covered,
            concluded=mode == "conclude",
            gated=gated,
            refreshed_digest=refreshed_digest,
        )
    return Settled(
        mode=mode,
        text=text,
        reveal_state={
            **_extras(stored_state, reported),
            "agenda": list(agenda),
            "coveredAngles": list(coverage.covered),
        },
        discrepancy_flagged=decision.discrepancy_flagged,
        gated=gated,
        drifted=drifts(agenda, reported.get("agenda")) or bool(coverage.unmatched),
        context_update=update,
        unmatched=coverage.unmatched,
        complete=is_complete(agenda, coverage.covered),
        remaining=left,
    )


def _canonical(
    stored: Mapping[str, Any], topic: Grounded, reported: object, caps: TierCaps
) -> tuple[str, ...]:
    """The stored agenda verbatim, else the one this first decision establishes (AGND-1/2)."""
    kept = stored.get("agenda")
    if isinstance(kept, (list, tuple)):
        labels = tuple(dict.fromkeys(label for label in kept if isinstance(label, str) and label))
        if labels:
            return labels
    return establish(topic.titles, reported, caps.agenda_max)


def _coverage(agenda: tuple[str, ...], stored: Mapping[str, Any], reported: object) -> Coverage:
    before = labels_of(stored.get("coveredAngles"))
    if not agenda:
        # Data from before there were agendas: nothing to map to, nothing to lose (AGND-11).
        return Coverage(before, labels_of(reported))
    return cover(agenda, before, reported)


def _extras(stored: Mapping[str, Any], reported: Mapping[str, Any]) -> dict[str, Any]:
    """Other progress: the stored keys overlaid by the reported ones, bounded."""
    old = {key: value for key, value in stored.items() if key not in _OWN_KEYS}
    new = old | {key: value for key, value in reported.items() if key not in _OWN_KEYS}
    return new if len(json.dumps(new, default=str)) <= EXTRA_CHARS else old
