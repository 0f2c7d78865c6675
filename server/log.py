"""Logging set-up: stdlib, one static message per event, data in `extra`, people under `pii.*`.

`pii.*` fields are written only at DEBUG, and the model key never, whatever message carries it.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from aiohttp.http_exceptions import HttpProcessingError

from server.settings import Settings, gemini_api_key

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
REDACTED = "[redacted]"
KEY_MIN_CHARS = 8


def fields_of(record: logging.LogRecord, *, with_pii: bool) -> dict[str, Any]:
    """What the caller put into `extra`."""
    return {
        name: value
        for name, value in vars(record).items()
        if name not in _STANDARD and (with_pii or not name.startswith("pii."))
    }


def scrub(text: str) -> str:
    """`text` without the model key."""
    key = gemini_api_key()
    return text.replace(key, REDACTED) if len(key) >= KEY_MIN_CHARS else text


class TextFormat(logging.Formatter):
    def __init__(self, *, with_pii: bool) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s %(message)s")
        self._with_pii = with_pii

    def format(self, record: logging.LogRecord) -> str:
        fields = fields_of(record, with_pii=self._with_pii)
        tail = " ".join(f"{name}={value}" for name, value in fields.items())
        head, _, trace = super().format(record).partition("\n")
        line = f"{head} {tail}" if tail else head
        return scrub(f"{line}\n{trace}" if trace else line)


class JsonFormat(logging.Formatter):
    def __init__(self, *, with_pii: bool) -> None:
        super().__init__()
        self._with_pii = with_pii

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **fields_of(record, with_pii=self._with_pii),
        }
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return scrub(json.dumps(entry, ensure_ascii=False, default=str))


class NoHttp(logging.Filter):
    """Keeps out what strangers send to the port that is no HTTP: no bug of ours, and endless."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        return not isinstance(error, HttpProcessingError)


def set_up(settings: Settings) -> None:
    """Replaces the root handlers; libraries stay at WARNING unless the level is DEBUG."""
    with_pii = settings.log_level == "DEBUG"
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormat(with_pii=with_pii) if settings.log_json else TextFormat(with_pii=with_pii)
    )
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("server", "media", "agent", "local_gemini"):
        logging.getLogger(name).setLevel(settings.log_level)
    logging.getLogger("aiohttp.server").addFilter(NoHttp())
    # ADK warns about answers without token counts at each warm-up.
    logging.getLogger("google_adk").setLevel(logging.ERROR)
