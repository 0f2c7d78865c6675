"""What a lesson costs: prices, the ways in which models count, and the meter's cents."""

import logging
from datetime import date

import pytest
from pydantic import BaseModel

from agent.usage import TokenUsage
from media.live.port import Usage
from server import rtvi
from server.meter import Meter
from server.prices import FREE, Rates, dollars, nano_usd, rates_of
from server.usage import Tally
from server.usage_stream import Counting, UsageStream, counting_of

NOVEMBER = date(2026, 11, 30)
LIVE = "gemini-3.8-live"
MYSTERY = "gemini-9-live"
LIVE_RATES = rates_of(LIVE, NOVEMBER)

# Three turns of one lesson: ms of reply heard, and what was really used for each (prompt of text
# and audio, response, thoughts).
TURNS = ((4000, 1000, 100, 100, 0), (9000, 1000, 425, 225, 12), (2000, 1000, 750, 50, 0))
# By hand: text in 3 x 1000 x $0.75, audio in 1275 x $3, audio out 375 x $12, thoughts 12 x $4.50.
GOLDEN_USD = (3000 * 0.75 + 1275 * 3 + 375 * 12 + 12 * 4.5) / 1e6


def _usage(text: int, audio: int, response: int, thoughts: int) -> Usage:
    return Usage(
        prompt=text + audio,
        response=response,
        thoughts=thoughts,
        total=text + audio + response + thoughts,
        prompt_by_modality={"TEXT": text, "AUDIO": audio},
        response_by_modality={"AUDIO": response},
    )


def _separate() -> list[tuple[float, Usage]]:
    return [(ms, _usage(*counts)) for ms, *counts in TURNS]


def _running() -> list[tuple[float, Usage]]:
    sums = [0, 0, 0, 0]
    stream = []
    for ms, *counts in TURNS:
        sums = [total + count for total, count in zip(sums, counts, strict=True)]
        stream.append((float(ms), _usage(*sums)))
    return stream


def _metered(
    model: str, stream: list[tuple[float, Usage]], rates: Rates | None = LIVE_RATES
) -> rtvi.Cost:
    told: list[BaseModel] = []

    async def used(usage: Usage, model: str) -> None:
        """Not run here."""

    meter = Meter(used, told.append, lambda _: rates)
    meter.bind(model)
    for ms, usage in stream:
        meter.sound(ms)
        meter.turn_ended()
        meter.count(usage)
    assert told[-1] == meter.cost
    return meter.cost


@pytest.mark.parametrize("model", [LIVE, MYSTERY])
def test_separate_reports_cost_their_sum(model: str) -> None:
    """T23."""
    cost = _metered(model, _separate())
    assert cost.usd == pytest.approx(GOLDEN_USD, abs=1e-6)
    assert (cost.input_tokens, cost.output_tokens) == (4275, 387)


def test_running_totals_cost_their_last() -> None:
    """T23: the same lesson, told the other way, costs the same cent for cent."""
    cost = _metered(MYSTERY, _running())
    assert cost.usd == pytest.approx(GOLDEN_USD, abs=1e-6)
    assert (cost.input_tokens, cost.output_tokens) == (4275, 387)


