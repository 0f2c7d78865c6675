"""What the models cost: list prices in US dollars per 1M tokens, by model and modality. Pure.

Figures of the paid tier of the Developer API as of PRICES_OF. They are reckoned in nano-dollars
(whole numbers: a token costs a few hundred of them), so that sums are exact. Cached input counts
at the full rate, and tokens of no stated modality at the rate of the dearest: a sum may be too
high, never too low.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from media.live.port import Usage

PRICES_OF = date(2026, 11, 30)
NANO = 1_000_000_000
# Words in and out of one modality, by the names the service gives them.
TEXT, AUDIO, IMAGE = "TEXT", "AUDIO", "IMAGE"
_ALIASES = {"VIDEO": IMAGE, "DOCUMENT": TEXT}


def _nano(dollars_per_million: float) -> int:
    """Nano-dollars per token: $0.75 per 1M tokens are 750."""
    return round(dollars_per_million * 1000)


@dataclass(frozen=True, slots=True)
class Rates:
    """Nano-dollars per token. A modality that is not listed costs as much as the dearest.

    `answered_by` is who answers when it is not the model whose name was asked for."""

    prompt: Mapping[str, int]
    response: Mapping[str, int]
    answered_by: str = ""

    @property
    def thoughts(self) -> int:
        """Thinking is billed as written output."""
        return self.response.get(TEXT, max(self.response.values()))


def _rates(
    text_in: float, text_out: float, audio: tuple[float, float] | None = None, image: float = 0.0
) -> Rates:
    prompt, response = {TEXT: _nano(text_in)}, {TEXT: _nano(text_out)}
    if audio is not None:
        prompt[AUDIO], response[AUDIO] = _nano(audio[0]), _nano(audio[1])
    if image:
        prompt[IMAGE] = _nano(image)
    return Rates(prompt, response)


@dataclass(frozen=True, slots=True)
class _Row:
    """Prices of the models whose whole name matches, up to and including `until`."""

    model: re.Pattern[str]
    rates: Rates
    until: date | None = None


# What runs on this machine answers to every name.
FREE = Rates({TEXT: 0}, {TEXT: 0}, answered_by="local-tutor")

_LIVE_3 = _rates(0.75, 4.50, audio=(3.00, 12.00), image=1.00)

# First match wins.
_TABLE = (
    _Row(re.compile(r"gemini-3\.8-live(-extended-thinking)?"), _LIVE_3),
    _Row(re.compile(r"gemini-3\.1-flash-live(-preview)?"), _LIVE_3),
    _Row(
        re.compile(r"gemini-(2\.5-flash(-preview)?-native-audio|live-2\.5-flash)[a-z0-9-]*"),
        _rates(0.50, 2.00, audio=(3.00, 12.00)),
    ),
    _Row(re.compile(r"gemini-3\.8-flash"), _rates(0.75, 3.75), until=date(2026, 12, 31)),
    _Row(re.compile(r"gemini-3\.8-flash"), _rates(1.50, 7.50)),
    _Row(re.compile(r"gemini-3\.5-flash-lite"), _rates(0.30, 2.50)),
)


def rates_of(model: str, on: date) -> Rates | None:
    """The prices of `model` (with or without `models/`) on a day; None when nobody knows them."""
    name = model.removeprefix("models/")
    for row in _TABLE:
        if row.model.fullmatch(name) and (row.until is None or on <= row.until):
            return row.rates
    return None


def nano_usd(
    rates: Rates,
    *,
    prompt: int,
    response: int,
    thoughts: int = 0,
    prompt_by_modality: Mapping[str, int] | None = None,
    response_by_modality: Mapping[str, int] | None = None,
) -> int:
    """The price of so many tokens. The two counts are what is billed: a division by modality is
    trusted only within them, dearest first, and what it leaves out counts as dearest."""
    return (
        _side(prompt, prompt_by_modality or {}, rates.prompt)
        + _side(response, response_by_modality or {}, rates.response)
        + thoughts * rates.thoughts
    )


def spoken_nano(rates: Rates, usage: Usage) -> int:
    """The price of one report of a Live session."""
    return nano_usd(
        rates,
        prompt=usage.prompt,
        response=usage.response,
        thoughts=usage.thoughts,
        prompt_by_modality=usage.prompt_by_modality,
        response_by_modality=usage.response_by_modality,
    )


def written_nano(rates: Rates, prompt: int, response: int) -> int:
    """The price of a written answer to writing."""
    return prompt * rates.prompt[TEXT] + response * rates.response[TEXT]


def _side(count: int, by_modality: Mapping[str, int], rates: Mapping[str, int]) -> int:
    dearest = max(rates.values())
    priced = [
        (rates.get(_ALIASES.get(name, name), dearest), tokens)
        for name, tokens in by_modality.items()
    ]
    nano, left = 0, count
    for rate, tokens in sorted(priced, reverse=True):
        taken = min(tokens, left)
        nano, left = nano + taken * rate, left - taken
    return nano + left * dearest


def dollars(nano: int) -> float:
    """To the millionth of a dollar."""
    return round(nano / NANO, 6)
