"""Since when there are words whose speaker is not known."""

from __future__ import annotations

import pytest

from media.doubt import Doubt
from media.echo import Hearing


def test_what_was_in_doubt_belongs_to_what_is_certain_soon_after() -> None:
    doubt = Doubt()
    doubt.heard(1.0, Hearing.UNSURE, voice=True)
    doubt.heard(1.5, Hearing.UNSURE, voice=False)
    doubt.heard(1.9, Hearing.FREE, voice=True)
    assert doubt.first(1.86) == 1.0


@pytest.mark.parametrize("hearing", [Hearing.FREE, Hearing.OWN])
def test_where_nobody_doubted_the_onset_is_the_onset(hearing: Hearing) -> None:
    doubt = Doubt()
    doubt.heard(1.0, hearing, voice=True)
    assert doubt.first(1.86) == 1.86


def test_a_second_of_silence_ends_it() -> None:
    doubt = Doubt()
    doubt.heard(1.0, Hearing.LIKELY, voice=True)
    doubt.heard(2.1, Hearing.LIKELY, voice=True)
    assert doubt.first(2.06) == 2.06
    assert doubt.first(2.5) == 2.1


def test_a_known_echo_ends_it() -> None:
    doubt = Doubt()
    doubt.heard(1.0, Hearing.LIKELY, voice=True)
    doubt.heard(1.2, Hearing.ECHO, voice=True)
    assert doubt.first(1.4) == 1.4
