"""Traces: what a lesson sends to a collector, what it never does, and when it sends nothing."""

import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from server.settings import Settings
from server.tracing import EXPORTER, LessonTrace, Tracing, exporting, missing_exporter, tracing_of
from server.turn_metrics import TurnMetrics
from tests.rig import house

QUESTION = "What of the memory cells?"


@pytest.mark.req("OWN-11")
async def test_a_lesson_is_a_trace_of_its_turns_without_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = InMemorySpanExporter()
    monkeypatch.setattr("server.app.tracing_of", lambda settings: exporting(exporter))
    async with house(tmp_path) as home:
        ada = await home.person()
        async with ada.call(await ada.ground()) as call:
            turn = await call.ask(QUESTION)
        await home.empty()
    spans = exporter.get_finished_spans()
    by_name = {span.name: span for span in spans}
    assert sorted(span.name for span in spans) == ["lesson", "live-connect", "observer", "turn"]
    lesson = by_name["lesson"]
    assert lesson.parent is None
    assert dict(lesson.attributes or {}) == {
        "pidjin.session": call.session_id,
        "pidjin.mode": "native",
        "pidjin.model": "gemini-3.8-live",
        "pidjin.reason": "stopped",
    }
    for name in ("live-connect", "observer", "turn"):
        span = by_name[name]
        assert span.parent is not None
        assert span.parent.span_id == lesson.context.span_id
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.start_time <= span.end_time
        assert lesson.start_time is not None
        assert span.start_time >= lesson.start_time
    assert (by_name["turn"].attributes or {})["pidjin.turn"] == turn["turnId"]
    told = "".join(span.to_json() for span in spans)
    for words in (QUESTION, turn["text"], "Vaccines", ada.uid, "a-key"):
        assert words not in told


def test_a_failure_is_named_by_its_kind_only() -> None:
    exporter = InMemorySpanExporter()
    tracing = exporting(exporter)
    with pytest.raises(ValueError, match="secret"), tracing.lesson().timed("live-connect"):
        raise ValueError("secret words")
    tracing.close()
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["pidjin.outcome"] == "ValueError"
    assert "secret" not in span.to_json()


def test_without_a_collector_nothing_is_kept() -> None:
    lesson = Tracing().lesson(session="s1")
    with lesson.timed("observer"):
        pass
    lesson.turn(TurnMetrics().finished("t1", 1.0))
    lesson.end("stopped")
    assert tracing_of(Settings()).lesson()._tracer is None
    assert isinstance(lesson, LessonTrace)


def test_a_missing_exporter_is_told_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, EXPORTER, None)
    settings = Settings(otlp_endpoint="http://127.0.0.1:4318")
    sentence = missing_exporter(settings)
    assert sentence is not None
    assert "opentelemetry-exporter-otlp-proto-http" in sentence
    assert tracing_of(settings).lesson()._tracer is None
    assert sentence in caplog.text
    assert missing_exporter(Settings()) is None
