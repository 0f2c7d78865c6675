"""Why a lesson ended, in words that a learner can act on. Data only."""

from __future__ import annotations

STYLE_STOPS_VOICE = "Voice stopped to apply the new style. Tap the mic to continue."

CLOSED_TEXT = {
    "stopped": "Voice is off.",
    "replaced": "This conversation goes on in another window.",
    "peer-lost": "The connection was lost. Tap the mic to continue.",
    "session-limit": "This voice session has reached its time limit. Tap the mic to continue.",
    "turn-tracking": "Voice lost turn tracking. Start voice again.",
    "idle": "Voice paused after a long silence. Tap the mic to continue.",
    "style": STYLE_STOPS_VOICE,
    "access": "Your access has changed. Please reload the page.",
    "signed-out": "You have signed out.",
    "session-closed": "This conversation was closed elsewhere.",
    "live-unavailable": "The voice service cannot be reached right now. You can go on by typing.",
    "ended": "An admin has ended this voice session. Tap the mic to continue.",
    "shutdown": "The server restarts. Tap the mic in a moment to continue.",
    "internal": "Something went wrong on our side. Tap the mic to continue.",
}

# Why the Live service could not be had.
LIVE_FAILED_TEXT = {
    "quota": "The voice service is over its limit right now. You can go on by typing.",
    "setup_timeout": "The voice service did not answer in time. Tap the mic to try again.",
}
