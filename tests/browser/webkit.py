"""WebKitGTK under Xvfb through WebKitWebDriver: a WebDriver client on aiohttp.

Debian's builds have no RTCPeerConnection: `rtc_shim.js` and `gateway.py` stand in for it, while
page code, microphone, loudspeaker and autoplay policy are WebKit's own.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import socket
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

MINI_BROWSER = "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
START_S = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class WebKit:
    def __init__(self, http: aiohttp.ClientSession, session_url: str) -> None:
        self._http, self._url = http, session_url

    async def command(self, method: str, path: str, **body: Any) -> Any:
        payload = body if method == "POST" else None
        async with self._http.request(method, self._url + path, json=payload) as response:
            value = (await response.json())["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{value['error']}: {value['message']}")
        return value

    async def goto(self, url: str) -> None:
        await self.command("POST", "/url", url=url)

    async def run(self, script: str) -> Any:
        return await self.command("POST", "/execute/sync", script=script, args=[])

    async def evaluate(self, expression: str) -> Any:
        return await self.run(f"return ({expression})")

    async def _find(self, css: str) -> str:
        end = asyncio.get_running_loop().time() + 10
        while True:
            found = await self.command("POST", "/elements", using="css selector", value=css)
            if found:
                return str(found[0][ELEMENT])
            if asyncio.get_running_loop().time() > end:
                raise RuntimeError(f"no element {css}")
            await asyncio.sleep(0.1)

    async def click(self, css: str) -> None:
        """A user gesture: WebKit's autoplay policy accepts it."""
        await self.command("POST", f"/element/{await self._find(css)}/click")

    async def fill(self, css: str, text: str) -> None:
        await self.command("POST", f"/element/{await self._find(css)}/value", text=text)

    async def size(self, width: int, height: int) -> None:
        await self.command("POST", "/window/rect", width=width, height=height)

    async def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(await self.command("GET", "/screenshot")))


@contextlib.asynccontextmanager
async def webkit() -> AsyncIterator[WebKit]:
    with contextlib.ExitStack() as stack:

        def start(*arguments: str, **environment: str) -> None:
            process = subprocess.Popen(
                arguments,
                env={**os.environ, **environment},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)

        display, port = f":{90 + os.getpid() % 800}", free_port()
        start("Xvfb", display, "-screen", "0", "1280x1024x24", "-nolisten", "tcp")
        end = asyncio.get_running_loop().time() + START_S
        while not Path(f"/tmp/.X11-unix/X{display[1:]}").exists():
            if asyncio.get_running_loop().time() > end:
                raise RuntimeError("Xvfb did not start")
            await asyncio.sleep(0.05)
        start(
            "WebKitWebDriver",
            f"--port={port}",
            DISPLAY=display,
            GDK_BACKEND="x11",
            NO_AT_BRIDGE="1",
            WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS="1",
        )
        root = f"http://127.0.0.1:{port}"
        options = {
            "binary": MINI_BROWSER,
            "args": ["--automation", "--full-screen", "--enable-media-stream=true"],
        }
        capabilities = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
        async with aiohttp.ClientSession() as http:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    async with http.get(root + "/status") as response:
                        await response.read()
                        break
                if asyncio.get_running_loop().time() > end:
                    raise RuntimeError("WebKitWebDriver did not start")
                await asyncio.sleep(0.1)
            request = {"capabilities": {"alwaysMatch": capabilities}}
            async with http.post(root + "/session", json=request) as response:
                value = (await response.json())["value"]
            if "error" in value:
                raise RuntimeError(str(value))
            browser = WebKit(http, f"{root}/session/{value['sessionId']}")
            try:
                yield browser
            finally:
                await browser.command("DELETE", "")
