"""A credential that is no longer good: whoever issued it says so, the link does not guess."""

from __future__ import annotations

import pytest

from media.live.link import LinkFailed, LinkUp
from media.live.port import LiveRefused, ReplyText
from tests.media.live.fake_live import linked
from tests.virtual_time import run_virtual

EXPIRED = LiveRefused(401, "API key expired. Please renew the API key.")
# Longer than any credential lives that one could think of.
LATER_S = 6 * 3600.0


@pytest.mark.req("OWN-19")
def test_an_expired_credential_is_refused_by_the_service_and_not_asked_for_again() -> None:
    async def main() -> None:
        async with linked([None, EXPIRED]) as bench:
            bench.session.drop()
            await bench.settle(1)
            (failed,) = bench.of(LinkFailed)
            assert failed == LinkFailed("denied", f"401 {EXPIRED.reason}")
            assert len(bench.connector.setups) == 2
            assert bench.run.done()

    run_virtual(main())


@pytest.mark.req("OWN-19")
def test_a_session_that_is_open_goes_on_however_old_its_credential_is() -> None:
    """The connection has no expiry of its own: only the service ends it."""

    async def main() -> None:
        async with linked() as bench:
            await bench.settle(LATER_S)
            bench.session.say(ReplyText("still here"))
            await bench.settle()
            assert bench.of(ReplyText) == [ReplyText("still here")]
            assert bench.of(LinkFailed) == []
            assert len(bench.of(LinkUp)) == len(bench.connector.sessions)

    run_virtual(main())
