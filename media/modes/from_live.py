"""What a Live session says, in the words of the machine for agent-made replies. Sound and calls are
left out: what becomes of them depends on more than the message. Pure."""

from __future__ import annotations

from media import turn_events as ev
from media.live import port
from media.modes import agent_events as ag


def event_of(event: port.LiveEvent, at: float) -> ag.AgentEvent | None:
    """None for what means nothing to the machine."""
    match event:
        case port.Interrupted():
            return ev.ReplyInterrupted(at)
        case port.ReplyText(text=text) | port.PlainText(text=text):
            return ev.TutorWords(at, text)
        case port.LearnerText(text=text, finished=finished, interim=interim):
            return ev.LearnerWords(at, text, finished, interim)
        case port.Activity(started=started):
            return ag.Activity(at, started)
        case port.GenerationComplete():
            return ev.GenerationCompleted(at)
        case port.TurnComplete(interaction=interaction, reason=reason):
            return ev.TurnCompleted(at, interaction is port.Interaction.IN_PROGRESS, reason)
        case port.ToolCancelled(call_ids=call_ids):
            return ag.CallsCancelled(at, call_ids)
    return None
