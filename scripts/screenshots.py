"""Pictures of every screen into screenshots/: phone and desktop, light and dark.

Starts a server of its own (embedded default, local tutor, scratch data) and walks Debian's
Chromium through it on the tour that the browser tests check, screen by screen.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

from tests.browser import tour
from tests.browser.devices import CHROMIUM, CHROMIUM_FLAGS
from tests.browser.server_process import Server
from tests.browser.visit import SIZES, Visitor, Visits
from tests.browser.webkit import free_port
from tests.rig import DEV_TOKEN

OUT = Path(__file__).parent.parent / "screenshots"
SCHEMES = ("light", "dark")
TRANSITION_MS = 350


def server(home: Path) -> Server:
    port = free_port()
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("PIDJIN_", "GEMINI_"))},
        "PIDJIN_PORT": str(port),
        "PIDJIN_DATA_DIR": str(home / "data"),
        "PIDJIN_DEV_TOKEN": DEV_TOKEN,
    }
    return Server(f"http://127.0.0.1:{port}", home / "server.log", environment)


async def shoot(visitor: Visitor, screens: AsyncIterator[str], suffix: str, first: int) -> int:
    """A picture of each screen; returns the number after the last one."""
    number = first
    async for screen in screens:
        await visitor.page.wait_for_timeout(TRANSITION_MS)
        await visitor.page.screenshot(path=OUT / f"{number:02}-{screen}-{suffix}.png")
        number += 1
    return number


async def main() -> None:
    OUT.mkdir(exist_ok=True)
    for old in OUT.glob("*.png"):
        old.unlink()
    with tempfile.TemporaryDirectory() as home:
        house = server(Path(home))
        house.boot()
        try:
            async with async_playwright() as playwright:
                browser = await playwright.chromium.launch(
                    executable_path=CHROMIUM,
                    args=[*CHROMIUM_FLAGS, "--use-fake-device-for-media-stream"],
                )

                async def launch(kind: str) -> Browser:
                    return browser

                visit = Visits(launch, house)
                for size in SIZES:
                    for scheme in SCHEMES:
                        suffix = f"{size}-{scheme}"
                        how: dict[str, Any] = {"size": size, "scheme": scheme, "open_page": False}
                        async with visit(None, **how) as nobody:
                            count = await shoot(nobody, tour.outside(nobody), suffix, 1)
                        async with visit("admin", **how) as admin:
                            await shoot(admin, tour.inside(admin), suffix, count)
                await browser.close()
        finally:
            house.halt()
    print(f"{len(list(OUT.glob('*.png')))} pictures in {OUT.name}/")


if __name__ == "__main__":
    asyncio.run(main())
