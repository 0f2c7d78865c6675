"""What the kind of a topic means for authority and freshness (MOVE-23). Text only."""

from __future__ import annotations

from datetime import UTC, datetime

from agent.topic import Grounded


def kind_note(topic: Grounded, grounded_at: datetime | None = None) -> str:
    """One line naming the kind; news carries the grounding time (UTC) when it is known."""
    match topic.kind:
        case "document":
            return (
                "KIND: document. The learner brought this text. Teach what it says, on its "
                "authority; where you know better or more, mark that as coming from outside it."
            )
        case "news":
            return (
                f"KIND: news. Searched{_at(grounded_at)}. On recent events the digest is newer "
                "than what you remember and wins; say so when something may have changed since."
            )
        case _:
            how = "checked on the web" if topic.needs_grounding else "settled knowledge"
            return (
                f"KIND: core. This is a lasting subject ({how}); the digest stays as it is for "
                "the whole lesson, and your own knowledge may round it off."
            )


def _at(moment: datetime | None) -> str:
    if moment is None:
        return " recently"
    return moment.astimezone(UTC).strftime(" on %Y-%m-%d at %H:%M UTC")
