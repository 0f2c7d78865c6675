"""`runNewsPipeline` and `scheduledNewsPipeline`: gathers news now, or as the day's own run."""

from __future__ import annotations

from typing import Literal

from server.callers import Caller
from server.context import Context
from server.errors import Code, Refused
from server.news.lease import AlreadyRan, LeaseHeld
from server.news.pipeline import RUN_BUDGET_S, run_manually, run_scheduled
from server.registry import Operation, Wire
from server.roles import Role

BUSY_RETRY_S = 30


class RunPipelineRequest(Wire):
    """Nothing to choose: the themes are managed with the deployment."""


class ThemeErrorResponse(Wire):
    theme: str
    message: str


class RunResponse(Wire):
    """The record of the run as it is stored (DATA-15)."""

    ran_at: str
    trigger: Literal["manual", "schedule"]
    by_uid: str
    generated: int
    drafts: int
    published: int
    pruned: int
    errors: list[ThemeErrorResponse]
    by_theme: dict[str, int]


class ScheduledRunResponse(Wire):
    """`reason` when nothing was done: the daily ingest is off, or today's run was before."""

    ran: bool
    reason: Literal["disabled", "already-ran"] | None = None
    run: RunResponse | None = None


def _busy() -> Refused:
    return Refused(
        Code.ABORTED,
        "News is being gathered right now. Look at the pipeline runs in a minute.",
        details={"reason": "running"},
        retry_after_s=BUSY_RETRY_S,
    )


async def run_news_pipeline(
    ctx: Context, caller: Caller, request: RunPipelineRequest
) -> RunResponse:
    """Works whatever the ingest switch says. Raises `aborted` while another run is going on."""
    try:
        run = await run_manually(ctx, caller.uid)
    except LeaseHeld:
        raise _busy() from None
    return RunResponse.model_validate(run.to_store())


async def scheduled_news_pipeline(
    ctx: Context, caller: Caller, request: RunPipelineRequest
) -> ScheduledRunResponse:
    """For an outside timer: the same run that the server makes at 05:00 UTC, once a day."""
    try:
        run = await run_scheduled(ctx)
    except LeaseHeld:
        raise _busy() from None
    except AlreadyRan:
        return ScheduledRunResponse(ran=False, reason="already-ran")
    if run is None:
        return ScheduledRunResponse(ran=False, reason="disabled")
    return ScheduledRunResponse(ran=True, run=RunResponse.model_validate(run.to_store()))


RUN_NEWS_PIPELINE = Operation(
    name="runNewsPipeline",
    summary="Gathers news now.",
    request=RunPipelineRequest,
    response=RunResponse,
    role=Role.ADMIN,
    run=run_news_pipeline,
    deadline_s=RUN_BUDGET_S,
)
SCHEDULED_NEWS_PIPELINE = Operation(
    name="scheduledNewsPipeline",
    summary="Makes today’s scheduled gathering of news, unless it was made or is switched off.",
    request=RunPipelineRequest,
    response=ScheduledRunResponse,
    role=Role.ADMIN,
    run=scheduled_news_pipeline,
    deadline_s=RUN_BUDGET_S,
)
