from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.decision import Decision
from agent.dialogue import EXTRA_CHARS, Settled, settle, shown_state
from agent.tiers import DEFAULT_TIERS, TierCaps
from agent.topic import Grounded, Section, Tier
from tests.agent.topics import TOPIC, request_for

CAPS = DEFAULT_TIERS.standard
BARE = replace(TOPIC, outline=())
TITLES = list(TOPIC.titles)
SPOKEN = "Wind drives the surface."

both_modes = pytest.mark.parametrize("reply", [None, SPOKEN], ids=["normal", "observer"])


def settled(
    *,
    mode: Any = "ask",
    state: dict[str, Any] | None = None,
    stored: dict[str, Any] | None = None,
    topic: Grounded = TOPIC,
    caps: TierCaps = CAPS,
    enforce: bool = False,
    reply: str | None = None,
    shown: dict[str, Any] | None = None,
    digest: str | None = None,
) -> Settled:
    request = request_for(topic, tutor_reply=reply, reveal_state=shown or {})
    decision = Decision(mode, "The agent's words.", state or {}, True)
    return settle(request, decision, stored or {}, topic, caps, enforce, refreshed_digest=digest)


@pytest.mark.req("AGND-1", "API-17", "OBS-17")
@both_modes
def test_the_outline_establishes_the_agenda(reply: str | None) -> None:
    got = settled(state={"agenda": ["X"], "coveredAngles": ["X"]}, reply=reply)
    assert got.reveal_state == {"agenda": TITLES, "coveredAngles": []}
    assert got.drifted
    assert got.unmatched == ("X",)


@pytest.mark.req("AGND-1", "AGND-3")
@pytest.mark.parametrize("tier", ["standard", "structured", "deep"])
def test_without_outline_the_model_list_is_capped(tier: Tier) -> None:
    caps = DEFAULT_TIERS.caps(tier)
    points = [f"Point number {n}" for n in range(30)]
    got = settled(state={"agenda": points}, topic=BARE, caps=caps)
    assert got.reveal_state["agenda"] == points[: caps.agenda_max]


@pytest.mark.req("AGND-2", "AGND-12", "OBS-17")
@both_modes
def test_a_stored_agenda_is_kept_verbatim(reply: str | None) -> None:
    stored = {"agenda": ["B", "A", "C"], "coveredAngles": ["A"]}
    got = settled(
        stored=stored,
        state={"agenda": ["A", "B", "C", "D"], "coveredAngles": ["c"]},
        shown={"agenda": ["Z"], "coveredAngles": []},
        reply=reply,
    )
    assert got.reveal_state == {"agenda": ["B", "A", "C"], "coveredAngles": ["A", "C"]}
    assert got.drifted


def test_the_same_agenda_is_no_drift() -> None:
    got = settled(state={"agenda": TITLES, "coveredAngles": ["surface currents"]})
    assert not got.drifted
    assert got.reveal_state["coveredAngles"] == ["Surface currents"]


@pytest.mark.req("API-17")
def test_a_model_that_omits_both_arrays() -> None:
    assert settled(state={}).reveal_state == {"agenda": TITLES, "coveredAngles": []}


@pytest.mark.req("AGND-10", "API-23", "OBS-15", "OBS-17")
@both_modes
@pytest.mark.parametrize(
    ("enforce", "complete", "mode"),
    [
        (False, False, "conclude"),
        (False, True, "conclude"),
        (True, False, "probe"),
        (True, True, "conclude"),
    ],
)
def test_the_gate(enforce: bool, complete: bool, mode: str, reply: str | None) -> None:
    covered = TITLES if complete else TITLES[:1]
    got = settled(mode="conclude", state={"coveredAngles": covered}, enforce=enforce, reply=reply)
    assert got.mode == mode
    assert got.gated is (enforce and not complete)
    assert got.complete is complete
    if reply is not None:
        assert got.context_update is not None
        assert ("wrapped up too early" in got.context_update) is got.gated
        assert ("You have concluded" in got.context_update) is (not got.gated)
        assert f"\nMove: {mode}\n" in got.context_update


