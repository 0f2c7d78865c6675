"""Traces for whoever collects them: lessons, turns, observer runs, Live connections. No words.

Off unless OTEL_EXPORTER_OTLP_ENDPOINT is set and the exporter is installed. The provider is our
own and not the process's global one: libraries would put prompts into theirs.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, Tracer

from media.live.port import LiveConnector, LiveSession, LiveSetup
from server.addresses import is_loopback
from server.settings import Settings
from server.turn_metrics import TurnSpans
from server.version import VERSION

log = logging.getLogger(__name__)

EXPORTER = "opentelemetry.exporter.otlp.proto.http"
PACKAGE = "opentelemetry-exporter-otlp-proto-http"
_NS = 1_000_000_000
SEND_S = 5.0
CLOSE_S = 3.0

Attribute = str | int | float | bool


class LessonTrace:
    """The spans of one lesson; without a tracer nothing is kept."""

    def __init__(self, tracer: Tracer | None, **attributes: Attribute) -> None:
        self._tracer = tracer
        self._span: Span | None = None
        self._context: Context | None = None
        if tracer is not None:
            self._span = tracer.start_span("lesson", Context(), attributes=_named(attributes))
            self._context = trace.set_span_in_context(self._span, Context())

    def past(self, name: str, seconds: float, **attributes: Attribute) -> None:
        """Something within the lesson that has just ended."""
        if self._tracer is None:
            return
        now = time.time_ns()
        started = now - round(seconds * _NS)
        span = self._tracer.start_span(
            name, self._context, attributes=_named(attributes), start_time=started
        )
        span.end(now)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """A span of what happens inside; a failure is named by its kind only."""
        started, outcome = time.monotonic(), "ok"
        try:
            yield
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            self.past(name, time.monotonic() - started, outcome=outcome)

    def turn(self, spans: TurnSpans) -> None:
        fields = spans.log_fields()
        self.past("turn", fields.get("ended_at", 0.0), **fields)

    def end(self, reason: str) -> None:
        if self._span is not None:
            self._span.set_attributes(_named({"reason": reason}))
            self._span.end()


class TracedConnector:
    """A Live connector whose connections are spans of a lesson."""

    def __init__(self, inner: LiveConnector, lesson: LessonTrace) -> None:
        self._inner, self._lesson = inner, lesson

    async def connect(self, setup: LiveSetup) -> LiveSession:
        with self._lesson.timed("live-connect"):
            return await self._inner.connect(setup)


class Tracing:
    """`lesson` begins a trace; `close` sends what waits, and may block for CLOSE_S."""

    def __init__(
        self, tracer: Tracer | None = None, close: Callable[[], None] = lambda: None
    ) -> None:
        self._tracer, self.close = tracer, close

    def lesson(self, **attributes: Attribute) -> LessonTrace:
        return LessonTrace(self._tracer, **attributes)


def _named(attributes: dict[str, Any]) -> dict[str, Attribute]:
    return {f"pidjin.{name}": value for name, value in attributes.items()}


def missing_exporter(settings: Settings) -> str | None:
    """The sentence for somebody who asks for traces without the package that sends them."""
    if settings.otlp_endpoint is None or _installed():
        return None
    return f"OTEL_EXPORTER_OTLP_ENDPOINT is set, but nothing here can send traces: no {PACKAGE}"


def _installed() -> bool:
    try:
        return importlib.util.find_spec(EXPORTER) is not None
    except ModuleNotFoundError:  # not even its parent
        return False


def tracing_of(settings: Settings) -> Tracing:
    if settings.otlp_endpoint is None:
        return Tracing()
    if sentence := missing_exporter(settings):
        log.warning(sentence)
        return Tracing()
    return exporting(_exporter(settings.otlp_endpoint.rstrip("/") + "/v1/traces"))


def _exporter(endpoint: str) -> Any:
    """A collector on this machine is never asked for through the proxy of the environment."""
    exporter = importlib.import_module(f"{EXPORTER}.trace_exporter")
    session = importlib.import_module("requests").Session()
    session.trust_env = not is_loopback(urlsplit(endpoint).hostname or "")
    return exporter.OTLPSpanExporter(endpoint=endpoint, timeout=SEND_S, session=session)


def exporting(exporter: Any) -> Tracing:
    """Traces that go to an OpenTelemetry span exporter, in batches, on a thread of its own."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create({"service.name": "pidjin", "service.version": VERSION})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return Tracing(provider.get_tracer("pidjin", VERSION), lambda: _close(provider.shutdown))


def _close(shutdown: Callable[[], None]) -> None:
    """The library waits half a minute for a collector that does not answer."""
    thread = threading.Thread(target=shutdown, name="traces:close", daemon=True)
    thread.start()
    thread.join(CLOSE_S)
    if thread.is_alive():
        log.warning("traces not sent in time", extra={"within_s": CLOSE_S})
