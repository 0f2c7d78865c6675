"""`python -m local_gemini`: the double by itself. Prints one JSON line, serves until a signal."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from local_gemini.engine import Engine
from local_gemini.scripted import scripted_engine
from local_gemini.server import LocalGemini


def engine_of(scripted: bool) -> Engine:
    """Raises SpeechMissing (whose one line says what to install) without the speech models."""
    if scripted:
        return scripted_engine()
    from local_gemini.speech import local_engine

    return local_engine()


async def serve(port: int, certificate: Path | None, scripted: bool, speed: float) -> None:
    engine = await asyncio.to_thread(engine_of, scripted)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with LocalGemini(engine, speed=speed, port=port) as local:
        if certificate is not None:
            await asyncio.to_thread(certificate.write_text, local.certificate_pem)
        line = {"url": local.base_url, "certificate": local.certificate_pem}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
        await stop.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="local_gemini", description="The Gemini API on loopback.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--cert-file", type=Path, help="write the certificate (PEM) there as well")
    parser.add_argument("--scripted", action="store_true", help="a tone for a voice, no models")
    parser.add_argument("--speed", type=float, default=1.0, help="divides real-time waits")
    options = parser.parse_args()
    try:
        asyncio.run(serve(options.port, options.cert_file, options.scripted, options.speed))
    except (ImportError, OSError) as error:
        sys.stderr.write(f"local_gemini: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
