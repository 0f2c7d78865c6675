"""Log lines: fields, people only at DEBUG, and never the key."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from server.log import JsonFormat, TextFormat

KEY = "canary-key-of-this-test"
FORMATS = (TextFormat, JsonFormat)


def record(**fields: object) -> logging.LogRecord:
    return logging.makeLogRecord(
        {"msg": "role_changed", "levelname": "INFO", "name": "server.x", **fields}
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_people_are_named_only_where_that_is_allowed(
    kind: type[TextFormat] | type[JsonFormat],
) -> None:
    line = record(**{"role": "approved", "pii.uid": "u-123"})
    assert "u-123" not in kind(with_pii=False).format(line)
    assert "u-123" in kind(with_pii=True).format(line)
    assert "approved" in kind(with_pii=False).format(line)


def test_a_json_line_is_json_with_its_fields() -> None:
    entry = json.loads(JsonFormat(with_pii=False).format(record(count=3, odd=object())))
    assert (entry["message"], entry["count"], entry["level"]) == ("role_changed", 3, "INFO")


@pytest.mark.req("AUTH-14")
@pytest.mark.parametrize("kind", FORMATS)
def test_the_key_is_written_nowhere(
    kind: type[TextFormat] | type[JsonFormat], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    try:
        raise ValueError(f"refused key {KEY}")
    except ValueError:
        line = record(msg=f"call with {KEY}", url=f"https://x/?key={KEY}", exc_info=sys.exc_info())
    text = kind(with_pii=True).format(line)
    assert "ValueError" in text
    assert KEY not in text
