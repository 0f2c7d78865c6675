"""The pure parts beside the frame reader: models, recovery, queue, updates, hand-over, calls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from media.live.calls import Calls
from media.live.capabilities import (
    SAFEST,
    Capabilities,
    Seeding,
    SetupInvalid,
    Typing,
    capabilities_of,
    validated,
)
from media.live.outbox import Bracket, Outbox, Sound, Typed
from media.live.port import LiveClosed, LiveRefused, LiveSetup, Seed
from media.live.recovery import Fault, Lane, Recovery, Redial, Stop, classify
from media.live.rotation import LEAVE_AFTER_S, SEEK_AFTER_S, Rotation
from media.live.steering import HeldUpdate, superseded_by

SETUP = LiveSetup(model="gemini-3.8-live", instruction="i")


def test_an_unknown_model_gets_the_row_that_puts_nothing_disputed_on_the_wire() -> None:
    assert capabilities_of("gemini-9-live") is SAFEST
    assert capabilities_of("") is SAFEST
    assert (
        Capabilities(False, Typing.REALTIME, Seeding.NONE, (), False, False, False, False) == SAFEST
    )


@pytest.mark.req("VOICE-10")
def test_models_are_told_apart_with_and_without_the_prefix() -> None:
    for prefix in ("", "models/"):
        live = capabilities_of(f"{prefix}gemini-3.8-live")
        thinking = capabilities_of(f"{prefix}gemini-3.8-live-extended-thinking")
        legacy = capabilities_of(f"{prefix}gemini-3.1-flash-live-preview")
        assert live.context_mid_session
        assert not live.thinking_levels
        assert thinking == replace(live, thinking_levels=("LOW", "MEDIUM", "HIGH"))
        assert not legacy.context_mid_session
        assert not capabilities_of(
            f"{prefix}gemini-2.5-flash-native-audio-preview-09-2025"
        ).empty_resumption


def test_a_setup_is_reduced_to_what_its_model_takes() -> None:
    seeds = (Seed("user", "a"), Seed("model", " "))
    full = replace(SETUP, thinking_level="minimal", seeds=seeds, vad_enabled=False)
    assert validated(full) == replace(full, thinking_level=None, seeds=seeds[:1])
    thinking = replace(full, model="gemini-3.8-live-extended-thinking")
    assert validated(thinking).thinking_level == "LOW"
    assert validated(replace(thinking, thinking_level="high")).thinking_level == "HIGH"
    assert validated(replace(full, handle="h")).seeds == ()
    unknown = validated(replace(full, model="tomorrow"))
    assert (unknown.vad_enabled, unknown.thinking_level, unknown.seeds) == (True, None, ())


def test_every_problem_of_a_setup_is_told_at_once() -> None:
    wrong = LiveSetup(
        model="models/",
        instruction="",
        silence_ms=-1,
        prefix_ms=10**6,
        start_sensitivity="HIGH",
        end_sensitivity="",
        thinking_level="most",
        seeds=(Seed("system", "x"),),
    )
    with pytest.raises(SetupInvalid) as caught:
        validated(wrong)
    assert len(str(caught.value).split("; ")) == 7


@pytest.mark.parametrize(
    ("code", "reason", "fault"),
    [
        (429, "", Fault.QUOTA),
        (1011, "Resource exhausted", Fault.QUOTA),
        (1008, "You exceeded your current quota", Fault.QUOTA),
        (1007, "API key not valid. Please pass a valid API key.", Fault.DENIED),
        (403, "", Fault.DENIED),
        (404, "", Fault.DENIED),
        (1007, "context exhausted", Fault.INVALID),
        (1008, "Operation is not implemented", Fault.POLICY),
        (504, "", Fault.TIMEOUT),
        (1011, "Deadline expired before operation could complete.", Fault.TRANSIENT),
        (1006, "", Fault.TRANSIENT),
        (503, "", Fault.TRANSIENT),
        (0, "ConnectionRefusedError", Fault.TRANSIENT),
    ],
)
def test_close_codes_and_texts(code: int, reason: str, fault: Fault) -> None:
    assert classify(code, reason) is fault


def test_delays_are_jittered_by_a_quarter() -> None:
    for jitter, expected in ((0.0, 0.375), (1.0, 0.625)):
        verdict = Recovery(lambda jitter=jitter: jitter).lost(  # type: ignore[misc]
            LiveClosed(1006, "", "tcp"), resumable=True
        )
        assert verdict == Redial(Lane.RESUME, expected)


def test_an_invalid_setup_is_never_tried_again() -> None:
    recovery = Recovery(lambda: 0.5)
    refused = LiveRefused(1007, "invalid argument")
    assert isinstance(recovery.refused(refused, tried=Lane.FRESH, first=True), Stop)
    recovery = Recovery(lambda: 0.5)
    verdict = recovery.refused(refused, tried=Lane.RESUME, first=False)
    assert verdict == Redial(Lane.FRESH, 0.5)  # another setup: without the handle
    assert isinstance(recovery.refused(refused, tried=Lane.FRESH, first=False), Stop)


@pytest.mark.parametrize("first", [True, False])
def test_a_policy_close_is_retried_once_without_resumption(first: bool) -> None:
    recovery = Recovery(lambda: 0.5)
    refused = LiveRefused(1008, "unsupported")
    verdict = recovery.refused(refused, tried=Lane.FRESH, first=first)
    assert verdict == Redial(Lane.FRESH, 0.5, resumption=False)
    assert not recovery.resumption
    assert recovery.refused(refused, tried=Lane.FRESH, first=first) == Stop(
        "policy", "1008 unsupported"
    )


def test_a_handle_refused_twice_is_given_up_for_a_fresh_session() -> None:
    recovery = Recovery(lambda: 0.5)
    assert recovery.lost(LiveClosed(1011, "x", "peer"), resumable=True) == Redial(Lane.RESUME, 0.5)
    refused = LiveRefused(1011, "internal")
    assert recovery.refused(refused, tried=Lane.RESUME, first=False) == Redial(Lane.RESUME, 1.0)
    assert recovery.refused(refused, tried=Lane.RESUME, first=False) == Redial(Lane.FRESH, 2.0)
    assert recovery.refused(refused, tried=Lane.FRESH, first=False) == Stop("lost", "1011 internal")


@pytest.mark.parametrize(
    ("code", "reason", "verdict"),
    [
        (404, "Session not found", Redial(Lane.FRESH, 0.5)),
        (400, "The resumption handle is invalid", Redial(Lane.FRESH, 0.5)),
        (1008, "session expired", Redial(Lane.FRESH, 0.5)),
        (404, "models/gemini-9 is not found", Stop("denied", "404 models/gemini-9 is not found")),
        (400, "API key not valid: handle it", Stop("denied", "400 API key not valid: handle it")),
        (403, "handle", Stop("denied", "403 handle")),
        (429, "too many handles", Stop("quota", "429 too many handles")),
    ],
)
def test_a_handle_that_nobody_knows_is_told_from_a_caller_that_nobody_wants(
    code: int, reason: str, verdict: Redial | Stop
) -> None:
    """T11: whichever code says it."""
    recovery = Recovery(lambda: 0.5)
    refused = LiveRefused(code, reason)
    assert recovery.refused(refused, tried=Lane.RESUME, first=False) == verdict


@pytest.mark.parametrize("code", [1002, 1007, 1008, 1009])
def test_a_close_of_our_own_is_an_ordinary_loss(code: int) -> None:
    recovery = Recovery(lambda: 0.5)
    closed = LiveClosed(code, "", "local")
    assert recovery.lost(closed, resumable=True) == Redial(Lane.RESUME, 0.5)
    assert recovery.resumption


def test_an_unreachable_service_says_nothing_about_the_handle() -> None:
    recovery = Recovery(lambda: 0.5)
    refused = LiveRefused(0, "no route")
    for delay_s in (0.5, 1.0, 2.0):
        verdict = recovery.refused(refused, tried=Lane.RESUME, first=False)
        assert verdict == Redial(Lane.RESUME, delay_s)


def test_a_dropped_bracket_disappears_as_a_whole() -> None:
    outbox = Outbox(batch_bytes=4, bound_bytes=8)
    outbox.bracket(True)
    outbox.audio(b"aaaa")
    outbox.bracket(False)
    outbox.prompt("p")
    outbox.audio(b"bbbbbbbb")
    assert outbox.dropped_bytes == 4
    assert outbox.take(partial=False) == Typed("p")
    assert outbox.take(partial=False) == Sound(b"bbbb")


def test_a_short_end_goes_out_when_nothing_will_extend_it() -> None:
    outbox = Outbox(batch_bytes=4, bound_bytes=8)
    outbox.audio(b"aa")
    assert not outbox.ready
    assert outbox.take(partial=False) is None
    outbox.bracket(False)
    assert outbox.ready
    assert outbox.take(partial=False, hold_audio=True) is None
    assert outbox.take(partial=False) == Sound(b"aa")
    assert outbox.take(partial=False) == Bracket(False)
    outbox.restore(Typed("p"))
    assert outbox.take(partial=False) == Typed("p")
    assert outbox.empty


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("audio"), st.integers(1, 20)),
        st.tuples(st.just("bracket"), st.booleans()),
        st.tuples(st.just("take"), st.booleans()),
        st.tuples(st.just("bounce"), st.booleans()),
    ),
    max_size=60,
)


@given(STEPS)
def test_the_queue_keeps_order_bound_and_count_whatever_happens(
    steps: list[tuple[str, int | bool]],
) -> None:
    outbox = Outbox(batch_bytes=8, bound_bytes=40)
    put, taken = 0, b""
    for step, value in steps:
        if step == "audio":
            sound = b"".join((put + i).to_bytes(2, "big") for i in range(int(value)))
            put += int(value)
            outbox.audio(sound)
            assert outbox.queued_bytes <= 40
        elif step == "bracket":
            outbox.bracket(bool(value))
        else:
            item = outbox.take(partial=bool(value))
            if item is not None and step == "bounce":
                outbox.restore(item)
            elif isinstance(item, Sound):
                assert 0 < len(item.pcm) <= 8
                taken += item.pcm
    while (item := outbox.take(partial=True)) is not None:
        taken += item.pcm if isinstance(item, Sound) else b""
    samples = [int.from_bytes(taken[i : i + 2], "big") for i in range(0, len(taken), 2)]
    assert samples == sorted(set(samples))
    assert len(samples) + outbox.dropped_bytes // 2 == put
    assert outbox.queued_bytes == 0


@pytest.mark.req("OBS-22")
@pytest.mark.parametrize(
    ("older", "newer", "result"),
    [
        ("a", "b", "b"),
        ("a\nRefreshed digest:\n| x", "b\n", "b\nRefreshed digest:\n| x"),
        ("a\nRefreshed digest:\n| x\nafter", "b", "b\nRefreshed digest:\n| x"),
        ("a\nRefreshed digest:\n| x", "b\nRefreshed digest:\n| y", "b\nRefreshed digest:\n| y"),
        ("a\n| Refreshed digest:\n| x", "b", "b"),
    ],
)
def test_a_digest_survives_its_update(older: str, newer: str, result: str) -> None:
    assert superseded_by(older, newer) == result


def test_an_update_that_came_while_another_was_sent_stays() -> None:
    held = HeldUpdate()
    assert not held.put("a")
    assert held.put("b")
    held.sent("a")
    assert held.text == "b"
    held.sent("b")
    assert held.text == ""


def test_a_hand_over_prefers_a_quiet_moment_and_has_a_last_one() -> None:
    rotation = Rotation(100.0)
    assert not rotation.due(100.0 + SEEK_AFTER_S - 1, quiet=True)
    assert rotation.next_check(100.0) == 100.0 + SEEK_AFTER_S
    assert rotation.due(100.0 + SEEK_AFTER_S, quiet=True)
    assert not rotation.due(100.0 + LEAVE_AFTER_S - 1, quiet=False)
    assert rotation.due(100.0 + LEAVE_AFTER_S, quiet=False)
    assert LEAVE_AFTER_S < 55 * 60
    rotation.go_away(200.0, 50.0)
    rotation.go_away(210.0, 500.0)
    assert rotation.due(200.0, quiet=True)
    assert not rotation.due(247.9, quiet=False)
    assert rotation.due(248.0, quiet=False)


def test_a_call_is_answered_once_or_withdrawn() -> None:
    calls = Calls()
    calls.opened("", "nameless", 0.0)
    assert not calls.pending
    calls.opened("a", "f", 0.0)
    calls.opened("b", "g", 1.0)
    assert calls.next_deadline() == 30.0
    assert calls.answered("a", {})
    calls.cancelled(("a",))
    assert not calls.answers
    assert calls.expire(29.0) == 0
    assert calls.expire(31.0) == 1
    assert [answer.call_id for answer in calls.answers] == ["b"]
