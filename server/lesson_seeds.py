"""What a fresh Live session is told of a lesson that runs: the stored turns, and those that are
still on their way into the store. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from media.live.port import LiveSetup, Seed
from server.exchanges import Exchange


def with_unsaved(setup: LiveSetup, unsaved: Sequence[Exchange]) -> LiveSetup:
    """`setup` followed by the exchanges (oldest first) that were not stored when it was made."""
    said = [(Seed("user", one.learner), Seed("model", one.tutor)) for one in unsaved]
    stored = next(
        count
        for count in range(len(said), -1, -1)
        if setup.seeds[len(setup.seeds) - 2 * count :] == _flat(said[:count])
    )
    return replace(setup, seeds=setup.seeds + _flat(said[stored:]))


def _flat(pairs: Sequence[tuple[Seed, Seed]]) -> tuple[Seed, ...]:
    return tuple(seed for pair in pairs for seed in pair)
