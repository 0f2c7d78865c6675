"""The end of a turn by our own detection: pauses are survived, ends are noticed."""

from __future__ import annotations

import numpy as np
import pytest

from media.endpoint import ASKED, LONGEST, SHORT_MS, THINKING_S, Endpoint
from tests.media.hearing import need
from tests.media.hearing.turns import judge, judge_live, paused, sentences

SILENCE_MS = 1500


def after(voiced_ms: int, *, pauses: tuple[int, ...] = (), words: str = "") -> int:
    """Hang-over after equal stretches of voice with `pauses` in between."""
    endpoint = Endpoint(SILENCE_MS)
    for pause in (*pauses, None):
        for _ in range(voiced_ms // 20):
            endpoint.hear(voiced=True)
        for _ in range((pause or 0) // 20):
            endpoint.hear(voiced=False)
    endpoint.words(words)
    return endpoint.hangover_ms


def test_long_fluent_speech_is_over_sooner_and_a_short_word_is_waited_for() -> None:
    assert after(3000) < after(1200) < after(400) == SILENCE_MS
    assert SHORT_MS > 400


def test_who_paused_once_will_pause_longer() -> None:
    assert after(2400, pauses=(1000,)) > after(2400, pauses=(600,)) >= after(2400)
    assert after(2400, pauses=(60_000,)) == LONGEST * SILENCE_MS


@pytest.mark.parametrize(
    "text",
    [
        "I think,",
        "Because it is heavier than the",
        "So um",
        "Na ja, weil",
        "porque",
        "ponieważ",
        "…",
        "Five hundred and.",
        "It depends on the.",
    ],
)
def test_words_that_cannot_end_a_sentence_are_waited_for(text: str) -> None:
    assert after(3000, words=text) > SILENCE_MS


def test_a_question_is_over_sooner() -> None:
    assert after(400, words="Is it water?") == after(3000, words="¿Qué es?") < after(400)
    assert after(400, words="Is it water?") == SILENCE_MS * ASKED


def test_a_full_stop_says_nothing() -> None:
    """Recognisers put one wherever the voice pauses."""
    for voiced in (400, 1200, 3000):
        assert after(voiced, words="He was not.") == after(voiced, words="He was") == after(voiced)


def test_words_count_until_more_is_said() -> None:
    endpoint = Endpoint(SILENCE_MS)
    for _ in range(10):
        endpoint.hear(voiced=True)
    endpoint.words("Yes?")
    sooner = endpoint.hangover_ms
    endpoint.hear(voiced=False)
    assert endpoint.hangover_ms == sooner
    endpoint.hear(voiced=True)
    assert endpoint.hangover_ms > sooner
    endpoint.started()
    assert endpoint.hangover_ms == Endpoint(SILENCE_MS).hangover_ms


def test_time_for_thought_is_for_one_turn() -> None:
    endpoint = Endpoint(SILENCE_MS)
    endpoint.thinking(3.0)
    endpoint.started()
    assert endpoint.hangover_ms == 3000
    endpoint.words("Yes?")
    assert endpoint.hangover_ms == 3000
    endpoint.ended()
    endpoint.started()
    assert endpoint.hangover_ms < 3000
    endpoint.thinking(3.0)
    endpoint.thinking(0)
    assert endpoint.hangover_ms < 3000


# --- with voices ---------------------------------------------------------------------------------


@pytest.mark.speech
def test_t8_pauses_in_a_sentence_are_one_turn_with_time_for_thought() -> None:
    """T8: 0.6, 1.0 and 1.5 s in one sentence, several voices."""
    need.local_voice()
    ends = judge(paused(sentences(), (0.6, 1.0, 1.5)), thinking_s=THINKING_S)
    assert len(ends.turns) >= 3
    assert ends.turns == [1] * len(ends.turns)


@pytest.mark.speech
def test_t8_without_it_a_sentence_is_split_at_long_pauses_only() -> None:
    """0.6 s never, 1.0 s seldom, 1.5 s (the setting itself) mostly."""
    need.local_voice()
    short, middle, long = (judge(paused(sentences()[::2], (pause,))) for pause in (0.6, 1.0, 1.5))
    assert short.false <= 0.1 * short.pauses
    assert middle.false <= 0.3 * middle.pauses
    assert long.false >= 0.5 * long.pauses


@pytest.mark.speech
def test_the_end_comes_sooner_than_by_plain_silence() -> None:
    need.local_voice()
    whole = paused(sentences(), ())
    own, plain = judge(whole), judge(whole, plain_ms=SILENCE_MS)
    assert len(own.waits_s) == len(plain.waits_s) == len(whole)
    assert own.median_wait_s <= plain.median_wait_s - 0.1
    assert float(np.max(own.waits_s)) <= SILENCE_MS / 1000 * LONGEST


@pytest.mark.speech
@pytest.mark.req("RTC-8")
def test_a_service_that_ends_turns_hears_enough_through_the_gate() -> None:
    """It is never starved, and what it decides is what it decides on the whole microphone."""
    need.local_voice()
    spoken = paused(sentences()[::5], (1.0,), ())
    through, starved = judge_live(spoken)
    everything, _ = judge_live(spoken, gated=False)
    assert starved == 0
    assert through.turns == everything.turns
    assert through.median_wait_s == pytest.approx(everything.median_wait_s, abs=0.05)
