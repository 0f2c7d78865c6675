"""The client and the server speak of the same things: every message that the server can say goes
through the page's own parser and reducer, and everything that the page says is understood."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from server import rtvi
from server.asyncapi import asyncapi
from tests.npm import NODE

CLIENT = Path(__file__).parent.parent.parent / "client" / "src"
SAID = {
    kind: message["examples"][0]["payload"]
    for kind, message in asyncapi()["components"]["messages"].items()
}
# What the server says and this page has no use for, and why.
UNUSED = {
    "bot-tts-text": "words come whole with bot-output",
    "error-response": "the page asks for nothing that could be answered so",
    "metrics": "for measuring clients; the page has its own figures",
    "tool-approval": "no tool that asks is offered in this page",
    "bot-started-speaking": "status says it",
    "bot-stopped-speaking": "status says it",
    "user-mute-started": "the page did it itself",
    "user-mute-stopped": "the page did it itself",
    "peerLeft": "closed has said why",
}
HEARD = {"client-ready", "send-text", "disconnect-bot", "keep-alive", "trackStatus"} | {
    kind for kind, frame in SAID.items() if isinstance(frame, dict)
    and frame.get("type") == "client-message"
}  # fmt: skip
SCRIPT = """
const { parse } = await import(process.argv[1] + '/protocol.ts');
const { reduce, INITIAL } = await import(process.argv[1] + '/state.ts');
const frames = JSON.parse(process.argv[2]);
const grounded = { topicId: 't', topic: 'Vaccines', digest: '', sources: [] };
let state = [
  { type: 'signedIn', me: { uid: 'ada', email: 'a@x', role: 'approved' } },
  { type: 'conversationOpened', sessionId: 's', style: null, grounded },
  { type: 'voiceLink', link: 'connecting' }, { type: 'voiceLink', link: 'connected' },
].reduce(reduce, INITIAL);
const out = frames.map((frame) => {
  const message = parse(typeof frame === 'string' ? frame : JSON.stringify(frame));
  if (message !== null) state = reduce(state, { type: 'heard', message });
  return { message, voice: state.voice, lesson: state.lesson, toast: state.toast };
});
console.log(JSON.stringify(out));
"""


def _play(*frames: Any) -> list[dict[str, Any]]:
    """What the page makes of each frame, in order."""
    done = subprocess.run(
        [NODE, "--no-warnings", "--input-type=module", "-e", SCRIPT, CLIENT.as_uri(),
         json.dumps(frames)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return list(json.loads(done.stdout))


@cache
def _understood() -> dict[str, bool]:
    kinds = [kind for kind in SAID if kind not in HEARD]
    played = _play(*(SAID[kind] for kind in kinds))
    return {kind: one["message"] is not None for kind, one in zip(kinds, played, strict=True)}


@pytest.mark.req("RTC-7")
@pytest.mark.parametrize("kind", sorted(SAID.keys() - HEARD))
def test_what_the_server_says_is_understood(kind: str) -> None:
    assert _understood()[kind] is (kind not in UNUSED), UNUSED.get(kind, "nobody hears it")


@pytest.mark.req("RTC-7", "UI-21", "UI-37", "UI-27")
def test_an_exchange_in_the_server_s_own_words() -> None:
    kinds = ("bot-ready", "user-transcription", "status", "bot-output", "interrupted", "system",
             "turn", "agenda", "cost")  # fmt: skip
    steps = dict(zip(kinds, _play(*(SAID[kind] for kind in kinds)), strict=True))
    assert steps["bot-ready"]["voice"]["features"] == list(rtvi.FEATURES)
    (said,) = steps["user-transcription"]["lesson"]["log"]
    assert (said["learner"], said["learnerFinal"]) == ("It shows the body a harmless piece.", True)
    assert steps["status"]["voice"]["server"] == "speaking"
    assert steps["status"]["voice"]["mayInterrupt"] is True
    (answered,) = steps["bot-output"]["lesson"]["log"]
    assert answered["tutor"] == "Good. What does the body make then?"
    (cut,) = steps["system"]["lesson"]["log"]
    assert (cut["tutor"], cut["interrupted"]) == ("Good. What does the body", True)
    (settled,) = steps["turn"]["lesson"]["log"]
    assert (settled["unheard"], settled["settled"]) == ("make then?", True)
    assert steps["agenda"]["lesson"]["agenda"]["points"] != []
    assert steps["cost"]["lesson"]["cost"] == {"tokens": 1500, "usd": 0.0069}


@pytest.mark.req("UI-25", "UI-27", "UI-28", "UI-29", "UI-30")
def test_every_state_word_of_the_server_is_one_of_the_page() -> None:
    (states,) = re.findall(r"STATES = new Set<string>\(\[(.*?)\]\)", _source("protocol.ts"), re.S)
    known = set(re.findall(r"'(\w+)'", states))
    words = rtvi.Status.model_fields["state"].annotation.__args__
    assert set(words) == known


def test_what_the_page_says_is_understood() -> None:
    spoken = "".join(_source(file.name) for file in CLIENT.glob("*.ts"))
    types = set(re.findall(r"send\('([\w-]+)'", spoken)) - {"client-message"}
    own = set(re.findall(r"send\('client-message', \{ t: '([\w-]+)'", spoken))
    assert {"client-ready", "send-text", "disconnect-bot"} <= types
    assert {"mic", "ptt", "style", "reply-speech", "replay", "ping"} <= own
    assert types | own <= HEARD


def _source(name: str) -> str:
    return (CLIENT / name).read_text()
