"""Rule-based `generateContent` for tests: grounding, move agent, observer, functions, schemas.

It reads the machine lines of our prompts (`TASK …`, `TITLE:`, `DOCUMENT`, `META topicId=`,
`OUTLINE:`, `REVEAL STATE:`, `LEARNER UTTERANCE`; data lines start with `| `), deterministically.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from local_gemini.engine import Generated
from local_gemini.instance import instance_of
from local_gemini.wire import text_of

QUOTE = "| "
MAX_OUTLINE = 20
TITLE_CHARS = 80
_MARK = re.compile(r"^\s*(?:[-*•]|#{1,6}|\d+[.)])\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_POINT_ID = re.compile(r"^s\d+\s+")
# Fewer words than this show no understanding of a point.
WORDS_THAT_COVER = 3


def generate(request: Mapping[str, Any]) -> Generated:
    """One answer to a camelCase `generateContent` body."""
    system = text_of(request.get("systemInstruction"))
    contents = request.get("contents") or []
    user = text_of(contents[-1]) if contents else ""
    first = text_of(contents[0]) if contents else ""
    call = _function_call(request, user)
    if call is not None:
        return Generated(function_calls=[call])
    if re.search(r"^TASK find-news$", user, re.MULTILINE):
        return _stories(user)
    if re.search(r"^TASK ground-", user, re.MULTILINE):
        return _ground(user, request)
    if re.search(r"^META topicId=", system, re.MULTILINE):
        return Generated(text=json.dumps(decide(system, first)))
    generation = request.get("generationConfig") or {}
    schema = generation.get("responseJsonSchema") or generation.get("responseSchema")
    if schema:
        return Generated(text=json.dumps(instance_of(schema, user[:TITLE_CHARS])))
    if generation.get("responseMimeType") == "application/json":
        return Generated(text=json.dumps({"text": user}))
    returned = _function_result(contents)
    if returned is not None:
        return Generated(text=f"The function says {json.dumps(returned)}.")
    return Generated(text=f"You asked: {user}")


def quoted(text: str, head: str) -> list[str]:
    """The data lines after a machine line."""
    lines = text.splitlines()
    out: list[str] = []
    found = False
    for line in lines:
        if found and line.startswith(QUOTE.rstrip()):
            out.append(line[len(QUOTE) :])
        elif found and out:
            break
        elif line.strip() == head:
            found = True
    return out


def value_of(text: str, head: str) -> str:
    """What follows a machine tag on its line."""
    match = re.search(rf"^{re.escape(head)}(.*)$", text, re.MULTILINE)
    return match.group(1).strip() if match else ""


def _ground(user: str, request: Mapping[str, Any]) -> Generated:
    title = value_of(user, "TITLE:") or "the topic"
    document = quoted(user, "DOCUMENT")
    expected = value_of(user, "EXPECTED POINTS:")
    if document:
        points = points_of(document, int(expected) if expected.isdigit() else MAX_OUTLINE)
        digest = " ".join(line.strip() for line in document if line.strip())[:6000]
    else:
        points = [f"{ask} {title}" for ask in ("What is", "Why it matters:", "An example of")]
        digest = f"{title} is a topic that can be explained, questioned and applied."
    searched = any("googleSearch" in tool for tool in request.get("tools") or ())
    answer = {
        "digest": digest or title,
        "needsGrounding": searched and not document,
        "depth": "structured" if len(points) > 1 else "standard",
        "outline": [{"title": point, "summary": point} for point in points],
    }
    grounding = _grounding(title) if answer["needsGrounding"] else None
    return Generated(text=json.dumps(answer), grounding=grounding)


def _stories(user: str) -> Generated:
    """As many stories of the theme as asked for, each with its own address."""
    theme, count = value_of(user, "THEME:"), value_of(user, "COUNT:")
    day = value_of(user, "DATE:") or None
    stories = [
        {
            "title": f"{theme.capitalize()}, story {number}",
            "url": f"https://example.org/{number}",
            "summary": f"What happened in story {number}.",
            "publishedAt": day,
        }
        for number in range(1, int(count or 1) + 1)
    ]
    return Generated(text=json.dumps({"stories": stories}), grounding=_grounding(theme))


def points_of(document: list[str], limit: int) -> list[str]:
    """List items and headings first; without any, the first sentences."""
    marked = [_MARK.sub("", line).strip() for line in document if _MARK.match(line)]
    if not marked:
        whole = " ".join(line.strip() for line in document)
        marked = [sentence for sentence in _SENTENCE.split(whole) if sentence]
    titles = [point[:TITLE_CHARS].rstrip(".!?: ") for point in marked if point]
    return list(dict.fromkeys(titles))[: max(1, limit)]


def _grounding(title: str) -> dict[str, Any]:
    return {
        "webSearchQueries": [title],
        "groundingChunks": [{"web": {"uri": "https://example.org/news", "title": title}}],
        "groundingSupports": [],
    }


def decide(system: str, user: str) -> dict[str, Any]:
    """The move agent's answer: the next open point, or the conclusion."""
    try:
        state = json.loads(value_of(system, "REVEAL STATE:") or "{}")
    except ValueError:
        state = {}
    outline = [_POINT_ID.sub("", line) for line in quoted(system, "OUTLINE:")]
    agenda = list(state.get("agenda") or outline or [value_of(system, "TOPIC:") or "the topic"])
    covered = [point for point in state.get("coveredAngles") or [] if point in agenda]
    observer = "OBSERVER MODE" in system
    words = " ".join(quoted(user, "LEARNER UTTERANCE")).split()
    open_points = [point for point in agenda if point not in covered]
    if open_points and len(words) >= WORDS_THAT_COVER:
        covered.append(open_points.pop(0))
    if not open_points:
        mode, text = "conclude", "That is all of it: well done."
    elif observer:
        mode, text = "ask", f"Ask next about: {open_points[0]}."
    elif words and len(words) < WORDS_THAT_COVER:
        mode, text = "probe", f"Let me put it simply: what do you know about {open_points[0]}?"
    else:
        mode, text = "ask", f"What do you think about this: {open_points[0]}?"
    return {
        "mode": mode,
        "text": text,
        "updatedRevealState": {**state, "agenda": agenda, "coveredAngles": covered},
        "discrepancyFlagged": False,
    }


def _function_call(request: Mapping[str, Any], user: str) -> dict[str, Any] | None:
    """Calls a declared function when it must (mode ANY) or when the user names it."""
    if _function_result(request.get("contents") or []) is not None:
        return None
    declared = [
        function
        for tool in request.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    ]
    config = (request.get("toolConfig") or {}).get("functionCallingConfig") or {}
    mode = config.get("mode", "AUTO")
    allowed = config.get("allowedFunctionNames")
    for function in declared:
        name = function.get("name", "")
        if allowed and name not in allowed:
            continue
        if mode == "ANY" or (mode == "AUTO" and re.search(rf"\b{re.escape(name)}\b", user)):
            schema = function.get("parametersJsonSchema") or function.get("parameters") or {}
            args = instance_of(schema, user[:TITLE_CHARS]) if schema else {}
            return {"name": name, "args": args}
    return None


def _function_result(contents: list[Any]) -> Any:
    """What the last content answers to a call, or None."""
    if not contents:
        return None
    for part in contents[-1].get("parts") or ():
        if part.get("functionResponse"):
            return part["functionResponse"].get("response")
    return None
