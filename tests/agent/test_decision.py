from __future__ import annotations

import json
from typing import Any

import pytest

from agent.decision import DecisionInvalid, parse_decision


def answer(**changes: Any) -> str:
    fields: dict[str, Any] = {
        "mode": "ask",
        "text": "Why?",
        "updatedRevealState": {"agenda": ["A"], "coveredAngles": []},
        "discrepancyFlagged": False,
    }
    fields |= changes
    return json.dumps({key: value for key, value in fields.items() if value is not ...})


@pytest.mark.req("MOVE-12", "PROMPT-1")
@pytest.mark.parametrize("mode", ["ask", "probe", "reveal", "conclude", "ASK", " Probe "])
def test_modes(mode: str) -> None:
    assert parse_decision(answer(mode=mode)).mode == mode.strip().lower()


@pytest.mark.req("MOVE-12")
def test_what_may_be_missing() -> None:
    got = parse_decision(answer(updatedRevealState=..., discrepancyFlagged=...))
    assert got.updated_reveal_state == {}
    assert got.discrepancy_flagged is False


@pytest.mark.req("STYLE-9", "MOVE-12")
def test_the_flag_passes_through() -> None:
    assert parse_decision(answer(discrepancyFlagged=True)).discrepancy_flagged is True


@pytest.mark.req("MOVE-12")
@pytest.mark.parametrize(
    "changes",
    [
        {"mode": "sing"},
        {"mode": ""},
        {"mode": None},
        {"mode": 1},
        {"mode": ["ask"]},
        {"mode": ...},
        {"text": ""},
        {"text": "  \n"},
        {"text": None},
        {"text": 5},
        {"text": ...},
        {"text": "x" * 8_001},
        {"updatedRevealState": []},
        {"updatedRevealState": "state"},
        {"updatedRevealState": None},
        {"discrepancyFlagged": 1},
        {"discrepancyFlagged": "true"},
        {"discrepancyFlagged": None},
    ],
)
def test_invalid(changes: dict[str, Any]) -> None:
    with pytest.raises(DecisionInvalid):
        parse_decision(answer(**changes))


@pytest.mark.req("MOVE-12")
@pytest.mark.parametrize("wrap", ["```json\n{}\n```", "Sure!\n{}", "{}\nDone.", "note {{x}} {}"])
def test_wrapping(wrap: str) -> None:
    text = wrap.replace("{{x}}", "<x>").replace("{}", answer())
    assert parse_decision(text).text == "Why?"


@pytest.mark.parametrize("text", ["", "no", "[]", answer()[:-1] + ",}", "{" * 70_000, "x" * 10**7])
def test_garbage_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(DecisionInvalid) as refusal:
        parse_decision(text)
    assert len(str(refusal.value)) < 120