def test_totals_that_run_within_a_turn_cost_the_last_of_each() -> None:
    """T23."""
    stream = UsageStream()
    billed = []
    for ms, *counts in TURNS:
        text, audio, response, thoughts = counts
        stream.sound(ms / 2)
        billed.append(stream.report(_usage(text, audio, response // 2, 0)))
        stream.sound(ms / 2)
        billed.append(stream.report(_usage(text, audio, response, thoughts)))
        stream.turn_ended()
    assert stream.counting is Counting.TURN
    assert sum(one.response for one in billed) == 375
    assert sum(one.prompt for one in billed) == 4275


def test_running_totals_that_begin_again_are_not_lost() -> None:
    """T23: a new connection counts from nothing."""
    cost = _metered(MYSTERY, _running() + _running()[:1])
    assert cost.output_tokens == 387 + 100
    assert cost.input_tokens == 4275 + 1100


def test_a_report_that_comes_twice_through_a_running_total_costs_nothing() -> None:
    stream = _running()
    cost = _metered(MYSTERY, [*stream, (0.0, stream[-1][1])])
    assert cost.output_tokens == 387


@pytest.mark.parametrize("model", [LIVE, f"models/{LIVE}", f"{LIVE}-extended-thinking"])
def test_known_models_are_not_guessed_at(model: str) -> None:
    assert counting_of(model) is Counting.REPORT
    rates = rates_of(model, NOVEMBER)
    assert rates is not None
    minute = nano_usd(rates, prompt=1500, response=0, prompt_by_modality={"AUDIO": 1500})
    assert dollars(minute) == 0.0045


def test_a_model_that_nobody_knows_has_no_price() -> None:
    for model in (MYSTERY, "gemini-3.8-live-next", "xgemini-3.8-live", ""):
        assert rates_of(model, NOVEMBER) is None
    cost = _metered(MYSTERY, _separate(), rates=None)
    assert (cost.usd, cost.input_tokens) == (None, 4275)


def test_one_unpriced_part_leaves_the_whole_without_a_price() -> None:
    async def used(usage: Usage, model: str) -> None:
        """Not run here."""

    rates: dict[str, Rates | None] = {LIVE: rates_of(LIVE, NOVEMBER), MYSTERY: None}
    meter = Meter(used, lambda message: None, rates.__getitem__)
    meter.bind(LIVE)
    meter.count(_usage(10, 10, 10, 0))
    assert meter.cost.usd is not None
    meter.bind(MYSTERY)
    assert meter.cost.usd is None
    meter.count(_usage(10, 10, 10, 0))
    meter.bind(LIVE)
    meter.count(_usage(10, 10, 10, 0))
    assert (meter.cost.usd, meter.cost.input_tokens) == (None, 60)


def test_prices_change_with_the_year() -> None:
    old, new = (rates_of("gemini-3.8-flash", day) for day in (NOVEMBER, date(2027, 1, 1)))
    assert old is not None
    assert new is not None
    assert new.prompt["TEXT"] == 2 * old.prompt["TEXT"]


@pytest.mark.parametrize(
    ("details", "nano"),
    [
        ({"TEXT": 60, "AUDIO": 40}, 60 * 750 + 40 * 3000),
        ({}, 100 * 3000),  # audio is never billed as text for want of a word
        ({"TEXT": 60}, 60 * 750 + 40 * 3000),
        ({"TEXT": 90, "AUDIO": 90}, 90 * 3000 + 10 * 750),  # details that sum to too much
        ({"SMELL": 100}, 100 * 3000),
        ({"VIDEO": 100}, 100 * 1000),
    ],
)
def test_details_are_trusted_within_the_count_only(details: dict[str, int], nano: int) -> None:
    """T23: they do not always add up."""
    rates = rates_of(LIVE, NOVEMBER)
    assert rates is not None
    assert nano_usd(rates, prompt=100, response=0, prompt_by_modality=details) == nano


def test_the_local_tutor_is_free() -> None:
    assert _metered(LIVE, _separate(), FREE).usd == 0.0


@pytest.mark.req("AUTH-19")
def test_the_price_of_an_answer_is_in_the_log_and_nowhere_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "server")
    tally = Tally(lambda model: rates_of(model, NOVEMBER))
    tally.sink("dialogueTurn", "gemini-3.8-flash", TokenUsage(1_000_000, 100_000, 100_000, 0, 0))
    tally.sink("dialogueTurn", "gemini-who-knows", TokenUsage(1, 1, 0, 0, 2))
    known, unknown = caplog.records
    assert known.usd == 1.5  # type: ignore[attr-defined]
    assert not hasattr(unknown, "usd")
