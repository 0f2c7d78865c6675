"""How much one address and one person may ask, whatever they ask for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.rate import RateLimit
from server.security import ADDRESS_BURST, SIGN_IN_BURST, network_of
from tests.server.world import World


async def _until_refused(ask: Callable[[int], Awaitable[int]]) -> list[int]:
    """The statuses before the first 429. However slowly this machine asks, it asks faster than
    the limit fills up again."""
    statuses: list[int] = []
    for number in range(20 * int(ADDRESS_BURST)):
        status = await ask(number)
        if status == 429:
            return statuses
        statuses.append(status)
    raise AssertionError(f"{len(statuses)} requests, and none was refused")


async def test_guessing_codes_is_slowed_down(world: World) -> None:
    for _ in range(int(SIGN_IN_BURST)):
        assert (await world.post("/api/redeemLink", {"code": "guess"}))[0] == 400
    status, answer = await world.post("/api/redeemLink", {"code": "guess"})
    assert (status, answer["error"]["code"]) == (429, "resource-exhausted")
    assert (await world.get("/api/identity"))[0] == 200


async def test_one_address_cannot_flood_and_another_is_not_held_up(world: World) -> None:
    async def ask(address: str) -> int:
        async with world.client.get(
            "/api/me", headers={"X-Forwarded-For": f"198.51.100.9, {address}"}
        ) as response:
            assert (response.status == 429) is ("Retry-After" in response.headers)
            return response.status

    statuses = await _until_refused(lambda _: ask("203.0.113.1"))
    assert statuses[:400] == [401] * 400
    assert await ask("203.0.113.2") == 401


async def test_somebody_on_ipv6_is_one_whatever_their_last_half(world: World) -> None:
    async def ask(address: str) -> int:
        headers = {"X-Forwarded-For": address}
        async with world.client.get("/api/me", headers=headers) as response:
            return response.status

    assert set(await _until_refused(lambda n: ask(f"2001:db8:1:2::{n:x}"))) == {401}
    assert await ask("2001:db8:1:3::1") == 401


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_whom_a_limit_is_for(address: str, network: str) -> None:
    assert network_of(address) == network


async def test_looking_whether_it_is_ready_is_limited_too(world: World) -> None:
    headers = {"X-Forwarded-For": "203.0.113.77"}

    async def ask(_: int) -> int:
        async with world.client.get("/readyz", headers=headers) as response:
            return response.status

    assert set(await _until_refused(ask)) == {200}
    assert (await world.get("/healthz"))[0] == 200


async def test_a_person_is_limited_whatever_the_address(world: World) -> None:
    learner = await world.learner()

    async def ask(number: int) -> int:
        headers = {
            "Authorization": f"Bearer {learner.token}",
            "X-Forwarded-For": f"203.0.{number // 250}.{number % 250}",
        }
        async with world.client.get("/api/me", headers=headers) as response:
            return response.status

    assert set(await _until_refused(ask)) == {200}


def test_a_bucket_admits_its_burst_then_its_rate() -> None:
    limit = RateLimit(per_s=2, burst=3)
    assert [limit.take("a", 10.0) for _ in range(3)] == [0, 0, 0]
    assert limit.take("a", 10.0) == pytest.approx(0.5)
    assert limit.take("b", 10.0) == 0
    assert limit.take("a", 10.5) == 0
    assert limit.take("a", 10.5) > 0
    assert [limit.take("a", 99.0) for _ in range(4)][:3] == [0, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), max_size=200))
def test_memory_is_bounded_and_nobody_gets_more_than_the_rate(
    steps: list[tuple[int, float]],
) -> None:
    limit = RateLimit(per_s=1, burst=5, keys_max=10)
    at, admitted = 0.0, 0
    for key, pause in steps:
        at += pause
        admitted += limit.take("same", at) == 0
        limit.take(str(key), at)
        assert len(limit) <= 10
    assert admitted <= 5 + at + 1
