"""What the bench says about hearing: every figure it owes, on a handful of sentences."""

from __future__ import annotations

import json

import pytest

from bench import hearing
from tests.media.hearing import clips, need, noises, turns


@pytest.mark.speech
@pytest.mark.req("VOICE-56")
def test_onsets_false_alarms_and_ends_of_both_ways_of_detection_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need.local_voice()
    few = clips.joe()[:3]
    sentences = turns.sentences()[:2]
    monkeypatch.setattr(clips, "everybody", lambda: few)
    monkeypatch.setattr(turns, "sentences", lambda: sentences)
    monkeypatch.setattr(hearing, "ALONE_S", 4.0)
    monkeypatch.setattr(hearing, "ECHO_DB", (-12,))
    monkeypatch.setattr(hearing, "DELAYS_MS", (130,))
    told = hearing.hearing(quick=True)
    figures = told["figures"]
    for noise in noises.NAMES:
        for snr, budget in hearing.ONSET_MS.items():
            onset = figures[f"onset_{noise}_{snr}db"]
            assert onset["budget"] == budget
            assert {"p90", "missed", "clipped", "false_openings_a_minute"} <= onset.keys()
        alone = figures[f"noise_alone_{noise}"]
        assert (alone["budget"], alone["unit"]) == (1, "openings a minute")
    for way in ("own", "live"):
        assert figures[f"end_{way}_detection_delay"]["value"] > 0
        assert figures[f"end_{way}_detection_false"]["pauses"] > 0
    assert figures["end_live_starved"]["value"] == 0
    assert figures["end_own_detection_delay"]["value"] < 2000
    json.dumps(told, allow_nan=False)
