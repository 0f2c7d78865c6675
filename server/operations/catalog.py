"""`adminCreateTopic` and `adminUpdateTopic`: news topics that learners may choose (API-42, 43)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from agent.news import TITLE_CHARS
from agent.prompts.quoting import one_line
from server.callers import Caller
from server.clock import stamp
from server.context import Context
from server.errors import missing, not_ready
from server.news.catalog import Status, catalog_path, item_id, item_to_wire, new_item
from server.operations.fields import NotBlank, StoreId
from server.registry import Operation, Wire
from server.roles import Role
from server.store.port import AlreadyExists, Doc, Document, Transaction

QUERY_MAX_CHARS = 500
DESCRIPTION_MAX_CHARS = 1_000
THEME_MAX_CHARS = 100
THEMES_MAX = 10

_OneLine = AfterValidator(one_line)
Title = Annotated[str, Field(max_length=TITLE_CHARS), NotBlank, _OneLine]
Query = Annotated[str, Field(max_length=QUERY_MAX_CHARS), NotBlank, _OneLine]
Description = Annotated[str, Field(max_length=DESCRIPTION_MAX_CHARS)]
Themes = Annotated[
    list[Annotated[str, Field(max_length=THEME_MAX_CHARS), NotBlank, _OneLine]],
    Field(max_length=THEMES_MAX),
]


class CreateTopicRequest(Wire):
    """The catalog holds news only (DATA-13)."""

    kind: Literal["news"]
    title: Title
    search_query: Query
    description: Description = ""
    themes: Themes = Field(default_factory=list)
    status: Status = "draft"


class UpdateTopicRequest(Wire):
    """What is not given stays."""

    id: StoreId
    title: Title | None = None
    search_query: Query | None = None
    description: Description | None = None
    themes: Themes | None = None
    status: Status | None = None

    @model_validator(mode="after")
    def _something(self) -> UpdateTopicRequest:
        given = self.changes
        if not given or None in given.values():
            raise ValueError(
                "send at least one of title, searchQuery, description, themes, status, not null"
            )
        return self

    @property
    def changes(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_unset=True, exclude={"id"})


class CatalogItemResponse(Wire):
    """DATA-11 with the item's id; times are ISO-8601 UTC, null before the first grounding."""

    id: str
    kind: Literal["news"]
    title: str
    description: str
    search_query: str
    themes: list[str]
    status: Status
    refresh_policy: Literal["daily"]
    digest: str
    needs_grounding: bool
    sources: list[dict[str, Any]]
    grounded_at: str | None
    ttl_expires_at: str | None
    created_by: str
    updated_by: str
    updated_at: str


def _response(path: str, item: Document) -> CatalogItemResponse:
    return CatalogItemResponse.model_validate(item_to_wire(Doc(path, item, ""), for_admin=True))


async def create_topic(
    ctx: Context, caller: Caller, request: CreateTopicRequest
) -> CatalogItemResponse:
    """Asks no model. Raises `failed-precondition` for a title that is there already."""
    item = new_item(
        title=request.title,
        description=request.description,
        search_query=request.search_query,
        themes=request.themes,
        status=request.status,
        uid=caller.uid,
        now=ctx.clock.now(),
    )
    path = catalog_path(item_id(request.title))
    try:
        await ctx.store.create(path, item)
    except AlreadyExists:
        raise not_ready("There is a news topic with this title already.", reason="exists") from None
    return _response(path, item)


async def update_topic(
    ctx: Context, caller: Caller, request: UpdateTopicRequest
) -> CatalogItemResponse:
    """Also keeps the item from being pruned for another 22 hours. Raises `not-found`."""
    path = catalog_path(request.id)
    changes = {
        **request.changes,
        "updatedBy": caller.uid,
        "updatedAt": stamp(ctx.clock.now()),
    }

    async def work(transaction: Transaction) -> Document:
        doc = await transaction.get(path)
        if doc is None:
            raise missing("There is no such news topic.")
        transaction.update(path, changes)
        return {**doc.data, **changes}

    return _response(path, await ctx.store.transaction(work))


ADMIN_CREATE_TOPIC = Operation(
    name="adminCreateTopic",
    summary="Adds a news topic to the catalog, as a draft unless told otherwise.",
    request=CreateTopicRequest,
    response=CatalogItemResponse,
    role=Role.ADMIN,
    run=create_topic,
)
ADMIN_UPDATE_TOPIC = Operation(
    name="adminUpdateTopic",
    summary="Changes a news topic of the catalog: publishes it, hides it, words it anew.",
    request=UpdateTopicRequest,
    response=CatalogItemResponse,
    role=Role.ADMIN,
    run=update_topic,
)
