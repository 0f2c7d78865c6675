"""`adminGetNewsConfig` and `adminSetNewsConfig`: the two switches of the news (API-40, API-41)."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from server.callers import Caller
from server.clock import stamp
from server.config import CONFIG_PATH
from server.context import Context
from server.registry import Operation, Wire
from server.roles import Role
from server.store.port import Transaction


class GetNewsConfigRequest(Wire):
    """Nothing to ask for."""


class SetNewsConfigRequest(Wire):
    """A switch that is not given stays as it is, or stays absent."""

    news_auto_publish: bool | None = None
    news_pipeline_enabled: bool | None = None

    @model_validator(mode="after")
    def _something(self) -> SetNewsConfigRequest:
        given = [getattr(self, name) for name in self.model_fields_set]
        if not given or None in given:
            raise ValueError("send newsAutoPublish or newsPipelineEnabled, true or false")
        return self


class NewsConfigResponse(Wire):
    news_auto_publish: bool
    news_pipeline_enabled: bool
    news_themes: list[str]
    news_candidates_per_theme: int
    news_ttl_hours: float


async def _present(ctx: Context) -> NewsConfigResponse:
    config = await ctx.config.load()
    return NewsConfigResponse(
        news_auto_publish=config.news_auto_publish,
        news_pipeline_enabled=config.news_pipeline_enabled,
        news_themes=list(config.news_themes),
        news_candidates_per_theme=config.news_candidates_per_theme,
        news_ttl_hours=config.news_ttl_hours,
    )


async def get_news_config(
    ctx: Context, caller: Caller, request: GetNewsConfigRequest
) -> NewsConfigResponse:
    return await _present(ctx)


async def set_news_config(
    ctx: Context, caller: Caller, request: SetNewsConfigRequest
) -> NewsConfigResponse:
    """Writes the given keys and who wrote them, nothing else; makes `config/app` if need be."""
    fields: dict[str, Any] = {
        **request.model_dump(by_alias=True, exclude_unset=True),
        "updatedBy": caller.uid,
        "updatedAt": stamp(ctx.clock.now()),
    }

    async def work(transaction: Transaction) -> None:
        if await transaction.get(CONFIG_PATH) is None:
            transaction.create(CONFIG_PATH, fields)
        else:
            transaction.update(CONFIG_PATH, fields)

    await ctx.store.transaction(work)
    ctx.config.forget()
    return await _present(ctx)


ADMIN_GET_NEWS_CONFIG = Operation(
    name="adminGetNewsConfig",
    summary="Tells how news is gathered.",
    request=GetNewsConfigRequest,
    response=NewsConfigResponse,
    role=Role.ADMIN,
    run=get_news_config,
)
ADMIN_SET_NEWS_CONFIG = Operation(
    name="adminSetNewsConfig",
    summary="Sets whether news is gathered daily, and whether finds are published at once.",
    request=SetNewsConfigRequest,
    response=NewsConfigResponse,
    role=Role.ADMIN,
    run=set_news_config,
)
