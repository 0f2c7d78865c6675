"""Is what the server leans on there: store, stored configuration, models, speech, local LLM."""

from __future__ import annotations

import asyncio
import contextlib
import urllib.request
from collections.abc import AsyncIterator, Iterator

from agent.failures import ModelError
from agent.gemini import ModelGateway
from server.app import CONTEXT, build_app
from server.commands.console import opened
from server.commands.finding import Finding, broken, doubtful, fine
from server.config import CONFIG_PATH, AppConfig, mistakes, overlay
from server.context import Context
from server.google_sign_in import CALLBACK
from server.identity.google import GoogleTrouble, Trouble
from server.identity.local import SecretDamaged
from server.identity.port import SignInUnusable
from server.roles import Role
from server.settings import Settings, gemini_api_key
from server.store.port import CannotOpen, StoreError

ANSWER_S = 10.0
_DOCTOR = "doctor/last"
_CONSOLE = (
    "In the Firebase console allow Google under Authentication, Sign-in method, and check that "
    "PIDJIN_FIREBASE_API_KEY is the web API key of PIDJIN_FIREBASE_PROJECT."
)
_GOOGLE = {
    Trouble.SETUP: _CONSOLE,
    Trouble.REFUSED: _CONSOLE,
    Trouble.ACCOUNT: _CONSOLE,
    Trouble.UNAVAILABLE: "Check the network: identitytoolkit.googleapis.com must be reachable.",
}
_MEND = {
    "sqlite": "Put the last backup in its place, or check access to it.",
    "firestore": "Check PIDJIN_FIREBASE_PROJECT, the credentials and the network.",
}


async def stored(settings: Settings) -> tuple[list[Finding], AppConfig]:
    """Store, identity and stored configuration; the configuration as the server would read it."""
    try:
        async with opened(settings, create=True) as ctx:
            return await _read_and_write(ctx)
    except SecretDamaged as error:
        return [broken("identity", str(error), "Delete it; everybody signs in anew.")], AppConfig()
    except CannotOpen as error:
        fix = "Change that environment variable; see pidjin --help"
        return [broken("store", str(error), fix)], AppConfig()
    except SignInUnusable as error:
        return [_no_sign_in(error)], AppConfig()
    except (StoreError, OSError) as error:
        return [broken("store", f"the store cannot be used: {error}", _MEND[settings.store])], (
            AppConfig()
        )


async def before_the_start(settings: Settings) -> tuple[list[Finding], AppConfig]:
    """What can be known while there is no store, which a look must not make."""
    if settings.identity == "local":
        return [], AppConfig()
    ctx = build_app(settings)[CONTEXT]
    try:
        await ctx.identity.open()
        return [await google(ctx)], AppConfig()
    except SignInUnusable as error:
        return [_no_sign_in(error)], AppConfig()
    finally:
        await ctx.identity.close()


def _no_sign_in(error: SignInUnusable) -> Finding:
    return broken("identity", str(error), "Set what it names, or PIDJIN_IDENTITY=local.")


async def _read_and_write(ctx: Context) -> tuple[list[Finding], AppConfig]:
    found = []
    await ctx.store.set(_DOCTOR, {"at": ctx.clock.now().isoformat()})
    await ctx.store.delete(_DOCTOR)
    found.append(fine("store", f"{ctx.settings.store} takes reads and writes"))
    doc = await ctx.store.get(CONFIG_PATH)
    for mistake in mistakes(doc.data if doc else {}):
        key = mistake.partition(":")[0]
        fix = f"Run pidjin config unset {key}" if ":" in mistake else "Run pidjin config get"
        found.append(doubtful("config", f"stored and without effect: {mistake}", fix))
    await ctx.identity.open()
    if ctx.settings.identity == "firebase":
        found.append(await google(ctx))
    admins = await ctx.store.query("users", where={"role": Role.ADMIN.value}, limit=1)
    if admins:
        found.append(fine("identity", f"{ctx.settings.identity}: there is an admin"))
    else:
        text = f"{ctx.settings.identity}: nobody is admin yet"
        found.append(doubtful("identity", text, _first_admin(ctx)))
    return found, overlay(doc.data if doc else {})


async def google(ctx: Context) -> Finding:
    """Whether people can sign in on the page: Google is asked for an address to send them to."""
    settings = ctx.settings
    if ctx.google is None:
        return doubtful(
            "google",
            "nobody can sign in on the page; only bearer tokens are taken",
            "Set PIDJIN_FIREBASE_API_KEY and PIDJIN_PUBLIC_URL, as docs/operations.md says.",
        )
    where = f"{settings.public_url}{CALLBACK}"
    try:
        await ctx.google.authorise(where)
    except GoogleTrouble as error:
        return broken("google", f"Google says: {error.said}", _GOOGLE[error.trouble])
    finally:
        await ctx.google.close()
    return fine("google", f"people sign in with Google and come back to {where}")


def _first_admin(ctx: Context) -> str:
    if ctx.local_identity is not None:
        return "Open the link that pidjin link prints."
    return "Set PIDJIN_ADMIN_EMAIL, start the server and sign in with that address."


async def models(settings: Settings, config: AppConfig) -> AsyncIterator[Finding]:
    """Google's models with a key; the local tutor's own without one."""
    if not gemini_api_key():
        for finding in await asyncio.to_thread(lambda: list(speech())):
            yield finding
        if settings.local_llm_url:
            yield await asyncio.to_thread(local_llm, settings.local_llm_url)
        return
    gateway = ModelGateway(gemini_api_key, settings.gemini_api_base, deadline_s=ANSWER_S)
    try:
        names = {
            "liveModel": config.live_model,
            "textModel": config.text_model,
            "groundModel": config.ground_model,
            "ttsModel": config.tts_model,
        }
        for key, name in names.items():
            yield await _model(gateway, key, name)
    finally:
        await gateway.aclose()


async def _model(gateway: ModelGateway, key: str, name: str) -> Finding:
    try:
        await gateway.check(name)
    except ModelError as error:
        fix = f"Check GEMINI_API_KEY, the network and GEMINI_API_BASE, or pidjin config set {key}"
        said = f" ({error.detail})" if error.detail else ""
        return broken("model", f"{key} {name}: {error}{said}", fix)
    return fine("model", f"{key} {name} is reachable")


def speech() -> Iterator[Finding]:
    """The weights of the local tutor, each with its pinned hash (2 s of reading)."""
    from local_gemini.speech.models import INSTALL, MODULES, WEIGHTS, SpeechMissing, locate, require

    fix = f"{INSTALL}, or set GEMINI_API_KEY."
    missing = []
    for weight in WEIGHTS:
        try:
            locate(weight)
        except SpeechMissing as error:
            missing.append(error.what)
    for module in MODULES:
        try:
            require(module)
        except SpeechMissing as error:
            missing.append(error.what)
    if missing:
        yield broken("speech", f"the local tutor lacks {', '.join(missing)}", fix)
    else:
        yield fine("speech", f"the local tutor's {len(WEIGHTS)} model files are as pinned")


def local_llm(url: str) -> Finding:
    models_url = url.rstrip("/") + "/models"
    with (
        contextlib.suppress(OSError, ValueError),
        urllib.request.urlopen(models_url, timeout=ANSWER_S) as response,
    ):
        if response.status == 200:
            return fine("llm", f"{url} answers")
    return doubtful(
        "llm",
        f"{url} does not answer: the local tutor words its replies by itself",
        "Start that server, or drop PIDJIN_LOCAL_LLM_URL.",
    )
