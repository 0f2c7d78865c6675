"""Google's answers, one by one: what is meant, what is kept out of messages, and who is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.identity import google
from server.identity.google import GoogleAccounts, GoogleTrouble, Trouble

pytestmark = pytest.mark.req("AUTH-1")
KEY = "AIza-canary"
Answer = Callable[[web.Request], Any]


@asynccontextmanager
async def answering(answer: Answer) -> AsyncIterator[tuple[GoogleAccounts, list[web.Request]]]:
    seen: list[web.Request] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        given = answer(request)
        return given if isinstance(given, web.StreamResponse) else await given

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with TestServer(app) as server:
        url = str(server.make_url("")).rstrip("/")
        accounts = GoogleAccounts(
            KEY, "https://tutor.example.org", toolkit_url=f"{url}/v1", token_url=f"{url}/v1"
        )
        try:
            yield accounts, seen
        finally:
            await accounts.close()


def says(status: int, body: Any) -> Answer:
    return lambda request: web.json_response(body, status=status)


def error(message: str, status: int = 400) -> Answer:
    return says(status, {"error": {"code": status, "message": message}})


async def trouble(answer: Answer) -> GoogleTrouble:
    async with answering(answer) as (accounts, _):
        with pytest.raises(GoogleTrouble) as caught:
            await accounts.refresh("renewal")
    assert KEY not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error("TOKEN_EXPIRED"), Trouble.REFUSED),
        (error("INVALID_REFRESH_TOKEN"), Trouble.REFUSED),
        (error("USER_DISABLED : The account was disabled."), Trouble.ACCOUNT),
        (error("USER_NOT_FOUND"), Trouble.ACCOUNT),
        (error("API key not valid. Please pass a valid API key."), Trouble.SETUP),
        (error("API key expired. Please renew the API key."), Trouble.SETUP),
        (error("Requests from referer https://x/ are blocked.", 403), Trouble.SETUP),
        (error("Identity Toolkit API has not been used in project 1.", 403), Trouble.SETUP),
        (error("UNAUTHENTICATED", 401), Trouble.SETUP),
        (says(404, {}), Trouble.SETUP),
        (error("QUOTA_EXCEEDED : Exceeded quota."), Trouble.UNAVAILABLE),
        (error("TOO_MANY_ATTEMPTS_TRY_LATER"), Trouble.UNAVAILABLE),
        (says(429, {}), Trouble.UNAVAILABLE),
        (says(500, {}), Trouble.UNAVAILABLE),
        (says(503, ["odd"]), Trouble.UNAVAILABLE),
        (error("SOMETHING_NEW"), Trouble.REFUSED),
        # Not Google's word: a proxy's, or a captive portal's.
        (says(200, {}), Trouble.UNAVAILABLE),
        (says(200, {"id_token": "a"}), Trouble.UNAVAILABLE),
        (says(200, [1]), Trouble.UNAVAILABLE),
        (says(400, {"error": "text"}), Trouble.UNAVAILABLE),
        (lambda request: web.Response(text="<html>", status=200), Trouble.UNAVAILABLE),
        (lambda request: web.Response(text="<html>", status=400), Trouble.UNAVAILABLE),
        (
            lambda request: web.Response(status=302, headers={"Location": "/x"}),
            Trouble.UNAVAILABLE,
        ),
    ],
)
async def test_what_an_answer_means(answer: Answer, expected: Trouble) -> None:
    assert (await trouble(answer)).trouble is expected


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    def away(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with answering(away) as (accounts, seen):
        with pytest.raises(GoogleTrouble):
            await accounts.authorise("https://tutor.example.org/api/google/callback")
    assert len(seen) == 1


async def test_a_service_that_never_answers_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(google, "REQUEST_S", 0.1)
    forever = asyncio.Event()

    async def silence(request: web.Request) -> web.Response:
        await forever.wait()
        return web.Response()

    def answer(request: web.Request) -> Any:
        return silence(request)

    async with answering(answer) as (accounts, _):
        with pytest.raises(GoogleTrouble) as caught:
            await accounts.refresh("renewal")
        forever.set()
    assert caught.value.trouble is Trouble.UNAVAILABLE


async def test_nobody_at_the_address() -> None:
    accounts = GoogleAccounts(KEY, "https://t.example", token_url="http://127.0.0.1:9/v1")
    with pytest.raises(GoogleTrouble) as caught:
        await accounts.refresh("renewal")
    await accounts.close()
    await accounts.close()
    assert caught.value.trouble is Trouble.UNAVAILABLE
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"authUri": "https://accounts.google.com/o?state=s"},
        {"sessionId": "x", "authUri": "https://accounts.google.com/o"},
        {"sessionId": "x", "authUri": "javascript:alert(1)?state=s"},
        {"sessionId": "", "authUri": "https://accounts.google.com/o?state=s"},
    ],
)
async def test_an_address_that_leads_nowhere_is_a_wrong_set_up(body: dict[str, str]) -> None:
    async with answering(says(200, body)) as (accounts, _):
        with pytest.raises(GoogleTrouble) as caught:
            await accounts.authorise("https://tutor.example.org/api/google/callback")
    assert caught.value.trouble is Trouble.SETUP


async def test_an_account_of_another_sign_in_is_not_taken_over() -> None:
    """The address belongs to a password account whose owner must confirm: we sign nobody in."""
    async with answering(says(200, {"needConfirmation": True, "email": "a@b.org"})) as (
        accounts,
        _,
    ):
        with pytest.raises(GoogleTrouble) as caught:
            await accounts.exchange("https://tutor.example.org/api/google/callback?code=c", "s")
    assert caught.value.trouble is Trouble.ACCOUNT


async def test_a_key_bound_to_an_address_works() -> None:
    async with answering(says(200, {"id_token": "a", "refresh_token": "b"})) as (accounts, seen):
        await accounts.refresh("renewal")
    (request,) = seen
    assert request.headers["Referer"] == "https://tutor.example.org/"
    assert request.query["key"] == KEY
