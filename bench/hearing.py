"""What the gate hears: onsets among noises, false alarms, the tutor's echo, the ends of turns.

Runs in this process on labelled sound made here (tests/media/hearing); no server, no network. The
figures are times of the sound, not of the machine, except `echo_cpu`.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.figures import figure, middle, ms, quantile
from media import turn_events as ev
from media.echo import Echo
from media.echo_bands import BLOCK_S
from media.endpoint import THINKING_S
from tests.media.hearing import clips, noises, trial, turns
from tests.media.hearing.desk import Desk, tutor
from tests.media.hearing.way_back import ACTIVE_DB, SILENCE, WayBack

SNRS_DB = (20, 10, 5, 0)
ONSET_MS = {20: 90.0, 10: 150.0}
# Nothing is promised below 10 dB.
HOPELESS_MS = 500.0
ALONE_S = 60.0
# The tutor's voice comes back 12 or 6 dB down, after 60 to 300 ms, in a small and in a large room.
ECHO_DB, DELAYS_MS, ROOMS_MS = (-12, -6), (60, 130, 210, 300), (60, 250)
OVER_ECHO_DB = (0, 6, 12)
PAUSES_S = (0.6, 0.8, 1.0, 1.2, 1.5)
# The service's own detector notices silence later than a sample count does.
SERVICE_LAG_S = 0.2

Figures = dict[str, dict[str, Any]]


def hearing(*, quick: bool = False) -> dict[str, Any]:
    """All figures by name. `quick`: a third of the voices, two noise levels, one room."""
    if reason := clips.joe_missing():
        return {"note": f"not measured: {reason}"}
    voices = clips.everybody()[:: 3 if quick else 1]
    figures = _noise(voices, SNRS_DB[:2] if quick else SNRS_DB)
    figures |= _echo(ROOMS_MS[:1] if quick else ROOMS_MS)
    figures |= _over_echo(voices[:6] if quick else voices[:20])
    return {
        "voices": len(voices),
        "missing": clips.missing(),
        "figures": figures | _cost() | _ends(PAUSES_S[::2] if quick else PAUSES_S),
    }


def _noise(voices: tuple[clips.Clip, ...], levels: tuple[int, ...]) -> Figures:
    """Delay from the labelled onset to certain speech; whether its first block was forwarded."""
    told: Figures = {}
    crowd = clips.recordings() + clips.joe()
    base = trial.track(voices)
    for name in noises.NAMES:
        noise = noises.noise(name, ALONE_S, crowd)
        for snr in levels:
            track = trial.with_noise(base, noise, snr)
            heard = trial.listen(track)
            onsets = trial.onsets(track, heard)
            told[f"onset_{name}_{snr}db"] = figure(
                ms(middle(onsets.found)),
                ONSET_MS.get(snr, HOPELESS_MS),
                "ms",
                p90=ms(quantile(onsets.found, 0.9)),
                missed=onsets.delays.count(None),
                clipped=onsets.whole.count(False),
                utterances=len(onsets.whole),
                false_openings_a_minute=trial.false_openings(track, heard) / track.seconds * 60,
            )
        told[f"noise_alone_{name}"] = _alone(name, noise, voices)
    return told


def _alone(name: str, noise: clips.Sound, voices: tuple[clips.Clip, ...]) -> dict[str, Any]:
    """A minute of noise 10 dB below the learner, who has just been heard."""
    first = trial.track(voices[:2])
    sound = np.concatenate((first.sound, noise * clips.ACTIVE * 10 ** (-10 / 20)))
    track = trial.Track(sound.astype(np.float32), first.spans)
    heard = trial.listen(track)
    sent = heard.sent[len(first.sound) // trial.BLOCK :]
    return figure(
        trial.false_openings(track, heard) / ALONE_S * 60,
        1,
        "openings a minute",
        note="voices of others: the level alone tells" if name == "babble" else "",
        sent_percent=float(np.mean(sent)) * 100,
    )


def _echo(rooms: tuple[int, ...]) -> Figures:
    """The tutor alone, heard by the learner's microphone; nothing is known in the beginning."""
    kinds: tuple[type[ev.Effect], ...] = (ev.Duck, ev.Pause, ev.Flush)
    minutes, seen = 0.0, dict.fromkeys(kinds, 0)
    voice = tutor()
    for gain in ECHO_DB:
        for delay in DELAYS_MS:
            for room in rooms:
                way = WayBack(delay_ms=delay, gain_db=gain, reverberation_ms=room)
                desk = Desk(way)
                desk.wait(1.0)
                for _ in range(2):
                    desk.tutor_says(voice)
                    desk.wait(len(voice) / 24_000 + 1.0)
                minutes += 2 * len(voice) / 24_000 / 60
                for kind in kinds:
                    seen[kind] += len(desk.times(kind))
    return {
        "echo_interruptions": figure(
            seen[ev.Flush],
            0,
            "in all",
            minutes_of_echo=minutes,
            paused=seen[ev.Pause],
            ducked=seen[ev.Duck],
        )
    }


