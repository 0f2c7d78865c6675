"""What the kernel, the server's metrics and its log say, as text in and numbers out."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from bench.__main__ import options_of
from bench.house import Watch, parse_metrics, span_of
from bench.model import LONG_WORDS, SHORT_WORDS, engine, replies, transcribe
from bench.process import cpu_of, status_of
from bench.sound import REPLY, onset

METRICS = """\
# TYPE pidjin_lessons gauge
pidjin_lessons 3
# TYPE pidjin_span_seconds gauge
pidjin_span_seconds{quantile="0.5",span="mic_to_gate"} 0.0001
pidjin_span_seconds{quantile="0.95",span="mic_to_gate"} 2.5e-04
"""


def test_spans_are_read_from_the_metrics() -> None:
    metrics = parse_metrics(METRICS)
    assert metrics["pidjin_lessons"] == 3
    assert span_of(metrics, "mic_to_gate", 0.95) == 0.00025
    assert span_of(metrics, "mic_to_live", 0.95) is None


def test_cpu_time_is_read_past_a_command_with_spaces_and_brackets() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    fields = " ".join(["S", *["0"] * 10, str(3 * ticks), str(ticks), "7", "7"])
    assert cpu_of(f"42 (a (strange) name) {fields}") == 4.0


def test_a_number_of_the_status_is_read_by_name() -> None:
    status = "Name:\tpython\nVmRSS:\t  2048 kB\nThreads:\t5\n"
    assert status_of(status, "VmRSS") == 2048
    assert status_of(status, "Threads") == 5
    with pytest.raises(KeyError):
        status_of(status, "VmSwap")


async def test_the_log_tells_the_address_complaints_and_lost_peers() -> None:
    watch = Watch()
    for line in (
        "",
        "Pidjin 0.1.0 runs at http://127.0.0.1:40001/",
        "{not json",
        json.dumps({"level": "INFO", "message": "peer state", "peer": "a", "to": "connected"}),
        json.dumps({"level": "INFO", "message": "peer state", "peer": "b", "to": "PeerState.LOST"}),
        json.dumps({"level": "ERROR", "message": "lesson failed", "trace": "Traceback"}),
    ):
        watch.heed(line)
    assert watch.url == "http://127.0.0.1:40001"
    assert set(watch.lost_at) == {"b"}
    assert watch.complaints == {"ERROR lesson failed": 1}
    assert watch.trace == "Traceback"


def test_the_onset_of_a_voice_is_its_first_loud_ten_milliseconds() -> None:
    samples = np.zeros(48_000, np.int16)
    samples[:24_000] = 3
    samples[24_000:] = 8000
    assert onset(samples, 48_000) == 24_000


def test_a_short_utterance_is_answered_with_a_steady_tone_and_a_long_one_with_speech() -> None:
    spoken = bytes(range(240)) * 100
    model = engine(spoken)
    assert transcribe(bytes(2 * 16_000)) == SHORT_WORDS
    assert transcribe(bytes(7 * 32_000)) == LONG_WORDS
    assert replies(LONG_WORDS) == list(REPLY)
    assert b"".join(model.voice.speak(text) for text in REPLY) == spoken
    hum = model.voice.speak(replies(SHORT_WORDS)[0])
    assert len(hum) == 8 * 48_000
    assert max(np.abs(np.frombuffer(hum, "<i2"))) > 8000


def test_options() -> None:
    assert options_of([]).lessons == (1, 8, 32)
    assert options_of(["--quick"]).quick
    chosen = options_of(["--quick", "--lessons", "8,1", "--seconds", "5"])
    assert (chosen.lessons, chosen.seconds) == ((1, 8), 5.0)


@pytest.mark.parametrize("wrong", [["--lessons", "x"], ["--lessons", "0"], ["--seconds", "1"]])
def test_options_that_measure_nothing_are_refused(wrong: list[str]) -> None:
    with pytest.raises(SystemExit):
        options_of(wrong)
