"""The names of the deploy-managed news themes. Pure.

A theme is stored and counted under a key made of its query, fit for a field name of the store:
`politics & policy news with sources` is `politics-policy`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_TAIL = " news with sources"


@dataclass(frozen=True, slots=True)
class Theme:
    """`key` names it in counts, errors and items; `query` is what is searched for."""

    key: str
    query: str


def theme_of(query: str) -> Theme:
    label = query.removesuffix(_TAIL)
    return Theme(re.sub(r"[^A-Za-z0-9]+", "-", label).strip("-"), query)


def themes_of(queries: Iterable[str]) -> tuple[Theme, ...]:
    return tuple(theme_of(query) for query in queries)
