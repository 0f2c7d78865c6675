"""Findings against the budgets of the design, section 10. Pure."""

from __future__ import annotations

from typing import Any

from bench.classroom import Window
from bench.figures import figure, lessons_that_fit, middle, ms, quantile, rounded, slope
from bench.stages import Findings, Held

LATE_MS = 20.0
SESSIONS_BUDGET = 32
# RSS of an allocator that has reached its level: what 160 sessions may add to it.
GROWTH_MB = 4.0
SMALL_RUN = "measured below 32 lessons: fixed costs weigh more"

Figures = dict[str, dict[str, Any]]


def figures(found: Findings) -> Figures:
    """Every figure by name, as printed."""
    most = found.windows[-1]
    return (
        _latencies(found, most)
        | _turns(found)
        | _costs(found, most)
        | _setting_up(found)
        | _endings(found)
    )


def _latencies(found: Findings, most: Window) -> Figures:
    lossy = found.lossy
    return {
        "mic_to_gate_p95": figure(
            ms(most.span("mic_to_gate")),
            5,
            "ms",
            note="from the socket's callback on; by the server's own clock",
            p99=ms(most.span("mic_to_gate", 0.99)),
        ),
        "mic_to_gate_lossy_p95": figure(
            ms(lossy.span("mic_to_gate")) if lossy else None,
            5,
            "ms",
            note="3 % of the packets lost; a packet held behind a hole counts from its arrival",
            p50=ms(lossy.span("mic_to_gate", 0.5)) if lossy else None,
            lessons=lossy.lessons if lossy else None,
        ),
        "mic_to_live_p95": _mic_to_live(most),
        "reply_to_rtp_p95": figure(ms(most.span("reply_to_rtp")), 25, "ms"),
    }


def _mic_to_live(most: Window) -> dict[str, Any]:
    value = most.span("mic_to_live")
    note = "" if value is not None else "the server keeps no such span"
    return figure(ms(value), 45, "ms", note=note, p99=ms(most.span("mic_to_live", 0.99)))


def _turns(found: Findings) -> Figures:
    ducked = [seen.ducked_s for seen in found.yieldings if seen.ducked_s is not None]
    silent = [seen.silent_s for seen in found.yieldings if seen.silent_s is not None]
    tried = len(found.yieldings)
    note = "median; at the learner, from sending the first voiced packet, over loopback"
    standing = found.standing.values()
    worst = max(each.after_s - each.before_s for each in standing) if standing else None
    return {
        "barge_in_ducked": figure(
            ms(middle(ducked)),
            60,
            "ms",
            note=note,
            p95=ms(quantile(ducked, 0.95)),
            seen=len(ducked),
            tried=tried,
        ),
        "barge_in_silent": figure(
            ms(middle(silent)),
            150,
            "ms",
            note=note,
            p95=ms(quantile(silent, 0.95)),
            seen=len(silent),
            tried=tried,
        ),
        "standing_delay_after_loss": figure(
            ms(worst),
            5,
            "ms",
            note="median 100 ms after the loss less the median before it; the budget is noise",
            before_ms={name: ms(each.before_s) for name, each in found.standing.items()},
            after_ms={name: ms(each.after_s) for name, each in found.standing.items()},
        ),
    }


