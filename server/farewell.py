"""Why a lesson ended, in words that a learner can act on. Data only."""

from __future__ import annotations

# A new style while voice is on (VOICE-54): the lesson goes on.
STYLE_NEXT = "Style changes apply from the next reply."

CLOSED_TEXT = {
    "stopped": "Voice is off.",
    "superseded": "You have started another voice lesson. Tap the mic to continue this one.",
    "replaced": "This conversation goes on in another window.",
    "peer-lost": "The connection was lost. Tap the mic to continue.",
    "session-limit": "This voice session has reached its time limit. Tap the mic to continue.",
    "turn-tracking": "Voice lost turn tracking. Start voice again.",
    "idle": "Voice paused after a long silence. Tap the mic to continue.",
    "access": "Your access has changed. Please reload the page.",
    "signed-out": "You have signed out.",
    "session-closed": "This conversation was closed elsewhere.",
    "ended": "An admin has ended this voice session. Tap the mic to continue.",
    "shutdown": "The server restarts. Tap the mic in a moment to continue.",
    "internal": "Something went wrong on our side. Tap the mic to continue.",
}
