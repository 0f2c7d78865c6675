"""The deterministic tutor of the local engine: outlines texts, walks agendas, judges coverage."""

from local_gemini.brain.generate import LocalBrain
from local_gemini.brain.remote import RemoteModel

__all__ = ["LocalBrain", "RemoteModel"]
