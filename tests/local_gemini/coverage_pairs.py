"""Utterances labelled with the agenda points that they show knowledge of (data/coverage.tsv).

`DEVELOPMENT` is what the thresholds were fixed on, `MEASURED` is what the test reports on; they
share no topic. A label says what a fair teacher would tick, not what the judge answers. Two faults
of the measured set were mended for their kind ("when ..." is no question by itself, negation is
compared clause by clause); no number was fitted to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

LABELS = Path(__file__).parent / "data" / "coverage.tsv"


@dataclass(frozen=True)
class Said:
    """`asked` is the point in question, `shows` the points that `text` shows knowledge of."""

    asked: int
    text: str
    shows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Topic:
    title: str
    points: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def said(self) -> tuple[Said, ...]:
        return tuple(said for title, said in _rows() if title == self.title)


@cache
def _rows() -> tuple[tuple[str, Said], ...]:
    rows = []
    for line in LABELS.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        title, asked, shows, text = line.split("\t")
        ticked = () if shows == "-" else tuple(int(item) for item in shows.split(","))
        rows.append((title, Said(int(asked), text, ticked)))
    return tuple(rows)


DEVELOPMENT = (
    Topic(
        "How vaccines train immunity",
        (
            (
                "Antigen",
                (
                    "A vaccine carries an antigen, a harmless piece or a weakened form of a germ.",
                    "It looks like the real thing but can not cause the disease.",
                ),
            ),
            (
                "Lymph node",
                (
                    "Scout cells pick up the antigen and carry it to a lymph node.",
                    "There they present it to white blood cells, and those that fit multiply.",
                ),
            ),
            (
                "Antibodies",
                (
                    "B cells turn into small factories for antibodies.",
                    "Antibodies stick to the germ so that it can no longer enter our cells.",
                ),
            ),
            (
                "Memory cells",
                (
                    "Some fighters stay behind as memory cells for decades.",
                    "If the same germ returns, they react within hours.",
                ),
            ),
            (
                "Herd immunity",
                (
                    "When enough people are immune, a germ finds nobody to jump to.",
                    "Even newborns who are too young for the vaccine are shielded.",
                ),
            ),
        ),
    ),
)

MEASURED = (
    Topic(
        "Plate tectonics",
        (
            (
                "Moving plates",
                (
                    "The outer shell of the Earth is broken into plates.",
                    "Heat from the core drives slow currents in the mantle, and the plates ride on "
                    "them a few centimetres a year.",
                ),
            ),
            (
                "Earthquakes",
                (
                    "Where two plates stick together, stress builds up until the rock breaks.",
                    "The sudden slip shakes the ground, most often near plate borders.",
                ),
            ),
            (
                "Volcanoes",
                (
                    "Where one plate sinks below another, rock melts and magma rises.",
                    "Hot spots such as Hawaii lie far from any border.",
                ),
            ),
            (
                "Mountain ranges",
                (
                    "When two continents collide, neither sinks, so the crust folds and piles up.",
                    "The Himalayas grew when India pushed into Asia.",
                ),
            ),
        ),
    ),
    Topic(
        "Recursion in programming",
        (
            (
                "Self call",
                (
                    "A recursive function calls itself inside its own body.",
                    "Each call has its own copy of the local variables.",
                ),
            ),
            (
                "Base case",
                (
                    "The base case is an input so simple that the function returns without "
                    "another call.",
                    "Without it the calls never end and the stack overflows.",
                ),
            ),
            (
                "Smaller problem",
                (
                    "Every call has to work on a smaller input than the one before.",
                    "So it comes closer to the base case step by step.",
                ),
            ),
            (
                "Call stack",
                (
                    "The computer keeps waiting calls on a stack of frames.",
                    "When the innermost call returns, the frames are taken off one after another.",
                ),
            ),
        ),
    ),
    Topic(
        "The French Revolution",
        (
            (
                "Empty treasury",
                (
                    "Wars and the court had left the king with debts that he could not pay.",
                    "Half of the income of the state went into interest.",
                ),
            ),
            (
                "Bread prices",
                (
                    "Two bad harvests doubled the price of bread in 1788 and 1789.",
                    "A worker in Paris spent most of his wage on it.",
                ),
            ),
            (
                "Third estate",
                (
                    "Nobles and clergy paid hardly any tax, the third estate paid nearly all.",
                    "In June 1789 its deputies declared themselves the National Assembly.",
                ),
            ),
            (
                "Storming of the Bastille",
                (
                    "On 14 July a crowd took the Bastille, a prison, to get gunpowder.",
                    "It became the sign that the king had lost control of Paris.",
                ),
            ),
        ),
    ),
)
