"""A grounded topic: what the tutor teaches from. Plain values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["core", "news", "document"]
Tier = Literal["standard", "structured", "deep"]

KINDS: tuple[Kind, ...] = ("core", "news", "document")
TIERS: tuple[Tier, ...] = ("standard", "structured", "deep")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a fact comes from; `url` is empty for a document, `published_at` an ISO date."""

    title: str
    url: str
    published_at: str | None = None

    def wire(self) -> dict[str, Any]:
        return {"title": self.title, "url": self.url, "publishedAt": self.published_at}


@dataclass(frozen=True, slots=True)
class Section:
    """One point of the outline; `id` is `s1`…`sN`, given by us (GRND-3)."""

    id: str
    title: str
    summary: str

    def wire(self) -> dict[str, str]:
        return {"id": self.id, "title": self.title, "summary": self.summary}


@dataclass(frozen=True, slots=True)
class Grounded:
    """The digest, its sources and its outline, already clamped to `depth_tier`."""

    topic: str
    kind: Kind
    digest: str
    needs_grounding: bool
    sources: tuple[Source, ...]
    depth_tier: Tier
    outline: tuple[Section, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(section.title for section in self.outline)

    def section(self, section_id: str) -> Section | None:
        return next((s for s in self.outline if s.id == section_id), None)
