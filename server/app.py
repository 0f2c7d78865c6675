"""The composition root: wires settings, adapters and routes into one aiohttp application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from aiohttp import web

from server.assistant_prompts import AssistantPrompts
from server.backends import (
    browser_sessions,
    google_accounts,
    local_identity,
    remote_identity,
    store_of,
)
from server.callers import Callers
from server.clock import Clock, SystemClock
from server.config import CONFIG_PATH, ConfigSource
from server.context import Context
from server.google_sign_in import GoogleSignIn
from server.identity.browser_sessions import BrowserSessions
from server.identity.links import OneTimeLinks
from server.identity.local import DEV_IDENTITY
from server.identity.port import BrowserSignIns
from server.local_model import ModelAccess, Models, model_access
from server.news.reads import NewsReads
from server.operations.documents import DOCUMENT_BODY_MAX
from server.pages import CLIENT_DIST, DOCS, Pages
from server.quota import Quota
from server.reads import Reads
from server.remote_sign_in import RemoteSignIn
from server.roles import Role
from server.routes import Health, OperationRoutes
from server.security import PUBLIC_URL, Limits, guard
from server.settings import Settings
from server.sign_in import SignIn
from server.store.port import Transaction
from server.tracing import tracing_of
from server.usage import UsageLedger

Extra = Callable[[web.Application, Context], None]

CONTEXT: web.AppKey[Context] = web.AppKey("context", Context)
LIMITS: web.AppKey[Limits] = web.AppKey("limits", Limits)


def build_app(
    settings: Settings,
    *,
    clock: Clock | None = None,
    models: Callable[[], AbstractAsyncContextManager[ModelAccess]] | None = None,
    extras: Sequence[Extra] = (),
    client: Path = CLIENT_DIST,
    docs: Path = DOCS,
) -> web.Application:
    """The whole server. `models` gives access to the models while the app runs; `extras` add
    routes and cleanup contexts of their own, and are called in order with the context.

    Nothing is opened before the application starts, except the signing secret.
    """
    ctx = _context(settings, clock or SystemClock(), models)
    limits = Limits(settings.dev_token)
    app = web.Application(
        middlewares=[guard(settings, limits, ctx.metrics)], client_max_size=DOCUMENT_BODY_MAX
    )
    app[CONTEXT] = ctx
    app[LIMITS] = limits
    app[PUBLIC_URL] = settings.public_url or ""
    for group in (
        OperationRoutes(ctx, limits),
        Reads(ctx, limits),
        NewsReads(ctx, limits),
        AssistantPrompts(ctx, limits),
        _sign_in(ctx, limits),
        Health(ctx),
        Pages(client, docs),
    ):
        app.add_routes(group.routes())
    if (google := _google_sign_in(ctx, limits)) is not None:
        app.add_routes(google.routes())
    app.cleanup_ctx.append(_opened_store)
    app.cleanup_ctx.append(_opened_models)
    for extra in extras:
        extra(app, ctx)
    return app


def _sign_in(ctx: Context, limits: Limits) -> SignIn | RemoteSignIn:
    if ctx.local_identity is not None:
        return SignIn(ctx, ctx.local_identity, limits)
    return RemoteSignIn(ctx, limits)


def _google_sign_in(ctx: Context, limits: Limits) -> GoogleSignIn | None:
    url = ctx.settings.public_url
    if ctx.google is None or url is None or not isinstance(ctx.browsers, BrowserSessions):
        return None
    return GoogleSignIn(ctx, ctx.google, ctx.browsers, url, limits)


def _context(
    settings: Settings,
    clock: Clock,
    models: Callable[[], AbstractAsyncContextManager[ModelAccess]] | None,
) -> Context:
    store = store_of(settings)
    config = ConfigSource(store, clock)
    usage = UsageLedger(store, clock)
    local = local_identity(settings, store, clock)
    identity = local or remote_identity(settings, clock)
    google = google_accounts(settings)
    browsers: BrowserSignIns | None = local
    if google is not None:
        browsers = browser_sessions(settings, store, clock, identity, google)
    return Context(
        settings=settings,
        clock=clock,
        store=store,
        config=config,
        usage=usage,
        quota=Quota(usage, config, clock),
        identity=identity,
        local_identity=local,
        browsers=browsers,
        google=google,
        links=OneTimeLinks(store, clock),
        callers=Callers(store, config, identity, clock, browsers=browsers),
        models=Models(models or (lambda: model_access(settings))),
        tracing=tracing_of(settings),
    )


async def _opened_store(app: web.Application) -> AsyncIterator[None]:
    ctx = app[CONTEXT]
    try:
        await ctx.store.open()
        await _seed(ctx)
        await ctx.identity.open()
        if ctx.browsers is not None and ctx.browsers is not ctx.local_identity:
            await ctx.browsers.sweep()  # the local sign-in has done so itself
        yield
    finally:
        if ctx.google is not None:
            await ctx.google.close()
        await ctx.identity.close()
        await ctx.store.close()


async def _seed(ctx: Context) -> None:
    """What the environment brings into the store on first start, and never over a stored value."""
    email = ctx.settings.admin_email
    if email:

        async def work(transaction: Transaction) -> None:
            doc = await transaction.get(CONFIG_PATH)
            if doc is None or "adminEmail" not in doc.data:
                transaction.set(CONFIG_PATH, {**(doc.data if doc else {}), "adminEmail": email})

        await ctx.store.transaction(work)
        ctx.config.forget()
    if ctx.settings.dev_token:
        await ctx.callers.provision(DEV_IDENTITY, Role.ADMIN)


async def _opened_models(app: web.Application) -> AsyncIterator[None]:
    async with app[CONTEXT].models.open():
        yield
