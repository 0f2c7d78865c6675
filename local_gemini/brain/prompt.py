"""Reads the machine format of the product's prompts: grounding tasks, instructions, notes. Pure.

Data lines are prefixed `| `, so nothing inside a document or an utterance can pose as a tag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

STATE_UPDATE = "[TUTOR STATE UPDATE]"
# The app asks for one sentence about the time that is left.
TIME_CHECK = "[TIME CHECK]"
STYLES = ("socratic", "conversational", "lecture")
COVERED = "[covered]"


@dataclass(frozen=True, slots=True)
class GroundTask:
    """A request to ground something; `kind` is `document`, `topic` or `news`."""

    kind: str
    title: str
    document: str
    digest_chars: int
    outline_max: int
    section_chars: int


@dataclass(frozen=True, slots=True)
class Brief:
    """What an instruction tells a tutor: the style, the topic, its digest, its points, progress."""

    style: str = "socratic"
    topic: str = ""
    digest: tuple[str, ...] = ()
    agenda: tuple[str, ...] = ()
    covered: frozenset[str] = frozenset()
    section_ids: tuple[str, ...] = ()
    reveal_state: Mapping[str, Any] = field(default_factory=dict)
    learner_turns: int = 0
    observer: bool = False
    move: bool = False
    recent_tutor: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the move agent is asked about: the utterance and, for an observer, the spoken reply."""

    utterance: str
    reply: str | None
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Update:
    """One `[TUTOR STATE UPDATE]`: what is covered now and where to go next."""

    agenda: tuple[str, ...]
    covered: frozenset[str]
    next_point: str
    note: str
    concluded: bool
    too_early: bool
    digest: tuple[str, ...]
    time_nearly_over: bool = False


def ground_task(text: str) -> GroundTask | None:
    """The grounding task that `text` begins with or holds on a line of its own, if any."""
    found = re.search(r"^TASK ground-(document|topic|news)\s*$", text, re.MULTILINE)
    if found is None:
        return None
    budget = dict(re.findall(r"(\w+)=(\d+)", _value(text, "BUDGET", separator=" ")))
    document = "\n".join(_data(text, "DOCUMENT"))
    return GroundTask(
        kind=found[1],
        title=_value(text, "TITLE"),
        document=document,
        digest_chars=int(budget.get("digestChars", 6_000)),
        outline_max=max(1, int(budget.get("outlineMax", 20))),
        section_chars=int(budget.get("sectionDigestChars", 600)),
    )


def is_news_search(text: str) -> bool:
    """Whether `text` asks for current stories of a theme."""
    return re.search(r"^TASK find-news\s*$", text, re.MULTILINE) is not None


def live_brief(instruction: str) -> Brief:
    """The brief inside a native Live instruction; missing parts stay at their defaults."""
    agenda, covered = _agenda(instruction)
    turns = re.search(r"^The learner has already taken (\d+) turn", instruction, re.MULTILINE)
    return Brief(
        style=_style(instruction),
        topic=_value(instruction, "TOPIC"),
        digest=tuple(_data(instruction, "GROUNDED DIGEST:")),
        agenda=agenda,
        covered=covered,
        learner_turns=int(turns[1]) if turns else 0,
    )


def move_brief(instruction: str) -> Brief:
    """The brief inside a move agent's system instruction, normal or observing."""
    state = _json(_value(instruction, "REVEAL STATE"))
    outline = [line.split(" ", 1) for line in _data(instruction, "OUTLINE:")]
    titles = tuple(" ".join(line[1:]).strip() for line in outline)
    stored = _titles(state.get("agenda"))
    turns = _value(instruction, "LEARNER TURNS")
    recent = [line for line in _data(instruction, "RECENT EXCHANGES:") if line.startswith("tutor:")]
    return Brief(
        style=_style(instruction),
        topic=_value(instruction, "TOPIC"),
        digest=tuple(_data(instruction, "GROUNDED DIGEST:")),
        agenda=stored or titles,
        covered=frozenset(_titles(state.get("coveredAngles"))),
        section_ids=tuple(line[0] for line in outline) if not stored or stored == titles else (),
        reveal_state=state,
        learner_turns=int(turns) if turns.isdigit() else 0,
        observer="OBSERVER MODE" in _unquoted(instruction),
        recent_tutor=recent[-1].removeprefix("tutor:").strip() if recent else "",
        move=bool(re.search(r"^META topicId=", instruction, re.MULTILINE)),
    )


