"""What the move agent is given of an answer, wherever the model put its words (MOVE-15)."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from agent.failures import EmptyAnswer
from agent.llm import readable


class TextBeside(types.GenerateContentResponse):
    """A response whose words are not in its candidate."""

    @property
    def text(self) -> str | None:
        return "The words."


def answer(kind: type[types.GenerateContentResponse], *parts: dict[str, Any]) -> Any:
    content = {"role": "model", "parts": list(parts)}
    return kind.model_validate({"candidates": [{"content": content, "finishReason": "STOP"}]})


@pytest.mark.req("MOVE-15")
def test_words_beside_the_candidate_become_its_one_text_part() -> None:
    read = readable(answer(TextBeside))
    assert read.content is not None
    assert [part.text for part in read.content.parts or ()] == ["The words."]
    assert read.content.role == "model"


@pytest.mark.req("MOVE-15")
def test_words_of_the_candidate_win_over_those_beside_it() -> None:
    read = readable(answer(TextBeside, {"text": "In "}, {"text": "place."}))
    assert read.content is not None
    assert [part.text for part in read.content.parts or ()] == ["In place."]


@pytest.mark.req("MOVE-15")
def test_a_call_needs_no_words() -> None:
    call = {"functionCall": {"name": "get_topic_context", "args": {}}}
    read = readable(answer(types.GenerateContentResponse, call))
    assert read.content is not None
    assert [part.text for part in read.content.parts or ()] == [None]


@pytest.mark.req("MOVE-15")
def test_no_words_anywhere_is_an_empty_answer() -> None:
    with pytest.raises(EmptyAnswer):
        readable(answer(types.GenerateContentResponse))
