"""An offer costs little, whatever it says: nobody can keep the process busy with a text."""

import contextlib
import time

import pytest

from media.offer import MAX_OFFER_BYTES, OfferRefused
from media.plane import MediaPlane
from tests.media.peers import Client

# Of processor time; an ordinary offer takes about 5 ms.
BUDGET_S = 0.5


async def ordinary() -> list[str]:
    client = Client()
    try:
        return (await client.offer()).split("\r\n")
    finally:
        await client.close()


MORE = {
    "codecs with feedback for all": [f"a=rtpmap:{n} opus/48000/2" for n in range(1000)]
    + ["a=rtcp-fb:* nack"] * 1500,
    "codecs": [f"a=rtpmap:{n % 128} opus/48000/2" for n in range(2200)],
    "as many as are taken": [f"a=rtpmap:{n % 128} opus/48000/2" for n in range(390)]
    + ["a=rtcp-fb:* nack"] * 15
    + [f"a=rtcp-fb:{n % 128} nack" for n in range(1000)],
    "feedback": ["a=rtcp-fb:* nack"] * 3300,
    "sources": [f"a=ssrc:{n} cname:x" for n in range(2900)],
    "sources as many as are taken": [f"a=ssrc:{n} cname:x" for n in range(1400)],
    "extensions": [f"a=extmap:{n} urn:x" for n in range(2900)],
    "fingerprints": ["a=fingerprint:sha-256 " + ":".join(["AA"] * 32)] * 500,
    "candidates": [f"a=candidate:{n} 1 udp 1 127.0.0.1 {n + 1} typ host" for n in range(1200)],
    "parameters": ["a=fmtp:111 " + "a=1;" * 40] * 300,
}


@pytest.mark.parametrize("more", MORE.values(), ids=MORE)
async def test_no_offer_takes_long(more: list[str]) -> None:
    lines = await ordinary()
    at = next(n for n, line in enumerate(lines) if line.startswith("m=audio")) + 2
    text = "\r\n".join([*lines[:at], *more, *lines[at:]])
    assert len(text.encode()) <= MAX_OFFER_BYTES
    async with MediaPlane(host="127.0.0.1", udp_port=0) as plane:
        peer = plane.peer(
            on_audio=lambda pcm, at: None,
            pull=lambda at: None,
            on_message=lambda text: None,
            on_state=lambda state: None,
        )
        started = time.process_time()
        with contextlib.suppress(OfferRefused):
            await peer.answer(text)
        took_s = time.process_time() - started
        await peer.close()
    assert took_s < BUDGET_S