def exchange(message: str) -> Exchange:
    """The move agent's user message; one without the tags is taken as the utterance itself."""
    if not re.search(r"^LEARNER UTTERANCE\b", message, re.MULTILINE):
        return Exchange(message.strip(), None, interrupted=False)
    has_reply = re.search(r"^TUTOR REPLY\b", message, re.MULTILINE) is not None
    return Exchange(
        utterance="\n".join(_data(message, "LEARNER UTTERANCE")).strip(),
        reply="\n".join(_data(message, "TUTOR REPLY")).strip() if has_reply else None,
        interrupted="(the reply was cut short" in _unquoted(message),
    )


def update(text: str) -> Update | None:
    """The state update in `text`, or None when it is something else."""
    if not text.lstrip().startswith(STATE_UPDATE):
        return None
    agenda, covered = _agenda(text)
    return Update(
        agenda=agenda,
        covered=covered,
        next_point=_quoted(text),
        note=_value(text, "Note"),
        concluded="You have concluded" in _unquoted(text),
        too_early="wrapped up too early" in _unquoted(text),
        digest=tuple(_data(text, "Refreshed digest:")),
        time_nearly_over=re.search(r"^Session time:", text, re.MULTILINE) is not None,
    )


def system_text(request: Mapping[str, Any]) -> str:
    """The system instruction of a `generateContent` body as one text."""
    system = request.get("systemInstruction") or {}
    if isinstance(system, str):
        return system
    return "\n".join(_texts(system))


def last_user_text(request: Mapping[str, Any]) -> str:
    """The newest user message that has text; function responses have none."""
    for content in reversed(_contents(request)):
        if content.get("role", "user") == "user" and (text := "\n".join(_texts(content))):
            return text
    return ""


def function_names(request: Mapping[str, Any]) -> frozenset[str]:
    """The names of the function tools that the request offers."""
    return frozenset(
        str(declared.get("name"))
        for tool in request.get("tools") or ()
        for declared in tool.get("functionDeclarations") or ()
    )


def function_answers(request: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The function responses in the request: name and response object, oldest first."""
    return [
        (str(answer.get("name")), answer.get("response") or {})
        for content in _contents(request)
        for part in content.get("parts") or ()
        if (answer := part.get("functionResponse"))
    ]


def _contents(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    contents = request.get("contents") or []
    if isinstance(contents, Mapping):
        contents = [contents]
    return [content for content in contents if isinstance(content, Mapping)]


def _texts(content: Mapping[str, Any]) -> list[str]:
    parts = content.get("parts") or []
    if isinstance(parts, Mapping):
        parts = [parts]
    return [str(part["text"]) for part in parts if part.get("text") and not part.get("thought")]


def _style(text: str) -> str:
    found = re.search(r"^STYLE:\s*(\w+)", text, re.MULTILINE)
    style = found[1].lower() if found else ""
    return style if style in STYLES else "socratic"


def _value(text: str, tag: str, separator: str = ":") -> str:
    found = re.search(rf"^{re.escape(tag)}{separator}[ \t]*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _quoted(text: str) -> str:
    found = re.search(r'^(?:REMAINING:.*?)?Next point to teach: "(.*)"\s*$', text, re.MULTILINE)
    return found[1] if found else ""


def _data(text: str, tag: str) -> Iterator[str]:
    """The `| ` lines right under the line that starts with `tag`, without their prefix."""
    inside = False
    for line in text.split("\n"):
        if not inside:
            inside = line.startswith(tag)
        elif line.startswith("|"):
            yield line[1:].removeprefix(" ").rstrip("\r")
        elif line.strip():
            return


def _agenda(text: str) -> tuple[tuple[str, ...], frozenset[str]]:
    found = re.search(r"^AGENDA:|^Agenda:", text, re.MULTILINE)
    titles: list[str] = []
    covered: set[str] = set()
    for line in text[found.end() :].split("\n") if found else ():
        if not line.strip() and not titles:
            continue
        item = re.match(r"\s*\d+\.\s+(.*?)\s*$", line)
        if item is None:
            break
        title = item[1].removesuffix(COVERED).strip()
        titles.append(title)
        if item[1].endswith(COVERED):
            covered.add(title)
    return tuple(titles), frozenset(covered)


def _unquoted(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith("|"))


def _titles(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
