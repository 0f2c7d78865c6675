"""Answers `generateContent`: grounding, the move agent's turn, the observer's judgement, talk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from local_gemini.brain import prompt
from local_gemini.brain.coverage import Judge
from local_gemini.brain.intent import Intent, classify
from local_gemini.brain.language import sentences
from local_gemini.brain.mind import LocalMind
from local_gemini.brain.observe import observe
from local_gemini.brain.outline import Outline, Part, outline_document
from local_gemini.brain.points import Point, points_of
from local_gemini.brain.progress import Progress
from local_gemini.brain.prompt import Brief, Exchange, GroundTask
from local_gemini.brain.remote import RemoteModel
from local_gemini.brain.reveal_state import progress_of, reveal_state_of
from local_gemini.brain.unaided import ANGLES, NO_KNOWLEDGE, is_unaided
from local_gemini.brain.vectors import Vectors
from local_gemini.brain.walk import Walk
from local_gemini.engine import Embedder, Generated

SECTION_TOOL = "get_topic_section"
# An answer beyond the cap is cut and then no JSON any more; quotes and escapes need their share.
OUTPUT_TOKENS, CHARS_PER_TOKEN = 2_048, 4
JSON_SHARE, JSON_FRAME = 0.9, 900
NO_STORIES = '{"stories": []}'
# A sentence for the learner, under a key of its own: an answer without a digest is no digest.
UNREADABLE = "The local tutor cannot read this file. Please paste its text instead."


class LocalBrain:
    """The deterministic tutor behind the loopback API; shared by all sessions, thread-safe."""

    def __init__(self, embedder: Embedder, remote: RemoteModel | None = None) -> None:
        self._vectors = Vectors(embedder)
        self._remote = remote

    def mind(self, instruction: str) -> LocalMind:
        """A tutor for one Live session."""
        return LocalMind(instruction, self._vectors, self._remote)

    def generate(self, model: str, request: Mapping[str, Any]) -> Generated:
        """Answer a `generateContent` body (camelCase); never raises for odd content."""
        message = prompt.last_user_text(request)
        system = prompt.system_text(request)
        if prompt.is_news_search(message):  # nobody here can search: no words of a remote model
            return Generated(text=NO_STORIES)
        task = prompt.ground_task(message) or prompt.ground_task(system)
        brief = prompt.move_brief(system)
        structured = task is not None or brief.move or brief.observer
        if self._remote is not None:
            worded = self._remote.complete(system, [("user", message)])
            if worded is not None and (not structured or _has_json(worded)):
                return Generated(text=worded)
        if task is not None:
            return self._ground(task, _answer_chars(request))
        if structured:
            return self._decide(brief, prompt.exchange(message), request)
        return Generated(text=self._talk(message))

    def _ground(self, task: GroundTask, room: int) -> Generated:
        if task.kind == "document" and not task.document.strip():
            return Generated(text=json.dumps({"unreadable": UNREADABLE, "digest": ""}))
        outline = (
            _angles(task)
            if task.kind != "document"
            else outline_document(
                task.document,
                title=task.title,
                digest_chars=task.digest_chars,
                outline_max=task.outline_max,
                section_chars=task.section_chars,
                total_chars=room,
            )
        )
        answer = {
            "digest": outline.digest,
            "needsGrounding": False,
            "depth": outline.depth,
            "outline": [{"title": p.title, "summary": p.summary} for p in outline.parts],
        }
        return Generated(text=json.dumps(answer, ensure_ascii=False))

    def _decide(self, brief: Brief, asked: Exchange, request: Mapping[str, Any]) -> Generated:
        agenda = brief.agenda
        if not agenda:
            digest = "\n".join(brief.digest)
            agenda = tuple(part.title for part in outline_document(digest, outline_max=5).parts)
        points = list(points_of(agenda, brief.digest))
        progress = progress_of(brief, agenda)
        missing = _section_wanted(brief, points, progress)
        if missing is not None:
            found = [
                answer for name, answer in prompt.function_answers(request) if name == SECTION_TOOL
            ]
            if found and (summary := _summary(found[-1])):
                points[missing] = Point(agenda[missing], tuple(sentences(summary)))
            elif not found and SECTION_TOOL in prompt.function_names(request):
                arguments = {"sectionId": brief.section_ids[missing]}
                return Generated(function_calls=[{"name": SECTION_TOOL, "args": arguments}])
        judge = Judge(self._vectors, brief.topic, points)
        walk = Walk(judge, brief.style, progress)
        if asked.reply is not None:
            mode, text = observe(walk, asked)
        else:
            move = walk.step(asked.utterance)
            mode, text = move.mode, " ".join(move.sentences)
        decision = {
            "mode": mode,
            "text": text,
            "updatedRevealState": reveal_state_of(brief, agenda, walk.progress),
            "discrepancyFlagged": False,
        }
        return Generated(text=json.dumps(decision, ensure_ascii=False))

    def _talk(self, message: str) -> str:
        opener = "Hello." if classify(message) is Intent.GREETING else "I am the local tutor."
        return (
            f"{opener} I run on this machine without outside knowledge, so I cannot answer free "
            "questions. I can ask you about a text that you paste and keep track of its points."
        )


def _section_wanted(brief: Brief, points: list[Point], progress: Progress) -> int | None:
    """The point in question when the digest holds nothing about it but its section may."""
    if is_unaided(" ".join(brief.digest)):  # and so is every section of it
        return None
    index = progress.asked
    if index is None:
        index = next((i for i in range(len(points)) if i not in progress.covered), None)
    if index is None or index >= len(brief.section_ids) or points[index].body:
        return None
    return index


def _angles(task: GroundTask) -> Outline:
    """Study angles for a bare title: questions to work through, no facts."""
    name = " ".join(task.title.split()) or "the topic"
    parts = tuple(Part(angle, NO_KNOWLEDGE) for angle in ANGLES[: task.outline_max])
    return Outline(f"{name}. {NO_KNOWLEDGE}"[: task.digest_chars], "standard", parts)


def _answer_chars(request: Mapping[str, Any]) -> int:
    """Characters of digest, titles and summaries that fit the request's output cap as JSON."""
    limit = (request.get("generationConfig") or {}).get("maxOutputTokens")
    tokens = limit if isinstance(limit, int) and limit > 0 else OUTPUT_TOKENS
    return int(tokens * CHARS_PER_TOKEN * JSON_SHARE) - JSON_FRAME


def _summary(response: Mapping[str, Any]) -> str:
    """The section's summary, wherever in the tool's answer it stands."""
    for key, value in response.items():
        if key == "summary" and isinstance(value, str):
            return value
        if isinstance(value, Mapping) and (inner := _summary(value)):
            return inner
    return ""


def _has_json(text: str) -> bool:
    start, end = text.find("{"), text.rfind("}")
    try:
        return start >= 0 and isinstance(json.loads(text[start : end + 1]), dict)
    except ValueError:
        return False
