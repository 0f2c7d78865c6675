"""Traces on the wire: the real exporter, a collector on loopback, switched on by a setting only."""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server import tracing
from server.settings import Settings
from server.tracing import tracing_of
from server.version import VERSION
from tests.rig import house

pytest.importorskip(
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    reason=f"needs {tracing.PACKAGE}",
)
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as wire

QUESTION = "What of the memory cells?"
LESSON = ["lesson", "live-connect", "observer", "turn"]


@dataclass
class Collector:
    """An OTLP/HTTP receiver; `hold` lets it hang, `status` refuses."""

    url: str = ""
    status: int = 200
    requests: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.asked.set()
        await self.hold.wait()
        if request.headers.get("Content-Encoding") == "gzip" and body[:2] == b"\x1f\x8b":
            body = gzip.decompress(body)
        self.paths.append(request.path)
        assert request.content_type == "application/x-protobuf"
        got = wire.ExportTraceServiceRequest()
        got.ParseFromString(body)
        self.requests.append(got)
        answer = wire.ExportTraceServiceResponse().SerializeToString()
        return web.Response(status=self.status, body=answer, content_type="application/x-protobuf")

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resource(self) -> dict[str, str]:
        (first, *_) = self.requests[0].resource_spans
        return {one.key: one.value.string_value for one in first.resource.attributes}


@asynccontextmanager
async def collecting(*, hanging: bool = False) -> AsyncIterator[Collector]:
    collector = Collector()
    if not hanging:
        collector.hold.set()
    app = web.Application()
    app.router.add_post("/{path:.*}", collector.take)
    async with TestServer(app, host="127.0.0.1") as server:
        collector.url = str(server.make_url("/otel")).rstrip("/")
        try:
            yield collector
        finally:
            collector.hold.set()


@pytest.mark.req("OWN-11")
async def test_a_lesson_reaches_a_collector_as_one_trace_without_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loopback is nobody else's: not even where everything else goes through a proxy.
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with collecting() as collector:
        # Nothing else is needed, and nothing else turns it on.
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url + "/")
        async with house(tmp_path) as home:
            ada = await home.person()
            async with ada.call(await ada.ground()) as call:
                turn = await call.ask(QUESTION)
            await home.empty()
        assert set(collector.paths) == {"/otel/v1/traces"}
        assert collector.resource["service.name"] == "pidjin"
        assert collector.resource["service.version"] == VERSION
        spans = {span.name: span for span in collector.spans}
        assert sorted(span.name for span in collector.spans) == LESSON
        lesson = spans["lesson"]
        assert lesson.parent_span_id == b""
        assert {span.trace_id for span in collector.spans} == {lesson.trace_id}
        for name in LESSON[1:]:
            assert spans[name].parent_span_id == lesson.span_id
            assert lesson.start_time_unix_nano <= spans[name].start_time_unix_nano
            assert spans[name].start_time_unix_nano <= spans[name].end_time_unix_nano
            assert spans[name].end_time_unix_nano <= lesson.end_time_unix_nano
        fields = {one.key: one.value for one in spans["turn"].attributes}
        assert fields["pidjin.turn"].string_value == turn["turnId"]
        assert 0 < fields["pidjin.live_s"].double_value < fields["pidjin.ended_at"].double_value
        told = "".join(str(request) for request in collector.requests)
        for words in (QUESTION, turn["text"], "Vaccines", ada.uid, "a-key"):
            assert words not in told


async def test_a_collector_that_hangs_holds_neither_a_lesson_nor_the_exit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tracing, "CLOSE_S", 0.3)
    loop = asyncio.get_running_loop()
    async with collecting(hanging=True) as collector:
        async with house(tmp_path, otlp_endpoint=collector.url) as home:
            ada = await home.person()
            async with ada.call(await ada.ground()) as call:
                assert (await call.ask(QUESTION))["saved"] is True
            await home.empty()
            leaving = loop.time()
        assert loop.time() - leaving < 5.0
        assert "traces not sent in time" in caplog.text
        await collector.asked.wait()


@pytest.mark.parametrize("status", [400, 503])
async def test_a_collector_that_refuses_costs_nothing_but_a_line_in_the_log(
    status: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tracing, "CLOSE_S", 1.0)
    async with collecting() as collector:
        collector.status = status
        traces = tracing_of(Settings(otlp_endpoint=collector.url))
        lesson = traces.lesson(session="s1")
        with lesson.timed("observer"):
            pass
        lesson.end("stopped")
        await asyncio.to_thread(traces.close)
        assert len(collector.requests) >= 1
    assert "Failed to export" in caplog.text or "Transient error" in caplog.text


async def test_nobody_there_costs_nothing_but_a_line_in_the_log(
    unused_tcp_port: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    monkeypatch.setattr(tracing, "CLOSE_S", 1.0)
    traces = tracing_of(Settings(otlp_endpoint=f"http://127.0.0.1:{unused_tcp_port}"))
    traces.lesson(session="s1").end("stopped")
    await asyncio.to_thread(traces.close)
    assert caplog.records
