"""The one silent context update that waits for a quiet moment: the latest wins (OBS-22). Pure."""

from __future__ import annotations

# The last block of an update: this line, then quoted lines.
DIGEST_LINE = "Refreshed digest:"
QUOTE = "| "


def superseded_by(older: str, newer: str) -> str:
    """`newer`, with the refreshed digest of `older` when only that one has it (OBS-22)."""
    block = _digest(older)
    if not block or _digest(newer):
        return newer
    return "\n".join([newer.rstrip("\n"), *block])


def _digest(update: str) -> list[str]:
    lines = update.splitlines()
    if DIGEST_LINE not in lines:
        return []
    start = lines.index(DIGEST_LINE)
    end = start + 1
    while end < len(lines) and lines[end].startswith(QUOTE):
        end += 1
    return lines[start:end]


class HeldUpdate:
    """Holds at most one update; an empty text is never one (OBS-20)."""

    def __init__(self) -> None:
        self.text = ""

    def put(self, text: str) -> bool:
        """Whether an update that was still waiting has been replaced."""
        if not text.strip():
            return False
        replaced = bool(self.text)
        self.text = superseded_by(self.text, text) if replaced else text
        return replaced

    def sent(self, text: str) -> None:
        """`text` has been delivered; a newer one that came meanwhile stays."""
        if self.text == text:
            self.text = ""

    def clear(self) -> None:
        self.text = ""