@pytest.mark.parametrize("mode", ["ask", "probe", "reveal"])
def test_only_conclude_is_gated(mode: str) -> None:
    got = settled(mode=mode, enforce=True)
    assert (got.mode, got.gated) == (mode, False)


@pytest.mark.req("AGND-10")
def test_coverage_of_the_same_decision_counts_first() -> None:
    stored = {"agenda": TITLES, "coveredAngles": TITLES[:1]}
    got = settled(mode="conclude", stored=stored, state={"coveredAngles": TITLES[1:]}, enforce=True)
    assert got.mode == "conclude"


@pytest.mark.req("AGND-9")
def test_complete_only_with_the_last_point() -> None:
    assert not settled(state={"coveredAngles": TITLES[:-1]}).complete
    assert settled(state={"coveredAngles": TITLES}).complete


@pytest.mark.req("OBS-3", "OBS-4", "OBS-5")
def test_observing_keeps_the_spoken_words() -> None:
    got = settled(mode="reveal", reply=f"  {SPOKEN} ")
    assert got.text == SPOKEN
    assert got.mode == "reveal"
    assert got.context_update is not None
    assert "Note: The agent's words." in got.context_update
    assert "The agent's words." not in repr(replace(got, context_update=None))


@pytest.mark.req("OBS-1", "API-15")
@pytest.mark.parametrize("reply", [None, "", "  \n"])
def test_a_blank_reply_is_normal_mode(reply: str | None) -> None:
    got = settled(reply=reply)
    assert got.text == "The agent's words."
    assert got.context_update is None


@pytest.mark.req("OBS-16")
def test_a_refreshed_digest_is_passed_on() -> None:
    update = settled(reply=SPOKEN, digest="New facts.").context_update
    assert update is not None
    assert update.endswith("Refreshed digest:\n| New facts.")


@pytest.mark.req("AGND-11")
def test_data_without_agenda_or_outline_passes() -> None:
    got = settled(topic=BARE, stored={"coveredAngles": ["old"]}, mode="conclude", enforce=True)
    assert got.reveal_state == {"agenda": [], "coveredAngles": ["old"]}
    assert got.mode == "conclude"
    assert not got.complete


@pytest.mark.parametrize("agenda", [None, "A", 7, [], [1, 2], {"a": 1}])
def test_a_broken_stored_agenda_is_established_anew(agenda: Any) -> None:
    got = settled(stored={"agenda": agenda, "coveredAngles": agenda})
    assert got.reveal_state["agenda"] == TITLES


@pytest.mark.req("PROMPT-6", "DATA-21")
def test_other_progress_is_kept_while_it_is_small() -> None:
    got = settled(stored={"hook": "tides", "n": 1}, state={"n": 2})
    assert got.reveal_state["hook"] == "tides"
    assert got.reveal_state["n"] == 2
    flooded = settled(stored={"n": 1}, state={"n": "x" * EXTRA_CHARS})
    assert flooded.reveal_state["n"] == 1


def test_the_flag_is_passed_on() -> None:
    assert settled().discrepancy_flagged


@pytest.mark.req("AGND-13", "AGND-14")
def test_what_is_shown_before_any_turn() -> None:
    assert shown_state({}, TOPIC, CAPS) == {"agenda": TITLES, "coveredAngles": []}
    stored = {"agenda": ["B", "A"], "coveredAngles": ["a"], "hook": 1}
    assert shown_state(stored, TOPIC, CAPS) == {
        "agenda": ["B", "A"],
        "coveredAngles": ["A"],
        "hook": 1,
    }


def test_a_long_outline_is_capped() -> None:
    long = replace(TOPIC, outline=tuple(Section(f"s{n}", f"P{n}", "") for n in range(9)))
    assert len(shown_state({}, long, CAPS)["agenda"]) == CAPS.agenda_max
