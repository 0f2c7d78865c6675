"""`python -m local_gemini`: the double by itself. Prints one JSON line, serves until a signal."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from local_gemini.engine import Engine
from local_gemini.scripted import ScriptedEngine
from local_gemini.server import LocalGemini


def engine_of(scripted: bool) -> Engine:
    """Loads the speech models unless scripted. Exits with the line to install when they lack."""
    if scripted:
        return ScriptedEngine()
    from local_gemini.speech import SpeechMissing, local_engine

    try:
        return local_engine()
    except SpeechMissing as missing:
        raise SystemExit(str(missing)) from None


async def serve(engine: Engine, port: int, certificate: Path | None, speed: float) -> None:
    """Until SIGINT or SIGTERM. Raises OSError when the port is taken."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with LocalGemini(engine, speed=speed, port=port, recorded=False) as local:
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
    engine = engine_of(options.scripted)
    try:
        asyncio.run(serve(engine, options.port, options.cert_file, options.speed))
    except OSError as error:
        sys.stderr.write(f"local_gemini: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