def _over_echo(voices: tuple[clips.Clip, ...]) -> Figures:
    """From the learner's onset to the tutor's silence, over an echo of -12 dB."""
    told: Figures = {}
    for louder in OVER_ECHO_DB:
        took = [_interruption(clip, 3.0 + 0.13 * n, louder) for n, clip in enumerate(voices)]
        found = [seconds for seconds in took if seconds is not None]
        told[f"interrupts_over_echo_{louder}db"] = figure(
            ms(middle(found)),
            400,
            "ms",
            note="learner's level above that of the echo",
            p90=ms(quantile(found, 0.9)),
            seen=len(found),
            tried=len(took),
        )
    return told


def _interruption(clip: clips.Clip, after_s: float, louder_db: float) -> float | None:
    desk = Desk(WayBack(delay_ms=130, gain_db=-12))
    desk.wait(1.0)
    desk.tutor_says(tutor())
    desk.wait(after_s)
    onset = desk.at
    gain = 10 ** ((ACTIVE_DB - 12 + louder_db) / 20) / clips.ACTIVE
    desk.hear((clip.sound[clip.onset : clip.end] * gain).astype(np.float32))
    desk.wait(0.6)
    return next((at - onset for at in desk.times(ev.Pause) if at > onset), None)


def _cost() -> Figures:
    """CPU of the echo guard while the tutor speaks and is heard back all the time."""
    voice, way = tutor(), WayBack(delay_ms=130, gain_db=-12)
    pcm = np.rint(voice * 32767).astype("<i2").tobytes()
    size = len(SILENCE)
    played = [pcm[at : at + size] for at in range(0, len(pcm) - size, size)]
    heard = [way.microphone(way.hear(block)) for block in played]
    shares = {}
    for label, is_voice in (("echo", True), ("no_echo", False)):
        best = float("inf")
        for _ in range(5):
            echo, began = Echo(), time.process_time()
            for n, (out, came) in enumerate(zip(played, heard, strict=True)):
                echo.played(out, n * BLOCK_S)
                echo.hear(came, n * BLOCK_S, voice=is_voice)
            best = min(best, (time.process_time() - began) / (len(played) * BLOCK_S))
        shares[label] = best * 100
    return {
        "echo_cpu": figure(
            shares["echo"],
            0.15,
            "% of a core",
            note="heard back all the time; nothing while the tutor is silent",
            without_echo=shares["no_echo"],
        )
    }


def _ends(pauses: tuple[float, ...]) -> Figures:
    """Ends of turns on sentences with one pause each: by our own detection, beside it a plain
    silence of 1500 ms; and by a service that detects them in what the gate lets through, beside it
    the same service on the whole microphone."""
    sentences = turns.sentences()
    spoken = turns.paused(sentences, *((pause,) for pause in pauses))
    whole = turns.paused(sentences, ())
    own, plain = turns.judge(spoken), turns.judge(spoken, plain_ms=1500)
    fluent, fluent_plain = turns.judge(whole), turns.judge(whole, plain_ms=1500)
    live, starved = turns.judge_live(spoken)
    everything, _ = turns.judge_live(spoken, gated=False)
    fluent_live, starved_whole = turns.judge_live(whole)
    thought = turns.judge(turns.paused(sentences, (0.6, 1.0, 1.5)), thinking_s=THINKING_S)
    told = f"one pause of {min(pauses)} to {max(pauses)} s in a sentence"
    return {
        "end_own_detection_delay": figure(
            ms(fluent.median_wait_s),
            ms(fluent_plain.median_wait_s) or 0.0,
            "ms",
            note="median after fluent speech; the budget is the wait of a plain silence of 1500 ms",
            after_pauses_ms=ms(own.median_wait_s),
            plain_after_pauses_ms=ms(plain.median_wait_s),
        ),
        "end_own_detection_false": figure(
            own.false / own.pauses * 100,
            100,
            "% of pauses",
            note=f"{told}; no budget, only beside the plain silence",
            false=own.false,
            pauses=own.pauses,
            plain_percent=plain.false / plain.pauses * 100,
        ),
        "end_live_detection_delay": figure(
            ms(fluent_live.median_wait_s),
            ms(fluent_plain.median_wait_s + SERVICE_LAG_S) or 0.0,
            "ms",
            note="median after fluent speech, the service's silence is 1500 ms; the embedded one",
            after_pauses_ms=ms(live.median_wait_s),
            whole_microphone_ms=ms(everything.median_wait_s),
        ),
        "end_live_detection_false": figure(
            live.false,
            everything.false,
            "in all",
            note=f"{told}; the budget is the same service on the whole microphone",
            percent=live.false / live.pauses * 100,
            pauses=live.pauses,
        ),
        "end_live_starved": figure(
            starved + starved_whole, 0, "turns that never end", turns=len(spoken) + len(whole)
        ),
        "false_ends_with_time_for_thought": figure(
            thought.false,
            0,
            "in all",
            note="own detection; pauses of 0.6, 1.0 and 1.5 s in one sentence",
            sentences=len(thought.turns),
            wait_ms=ms(thought.median_wait_s),
        ),
    }
