"""The shapes of what Pidjin stores (DATA-1 to DATA-24), and their paths. No I/O, no clock."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agent.topic import KINDS, TIERS, Grounded, Section, Source
from server.clock import moment, stamp
from server.store.port import MAX_DEPTH, Document

STYLES = ("socratic", "conversational", "lecture")
TOPIC_ID = re.compile(r"[0-9a-f]{64}\Z")
# One turn's stored progress, in characters of JSON-like content; the rest is cut away.
PROGRESS_TEXT_MAX = 500
PROGRESS_ITEMS_MAX = 60
PROGRESS_DEPTH_MAX = 6
_KEY_CHARS = re.compile(r"[^A-Za-z0-9_-]")


def user_path(uid: str) -> str:
    return f"users/{uid}"


def topic_path(topic_id: str) -> str:
    return f"topics/{topic_id}"


def session_path(session_id: str) -> str:
    return f"sessions/{session_id}"


def deleted_session_path(session_id: str) -> str:
    return f"deletedSessions/{session_id}"


def voice_session_path(session_id: str) -> str:
    return f"voiceSessions/{session_id}"


def usage_path(uid: str, day: str) -> str:
    return f"usage/{uid}_{day}"


def spending_path(uid: str, day: str) -> str:
    """The price of what `usage_path` counts; a document of its own, as DATA-24 is exact."""
    return f"spending/{uid}_{day}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def shared_topic_id(title: str) -> str:
    """Id of a core or news topic for its first owner (DATA-4)."""
    return _sha256(title.strip().lower())


def own_topic_id(title: str, uid: str) -> str:
    """Id of the same topic for everybody who came later: their own copy (DATA-4)."""
    return _sha256(f"{title.strip().lower()}:{uid}")


def document_topic_id(title: str, uid: str) -> str:
    """Id and cache key of a document, always scoped to its owner (DATA-5)."""
    return _sha256(f"doc:{uid}:{title}")


def new_user(*, email: str, display_name: str, role: str, now: datetime) -> Document:
    """DATA-1; optional keys are absent before they are set."""
    user: Document = {"email": email, "role": role, "createdAt": stamp(now)}
    if display_name:
        user["displayName"] = display_name
    return user


@dataclass(frozen=True, slots=True)
class StoredTopic:
    """A `topics/{id}` document: its grounding, owner and times."""

    id: str
    uid: str
    grounded: Grounded
    grounded_at: datetime
    ttl_expires_at: datetime
    content_hash: str | None = None

    def to_store(self) -> Document:
        """DATA-3; `contentHash` (documents only) stays inside the server."""
        data: Document = {"uid": self.uid, **self._content()}
        if self.content_hash is not None:
            data["contentHash"] = self.content_hash
        return data

    def to_wire(self) -> dict[str, Any]:
        return {"topicId": self.id, **self._content()}

    def _content(self) -> dict[str, Any]:
        return {
            "topic": self.grounded.topic,
            "kind": self.grounded.kind,
            "digest": self.grounded.digest,
            "needsGrounding": self.grounded.needs_grounding,
            "sources": [source.wire() for source in self.grounded.sources],
            "groundedAt": stamp(self.grounded_at),
            "ttlExpiresAt": stamp(self.ttl_expires_at),
            "depthTier": self.grounded.depth_tier,
            "outline": [section.wire() for section in self.grounded.outline],
        }

    @classmethod
    def from_store(cls, topic_id: str, data: Mapping[str, Any]) -> StoredTopic:
        return cls(
            id=topic_id,
            uid=str(data["uid"]),
            grounded=grounded_from(data),
            grounded_at=moment(data["groundedAt"]),
            ttl_expires_at=moment(data["ttlExpiresAt"]),
            content_hash=data.get("contentHash"),
        )


def grounded_from(data: Mapping[str, Any]) -> Grounded:
    """Grounding content of a topic document or of a session's snapshot (which has no outline)."""
    kind, tier = data.get("kind"), data.get("depthTier")
    return Grounded(
        topic=str(data["topic"]),
        kind=next((known for known in KINDS if known == kind), "core"),
        digest=str(data["digest"]),
        needs_grounding=data.get("needsGrounding") is True,
        sources=tuple(
            Source(str(s["title"]), str(s["url"]), s.get("publishedAt"))
            for s in data.get("sources", [])
        ),
        depth_tier=next((known for known in TIERS if known == tier), "standard"),
        outline=tuple(
            Section(str(s["id"]), str(s["title"]), str(s["summary"]))
            for s in data.get("outline", [])
        ),
    )


def snapshot(grounded: Grounded) -> Document:
    """The grounding a turn really used, kept in the session (DATA-19)."""
    return {
        "topic": grounded.topic,
        "digest": grounded.digest,
        "needsGrounding": grounded.needs_grounding,
        "sources": [source.wire() for source in grounded.sources],
        "kind": grounded.kind,
    }


def portable(value: object, depth: int = 0) -> Any:
    """Model-made progress, made storable: JSON subset of the store, bounded in every direction."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()[:PROGRESS_TEXT_MAX]
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)[:PROGRESS_TEXT_MAX]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= min(PROGRESS_DEPTH_MAX, MAX_DEPTH):
        return None
    if isinstance(value, Mapping):
        kept: dict[str, Any] = {}
        for key, item in list(value.items())[:PROGRESS_ITEMS_MAX]:
            name = _KEY_CHARS.sub("_", str(key))[:100].strip("_") or "key"
            kept[name] = portable(item, depth + 1)
        return kept
    if isinstance(value, Sequence):
        return [
            {"items": portable(item, depth + 2)}
            if isinstance(item, Sequence) and not isinstance(item, str)
            else portable(item, depth + 1)
            for item in value[:PROGRESS_ITEMS_MAX]
        ]
    return str(value)[:PROGRESS_TEXT_MAX]
