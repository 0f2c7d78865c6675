"""A sign-out in another process ends the lesson here: one store, two servers."""

import asyncio
from pathlib import Path

import pytest

from server import access_watch
from server.announcements import Announcements, RoleChanged, SignedOut
from server.backends import STORE_FILE
from server.clock import SystemClock
from server.identity.local import LocalIdentity, load_secret
from server.store.port import Doc, StoreDown
from server.store.sqlite import SqliteStore
from tests.media.peers import until
from tests.rig import house
from tests.virtual_time import run_virtual


@pytest.mark.req("AUTH-24", "RTC-20")
async def test_a_sign_out_in_another_process_ends_the_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_watch, "CHECK_S", 0.1)
    async with house(tmp_path) as home:
        ada, bob = await home.person(), await home.person("Bob")
        async with ada.call(await ada.ground()) as call, bob.call(await bob.ground()) as other:
            data = home.ctx.settings.data_dir
            store = SqliteStore(data / STORE_FILE)
            elsewhere = LocalIdentity(store, SystemClock(), load_secret(data))
            await elsewhere.revoke((await elsewhere.verify(ada.token)).credential_id)
            await store.close()
            await until(lambda: call.farewell == "signed-out", "told")
            assert (await other.ask("Still on?"))["saved"] is True
        await home.empty()


class Browsers:
    """The part that is watched. `over`: what has ended; `down`: the store cannot be read."""

    def __init__(self) -> None:
        self.over: set[str] = set()
        self.down = False
        self.asked = 0

    async def ended(self, credential_id: str) -> bool:
        self.asked += 1
        if self.down:
            raise StoreDown("away")
        return credential_id in self.over


class Roles:
    """A store in which everybody is approved."""

    async def get(self, path: str) -> Doc:
        return Doc(path, {"role": "approved"}, "1")


@pytest.mark.req("AUTH-24")
def test_each_sign_in_is_looked_at_every_ten_seconds_and_a_failing_store_ends_none(
    caplog: pytest.LogCaptureFixture,
) -> None:
    browsers, told = Browsers(), Announcements()
    heard: list[object] = []
    told.subscribe(heard.append)

    async def main() -> None:
        watch = asyncio.create_task(
            access_watch.watch_access(
                Roles(),  # type: ignore[arg-type]
                told,
                browsers,  # type: ignore[arg-type]
                lambda: {("ada", "a"), ("bob", "b")},
            )
        )
        await asyncio.sleep(30.5)
        assert (browsers.asked, heard) == (6, [])
        browsers.down, browsers.over = True, {"a"}
        await asyncio.sleep(10)
        assert heard == []
        browsers.down = False
        await asyncio.sleep(10)
        watch.cancel()

    run_virtual(main())
    assert heard == [SignedOut("ada", "a")]
    assert "access_not_checked" in caplog.messages
    assert not any(isinstance(one, RoleChanged) for one in heard)
