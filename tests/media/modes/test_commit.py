"""When words are an utterance: 400 ms after the activity, at the final transcript, never twice."""

from __future__ import annotations

import pytest

from media.modes.commit import COMMIT_S, ENDLESS_S, STRANDED_S, LearnerCommit
from media.turn_events import LearnerWords


def words(at: float, text: str, *, finished: bool = False) -> LearnerWords:
    return LearnerWords(at, text, finished)


def spoken(text: str, *, ended: float = 2.0) -> LearnerCommit:
    commit = LearnerCommit()
    commit.activity(1.0, True)
    commit.hear(words(1.5, text))
    commit.activity(ended, False)
    return commit


@pytest.mark.req("VOICE-25")
def test_words_are_committed_400_ms_after_the_activity() -> None:
    commit = spoken("It is")
    assert commit.due() == 2.0 + COMMIT_S == 2.4
    assert commit.take(2.39) is None
    commit.hear(words(2.3, " light."))
    assert commit.due() == 2.4
    assert commit.take(2.4) == "It is light."
    assert commit.due() is None


@pytest.mark.req("VOICE-25", "VOICE-14")
def test_a_final_transcript_commits_at_once() -> None:
    commit = LearnerCommit()
    commit.activity(1.0, True)
    commit.hear(words(1.5, "It is"))
    assert commit.take(1.5) is None
    commit.hear(words(1.6, " light.", finished=True))
    assert commit.take(1.6) == "It is light."


@pytest.mark.req("VOICE-25")
def test_words_that_come_after_the_window_get_a_window_of_their_own() -> None:
    commit = LearnerCommit()
    commit.activity(1.0, True)
    commit.activity(2.0, False)
    assert commit.due() is None
    commit.hear(words(3.0, "It is light."))
    assert commit.due() == 3.4


@pytest.mark.req("VOICE-26")
@pytest.mark.parametrize("again", ["It is light.", "it  IS light.", "It is light. "])
def test_a_resent_transcript_is_dropped(again: str) -> None:
    commit = spoken("It is light.")
    assert commit.take(2.4)
    assert commit.hear(words(2.6, again, finished=True)) is False
    assert commit.due() is None


@pytest.mark.req("VOICE-26")
def test_a_transcript_resent_in_pieces_is_dropped_too() -> None:
    commit = spoken("It is light.")
    assert commit.take(2.4)
    commit.hear(words(2.6, "It is"))
    commit.hear(words(2.7, " light.", finished=True))
    assert commit.take(2.7) is None
    assert commit.text == ""


@pytest.mark.req("VOICE-26")
def test_the_same_words_in_a_new_utterance_count() -> None:
    commit = spoken("Yes.")
    assert commit.take(2.4)
    commit.activity(5.0, True)
    commit.hear(words(5.5, "Yes.", finished=True))
    assert commit.take(5.5) == "Yes."


@pytest.mark.req("VOICE-32")
def test_no_pause_ends_an_utterance_while_somebody_is_heard() -> None:
    commit = LearnerCommit()
    commit.activity(1.0, True)
    commit.sounding = True
    commit.hear(words(1.5, "It is"))
    assert commit.due() is None
    commit.sounding = False
    # A pause of ten seconds in a sentence: the service still hears them.
    assert commit.take(11.5) is None
    assert commit.due() == 1.5 + ENDLESS_S


@pytest.mark.req("VOICE-32")
def test_words_without_any_activity_are_not_lost() -> None:
    commit = LearnerCommit()
    commit.hear(words(1.5, "It is light."))
    assert commit.due() == 1.5 + STRANDED_S
    commit.sounding = True
    assert commit.due() is None
