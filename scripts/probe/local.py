"""The local tutor as the model under test, in this process: what CI probes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from local_gemini.brain import LocalBrain
from local_gemini.engine import Engine
from local_gemini.scripted import HashEmbedder, ScriptedEngine, tone
from local_gemini.server import LocalGemini
from scripts.probe.bench import Bench, Patience

# Replies last seconds; the double plays them faster, but slow enough to be interrupted.
SPEED = 6.0
PATIENCE = Patience(quiet_s=1.0, answer_s=20.0, grace_s=0.5, pace=20.0)


def engine() -> tuple[Engine, bytes | None]:
    """The local tutor and a spoken question; without speech models a tone for both voices."""
    from local_gemini.speech import SpeechMissing, local_engine
    from scripts.probe.recording import local_voice

    try:
        return local_engine(), local_voice(16_000)
    except SpeechMissing:
        scripted = ScriptedEngine(speech=lambda text: tone(len(text.split()) * 250))
        scripted.brain = LocalBrain(HashEmbedder())
        return scripted, tone(1500, rate=16_000)


@asynccontextmanager
async def local_bench(model: str) -> AsyncIterator[Bench]:
    tutor, speech = engine()
    async with LocalGemini(tutor, speed=SPEED, recorded=False) as house:
        yield Bench(
            model,
            api_key=lambda: "local",
            base_url=house.base_url,
            ssl_context=house.ssl_context,
            patience=PATIENCE,
            speech=speech,
        )
