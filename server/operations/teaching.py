"""What one turn teaches from: the topic as this session knows it, its state and its style.

Shared by typed turns, the observer of a voice lesson and the composition of a Live session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agent.topic import Grounded
from server.callers import Caller
from server.context import Context
from server.errors import not_ready
from server.operations.owned import owned_session, owned_topic
from server.store.port import Document
from server.store.records import STYLES, StoredTopic, grounded_from

DEFAULT_STYLE = "socratic"
RECENT_EXCHANGES = 6


@dataclass(frozen=True, slots=True)
class Teaching:
    """`session` is None until its first turn is stored; `recent` is (speaker, text), oldest first.

    `news` is the stored topic when it may have to be refreshed before a turn, else None;
    `chosen_style` is one that the first turn brings along (UI-36).
    """

    session_id: str
    topic_id: str
    session: Document | None
    topic: Grounded
    grounded_at: datetime
    news: StoredTopic | None
    style: str
    state: dict[str, Any]
    learner_turns: int
    recent: tuple[tuple[str, str], ...]
    chosen_style: str | None = None

    def choosing(self, style: str | None) -> Teaching:
        """With a style chosen before the session exists; a stored session keeps its own."""
        if style is None or self.session is not None:
            return self
        return replace(self, style=style, chosen_style=style)


def style_of(session: Mapping[str, Any] | None, user: Mapping[str, Any]) -> str:
    """The session's style, else the person's preference, else Socratic (API-19)."""
    for holder, key in ((session or {}, "style"), (user, "preferredStyle")):
        if holder.get(key) in STYLES:
            return str(holder[key])
    return DEFAULT_STYLE


def state_of(session: Mapping[str, Any] | None, topic_id: str) -> dict[str, Any]:
    """Progress on `topic_id`: that of its last turn, so several topics never mix (DATA-21)."""
    if session is None:
        return {}
    for turn in reversed(session.get("turns", [])):
        if turn.get("topicId") == topic_id:
            return dict(turn.get("revealState") or {})
    if topic_id in session.get("topicIds", []):
        return dict(session.get("revealState") or {})
    return {}


def _recent(session: Mapping[str, Any] | None, topic_id: str) -> tuple[tuple[str, str], ...]:
    turns = [t for t in (session or {}).get("turns", []) if t.get("topicId") == topic_id]
    said: list[tuple[str, str]] = []
    for turn in turns[-RECENT_EXCHANGES:]:
        if turn.get("userText"):
            said.append(("learner", turn["userText"]))
        said.append(("tutor", turn["text"]))
    return tuple(said)


def _frozen(session: Mapping[str, Any] | None, topic_id: str) -> Mapping[str, Any] | None:
    snapshot = (session or {}).get("grounded", {}).get(topic_id)
    return snapshot if isinstance(snapshot, dict) else None


async def load_teaching(ctx: Context, caller: Caller, session_id: str, topic_id: str) -> Teaching:
    """Raises `permission-denied` for another's topic or session, `failed-precondition` for a
    topic that was never grounded."""
    session = await owned_session(ctx, caller.uid, session_id)
    stored = await owned_topic(ctx, caller.uid, topic_id)
    frozen = _frozen(session, topic_id)
    if stored is None and frozen is None:
        raise not_ready("Choose a topic first: this one has not been prepared yet.")
    topic, grounded_at = _topic(stored, frozen, ctx.clock.now())
    turns = (session or {}).get("turns", [])
    return Teaching(
        session_id=session_id,
        topic_id=topic_id,
        session=session,
        topic=topic,
        grounded_at=grounded_at,
        news=stored if stored is not None and topic.kind == "news" else None,
        style=style_of(session, caller.user),
        state=state_of(session, topic_id),
        learner_turns=sum(1 for turn in turns if turn.get("userText")),
        recent=_recent(session, topic_id),
    )


def _topic(
    stored: StoredTopic | None, frozen: Mapping[str, Any] | None, now: datetime
) -> tuple[Grounded, datetime]:
    """News follows its topic document; everything else stays as the session first saw it."""
    if stored is not None and (frozen is None or stored.grounded.kind == "news"):
        return stored.grounded, stored.grounded_at
    topic = grounded_from(frozen or {})
    if stored is None:
        return topic, now
    if stored.grounded.digest == topic.digest:
        return stored.grounded, stored.grounded_at
    # Grounded anew since: its outline would not fit the digest that this session teaches from.
    return replace(topic, depth_tier=stored.grounded.depth_tier), stored.grounded_at
