"""The scripted engine of the wire tests."""

from __future__ import annotations

from typing import Any

from local_gemini.scripted import ScriptedEngine

# A reply long enough to be interrupted: 100 words are 6 s of tone.
LONG = " ".join(["word"] * 100)


def engine(**options: Any) -> ScriptedEngine:
    return ScriptedEngine(
        **{"transcripts": ["plants eat light"], "replies": [["Indeed so.", "And why?"]], **options}
    )
