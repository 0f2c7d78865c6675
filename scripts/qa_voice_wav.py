"""Speaks a recording into a running Pidjin, as a learner with an open microphone would, or, with
--push-to-talk, one who holds the Space key.

    PIDJIN_DEV_TOKEN=… python scripts/qa_voice_wav.py http://127.0.0.1:8080 --wav question.wav

Checks that the microphone is taken (sound leaves the gate while the recording plays) and released
(nothing leaves it afterwards), that the words are understood, answered in sound, and stored. Needs
the bearer of an approved person: --token, or PIDJIN_DEV_TOKEN as the server has it. Without --wav
the local voice asks. What the key means is decided by the client's own module, in Node. Exit codes:
0 all holds, 1 a check failed, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.probe.recording import RecordingInvalid, local_voice, read_wav
from scripts.qa.acceptance import Call, accept, accept_held
from scripts.qa.caller import Caller, CallFailed
from scripts.qa.microphone import RATE

EXIT_FAILED, EXIT_USAGE = 1, 2
QUESTION = "A vaccine shows the immune system a harmless piece of a germ."


def options_of(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="qa_voice_wav.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("url", help="where the server runs, such as http://127.0.0.1:8080")
    parser.add_argument("--wav", type=Path, help="what is said: PCM16 WAV, any rate")
    parser.add_argument("--token", help="bearer of an approved person (PIDJIN_DEV_TOKEN)")
    parser.add_argument("--topic", help="topicId of the lesson; default: a short text is grounded")
    parser.add_argument("--push-to-talk", action="store_true", help="hold Space while it plays")
    return parser.parse_args(argv)


def recording(options: argparse.Namespace) -> bytes:
    """PCM16 mono 48 kHz. Raises RecordingInvalid, OSError."""
    if options.wav:
        return read_wav(options.wav, RATE)
    spoken = local_voice(RATE, QUESTION)
    if spoken is None:
        raise RecordingInvalid("the local voice is not installed: give a recording with --wav")
    return spoken


async def run(
    url: str, token: str, topic: str | None, pcm48k: bytes, *, push_to_talk: bool = False
) -> bool:
    """Prints each check as it is known. Raises CallFailed."""
    good, checks = True, accept_held if push_to_talk else accept
    async with Caller(url, token) as caller, Call(caller, topic) as call:
        async for name, held, told in checks(call, pcm48k):
            print(f"{'pass' if held else 'FAIL'}  {name:12} {told}".rstrip(), flush=True)
            good = good and held
    return good


def main(argv: Sequence[str] | None = None) -> int:
    options = options_of(argv)
    token = options.token or os.environ.get("PIDJIN_DEV_TOKEN", "")
    if not token:
        print("qa_voice_wav: give a bearer with --token or PIDJIN_DEV_TOKEN", file=sys.stderr)
        return EXIT_USAGE
    try:
        pcm = recording(options)
    except (RecordingInvalid, OSError) as error:
        print(f"qa_voice_wav: {error}", file=sys.stderr)
        return EXIT_USAGE
    try:
        held = options.push_to_talk
        good = asyncio.run(run(options.url, token, options.topic, pcm, push_to_talk=held))
        return 0 if good else EXIT_FAILED
    except CallFailed as error:
        print(f"FAIL  {error}")
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
