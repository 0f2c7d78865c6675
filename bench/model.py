"""`python -m bench.model CERTIFICATE REPLY`: the scripted Gemini API in a process of its own.

A long utterance is answered in speech, a short one with a steady tone, whose level shows at once
when it is ducked. A line on stdin asks for the number of open Live sessions.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from bench import sound
from local_gemini.scripted import ScriptedEngine, tone
from local_gemini.server import LocalGemini

BYTES_PER_S = 16_000 * 2
SHORT_S = 4.5
TONE_MS = 8_000
LONG_WORDS, SHORT_WORDS = "I think it has to do with the light.", "Please hum."
HUM = "Hum for a while, so that it can be heard."


def transcribe(pcm16k: bytes) -> str:
    return LONG_WORDS if len(pcm16k) > SHORT_S * BYTES_PER_S else SHORT_WORDS


def replies(learner: str) -> list[str]:
    return list(sound.REPLY) if learner == LONG_WORDS else [HUM]


def engine(reply: bytes) -> ScriptedEngine:
    """`reply`: PCM16 24 kHz of the whole spoken reply, shared out evenly to its sentences."""
    size = len(reply) // len(sound.REPLY) // 2 * 2
    said = {text: reply[n * size : (n + 1) * size] for n, text in enumerate(sound.REPLY)}
    return ScriptedEngine(transcribe, replies, speech=lambda text: said.get(text) or tone(TONE_MS))


async def serve(certificate: Path, reply: bytes) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with LocalGemini(engine(reply), recorded=False) as local:
        await asyncio.to_thread(certificate.write_text, local.certificate_pem)
        _say({"url": local.base_url})
        loop.add_reader(sys.stdin.fileno(), lambda: _asked(local, stop))
        await stop.wait()
        loop.remove_reader(sys.stdin.fileno())


def _asked(local: LocalGemini, stop: asyncio.Event) -> None:
    if sys.stdin.readline():
        _say({"live": local.house.live})
    else:  # whoever started it is gone
        stop.set()


def _say(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), Path(sys.argv[2]).read_bytes()))
