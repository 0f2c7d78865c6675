"""Google's Firestore emulator for a test session: a real Firestore, spoken to over gRPC and REST.

It is one Java archive, which Debian's `google-cloud-cli-firestore-emulator` (of Google's package
archive) brings; `FIRESTORE_EMULATOR_JAR` names another place. A new project id is a new, empty
database, so tests share one process and nothing else.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

JAR = Path(
    "/usr/lib/google-cloud-sdk/platform/cloud-firestore-emulator/cloud-firestore-emulator.jar"
)
MAIN = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
# 3 s on an idle machine, 26 s seen on a busy one.
START_S = 120.0
STOP_S = 10.0
PAUSE_S = 0.1
LAST_CHARS = 2000


class EmulatorMissing(Exception):
    """What to install."""


def new_project() -> str:
    """The id of a project whose database is empty."""
    return f"demo-{secrets.token_hex(6)}"


def archive() -> Path:
    """Raises EmulatorMissing."""
    jar = Path(os.environ.get("FIRESTORE_EMULATOR_JAR", JAR))
    if not jar.is_file():
        raise EmulatorMissing(
            f"no Firestore emulator at {jar}: install google-cloud-cli-firestore-emulator, or set "
            "FIRESTORE_EMULATOR_JAR"
        )
    if not shutil.which("java"):
        raise EmulatorMissing("the Firestore emulator needs java: install default-jre-headless")
    return jar


@contextmanager
def emulator(folder: Path) -> Iterator[str]:
    """A running emulator; gives host:port. Raises EmulatorMissing."""
    jar = archive()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    output = folder / "emulator.log"
    command = ["java", "-Duser.language=en", "-Xmx512m", "-XX:+UseSerialGC"]
    command += ["-XX:TieredStopAtLevel=1", "-cp", str(jar), MAIN]
    with output.open("wb") as log:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)], stdout=log, stderr=log
        )
    try:
        _wait(process, f"http://127.0.0.1:{port}/", output)
        # The first call of a cold process has been seen to take 8 s.
        httpx.get(
            f"http://127.0.0.1:{port}/v1/projects/demo-warm/databases/(default)/documents/c",
            timeout=START_S,
            trust_env=False,
        ).raise_for_status()
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_S)


def _wait(process: subprocess.Popen[bytes], url: str, output: Path) -> None:
    end = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < end:
        try:
            httpx.get(url, timeout=PAUSE_S * 20, trust_env=False)
        except httpx.HTTPError:
            time.sleep(PAUSE_S)
        else:
            return
    text = output.read_text(errors="replace")[-LAST_CHARS:]
    raise RuntimeError(f"the Firestore emulator did not start: {text}")