def _costs(found: Findings, most: Window) -> Figures:
    asleep, muted = found.asleep, found.muted
    small = SMALL_RUN if most.lessons < SESSIONS_BUDGET else ""
    p99 = ms(quantile(most.late, 0.99))
    glitch_free = [window.lessons for window in found.windows if _smooth(window)]
    each = slope([(window.lessons, window.server_share) for window in found.windows])
    fixed = most.server_share - each * most.lessons if each else 0.0
    growth = slope([(window.lessons, window.rss_mb) for window in found.windows])
    return {
        "cpu_per_lesson": figure(
            most.share_each * 100,
            2.5,
            "% of a core",
            note=small,
            lessons=most.lessons,
            per_further_lesson=None if each is None else each * 100,
        ),
        "cpu_per_lesson_asleep": figure(
            asleep.share_each * 100 if asleep else None,
            0.3,
            "% of a core",
            note="a microphone that sends a quiet room" if asleep else "not measured",
            microphone_off=muted.share_each * 100 if muted else None,
        ),
        "lessons_without_glitch": figure(
            max(glitch_free, default=0),
            SESSIONS_BUDGET,
            "lessons on one core",
            bound="at least",
            note=f"the tutor's packets at most {LATE_MS:g} ms late (p99) on arrival, none lost; "
            "no more lessons were tried than asked for",
            late_p99_ms=p99,
            waited_for_core_percent=most.waited_share * 100,
            late_p50_ms=ms(quantile(most.late, 0.5)),
            lost=most.lost,
            received=most.received,
            learners_own_late_p99_ms=ms(found.learners[str(most.lessons)]["p99"]),
            extrapolated=lessons_that_fit(max(fixed, 0.0), each) if each and each > 0 else None,
            extrapolation="an estimate: 70 % of the core at the CPU of a further lesson",
        ),
        "memory_per_lesson": figure(
            growth, 2, "MB", note="growth of RSS per lesson", idle_mb=found.idle_rss_mb
        ),
    }


def _smooth(window: Window) -> bool:
    late = ms(quantile(window.late, 0.99))
    return late is not None and late <= LATE_MS and window.lost == 0


def _setting_up(found: Findings) -> Figures:
    return {
        "offer_to_answer_p95": figure(
            ms(quantile(found.answers_s, 0.95)),
            50,
            "ms",
            note="the whole HTTP exchange, at the learner, others talking",
            p50=ms(quantile(found.answers_s, 0.5)),
            inside_p95=ms(found.windows[-1].span("offer_to_answer")),
            offers=len(found.answers_s),
        ),
        "offer_to_connected": figure(
            ms(middle(found.connects_s)),
            400,
            "ms",
            note="median",
            p95=ms(quantile(found.connects_s, 0.95)),
        ),
        "start_to_ready": figure(found.started_s, 3, "s"),
        "start_to_ready_local_speech": figure(
            found.local_started_s,
            8,
            "s",
            note="" if found.local_started_s else "not measured",
        ),
    }


def _endings(found: Findings) -> Figures:
    return {
        "vanished_peer_noticed": figure(
            max(found.vanished_s) if found.vanished_s else None, 5, "s"
        ),
        "sessions_opened_and_closed": _flat(found.held, found.left_over),
    }


def _flat(held: list[Held], left_over: float | None) -> dict[str, Any]:
    """Whether the process is after all sessions what it was after the first fifth."""
    if len(held) < 2:
        return figure(None, GROWTH_MB, "MB", note="not measured")
    first, last = held[0], held[-1]
    entry = figure(
        last.rss_mb - first.rss_mb,
        GROWTH_MB,
        "MB",
        note="growth of RSS; descriptors, threads and lessons must not grow at all",
        sessions=[first.opened, last.opened],
        descriptors=[first.descriptors, last.descriptors],
        threads=[first.threads, last.threads],
        lessons_left=left_over,
    )
    still = last.descriptors <= first.descriptors and last.threads <= first.threads
    return entry | {"ok": entry["ok"] and still and not left_over}


def by_lessons(found: Findings) -> dict[str, dict[str, Any]]:
    """The same process at each number of lessons, without judgement."""
    return {
        str(window.lessons): rounded(
            {
                "cpu_per_lesson": window.share_each * 100,
                "cpu_total": window.server_share * 100,
                "waited_for_core": window.waited_share * 100,
                "mic_to_gate_p95_ms": ms(window.span("mic_to_gate")),
                "mic_to_live_p95_ms": ms(window.span("mic_to_live")),
                "reply_to_rtp_p95_ms": ms(window.span("reply_to_rtp")),
                "late_p99_ms": ms(quantile(window.late, 0.99)),
                "lost": window.lost,
                "received": window.received,
                "rss_mb": window.rss_mb,
                "turns": window.turns,
                "model_cpu_total": window.model_share * 100,
                "learners_own_late_p99_ms": ms(found.learners[str(window.lessons)]["p99"]),
            }
        )
        for window in found.windows
    }
