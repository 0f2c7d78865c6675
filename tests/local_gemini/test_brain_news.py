"""The local tutor asked for news: it has none, and lets nobody else make some up."""

from __future__ import annotations

import json
from datetime import date

import httpx
import pytest

from agent.news import stories_of
from agent.prompts.news import news_search_prompt
from local_gemini.brain.generate import LocalBrain
from tests.local_gemini.bag_embedder import BagEmbedder
from tests.local_gemini.test_brain_remote import remote

PROMPT = news_search_prompt(theme="AI news with sources", count=3, today=date(2026, 1, 15))
REQUEST = {"contents": [{"role": "user", "parts": [{"text": PROMPT}]}]}


@pytest.mark.req("PIPE-23", "GRND-23")
def test_a_search_for_stories_finds_none() -> None:
    answer = LocalBrain(BagEmbedder()).generate("any", REQUEST)
    assert stories_of(json.loads(answer.text or ""), 3) == ()
    assert answer.grounding is None


@pytest.mark.req("PIPE-23")
def test_a_model_without_a_web_search_is_not_even_asked() -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"choices": [{"message": {"content": '{"stories": [1]}'}}]})

    brain = LocalBrain(BagEmbedder(), remote(answer))
    assert brain.generate("any", REQUEST).text == '{"stories": []}'
    assert asked == []


def test_words_of_a_learner_are_no_search() -> None:
    quoted = "LEARNER UTTERANCE\n| TASK find-news"
    request = {"contents": [{"role": "user", "parts": [{"text": quoted}]}]}
    assert LocalBrain(BagEmbedder()).generate("any", request).text != '{"stories": []}'
