"""What a lesson does to its playout when the turn machine decides something."""

from __future__ import annotations

from media import turn_events as ev
from media.playout import Playout


def perform(effect: ev.Effect, playout: Playout) -> None:
    match effect:
        case ev.BeginReply(turn_id):
            playout.begin(turn_id)
        case ev.EndReply():
            playout.complete()
        case ev.Duck():
            playout.duck()
        case ev.Unduck():
            playout.unduck()
        case ev.Pause():
            playout.pause()
        case ev.Resume():
            playout.resume()
        case ev.Flush():
            playout.flush()
