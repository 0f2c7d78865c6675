"""The prompt that gathers candidate stories for one news theme (PROMPT-8 to 10). Text only."""

from __future__ import annotations

from datetime import date

from agent.prompts.quoting import one_line
from agent.prompts.rules import Rule, compose

ANSWER_STORIES = (
    '{"stories": [{"title": "...", "url": "...", "summary": "...", '
    '"publishedAt": "YYYY-MM-DD" | null}]}'
)

NEWS_SEARCH_RULES: tuple[Rule, ...] = (
    Rule(
        "PROMPT-8",
        "Use web search now and pick concrete stories on the THEME line that are from today or at "
        "most from this week, no more of them than the COUNT line says, each one published by a "
        "reputable source whose address you give.",
    ),
    Rule(
        "PROMPT-9",
        "Answer with this JSON object and nothing else; publishedAt is an ISO date, or null if "
        "the page gives none: " + ANSWER_STORIES + ". Found nothing current? Then it is "
        '{"stories": []}.',
    ),
    Rule(
        "PROMPT-10",
        "Take events that have a date and can be checked before opinion pieces. A title has to "
        "work as the name of a lesson, so keep it short. A summary is one or two neutral "
        "sentences.",
    ),
)


def news_search_prompt(*, theme: str, count: int, today: date) -> str:
    """`theme` is the search query of one theme; `today` is the UTC day."""
    return "\n".join(
        [
            "TASK find-news",
            f"THEME: {one_line(theme)}",
            f"COUNT: {count}",
            f"DATE: {today.isoformat()}",
            "You are the research assistant of a tutoring app whose learners talk about the news.",
            compose(NEWS_SEARCH_RULES),
        ]
    )
