"""The voice cluster in every state: what the status line says, and what trouble does to it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.sound import SoundCard
from tests.browser.visit import Visitor, Visits, words

pytestmark = [
    pytest.mark.browser,
    pytest.mark.speech,
    pytest.mark.asyncio(loop_scope="session"),
]
START, STOP = "Voice mode (keeps listening)", "Stop voice mode"
CONNECTING = "Connecting to voice…"
LISTENING = "Listening — speak now…"
FORMULATING = "Formulating reply…"
SPEAKING = "Tutor is speaking — you may interrupt."
ON = "Voice mode is on — tap the mic to stop."
IDLE = "Tap the mic to talk, or type below."
STYLE_APPLIES = "Style changes apply from the next reply."

# The page's own microphone and its own peer, where the test can reach them.
HOOKS = """
const channel = RTCPeerConnection.prototype.createDataChannel;
RTCPeerConnection.prototype.createDataChannel = function (...about) {
  return window.channel = channel.apply(this, about);
};
window.asked = [];
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  window.asked.push(wanted);
  if (window.refusal) throw new DOMException('', window.refusal);
  const stream = await open(wanted);
  window.mic = stream.getAudioTracks()[0];
  return stream;
};
const play = HTMLMediaElement.prototype.play;
window.played = [];
HTMLMediaElement.prototype.play = function () {
  window.played.push(navigator.userActivation.isActive);
  return window.held ? Promise.reject(new DOMException('', 'NotAllowedError')) : play.call(this);
};
"""
WATCH = """() => {
  window.said = []; window.interims = [];
  const look = () => {
    const said = document.querySelector('.status-line').textContent;
    if (said !== window.said.at(-1)) window.said.push(said);
    const interim = document.querySelector('.interim')?.textContent;
    if (interim && interim !== window.interims.at(-1)) window.interims.push(interim);
  };
  look();
  new MutationObserver(look).observe(document.querySelector('.voice'),
    {subtree: true, childList: true, characterData: true});
}"""
NO_PATH = """
const Peer = RTCPeerConnection;
window.RTCPeerConnection = class extends Peer {
  constructor(options) { super({...options, iceTransportPolicy: 'relay'}); }
};
"""


async def _ready(visitor: Visitor, hooks: str = HOOKS) -> None:
    await visitor.page.add_init_script(hooks)
    await visitor.open()
    await visitor.start()


async def _on(visitor: Visitor) -> None:
    await visitor.button(START).click()
    await visitor.says(LISTENING)
    await expect(visitor.button(STOP)).to_be_visible()


@pytest.mark.req(
    "UI-22", "UI-25", "UI-27", "UI-28", "UI-29", "UI-30", "UI-31", "UI-32", "UI-57",
    "VOICE-64", "RTC-18", "CARD-12", "TEST-13",
)  # fmt: skip
async def test_the_status_line_through_a_lesson(
    visit: Visits, card: SoundCard, line: Callable[[str], Path]
) -> None:
    async with visit(open_page=False) as visitor:
        await _ready(visitor)
        await visitor.evaluate(WATCH)
        await _on(visitor)
        assert await visitor.evaluate("window.played[0]"), "sound was unlocked outside of the tap"
        (asked,) = await visitor.evaluate("window.asked")
        audio = asked["audio"]
        for processing in ("echoCancellation", "noiseSuppression", "autoGainControl"):
            assert audio[processing] is True
        assert audio["channelCount"] == 1
        assert "exact" not in str(audio), "a figure that some browser cannot give"

        # Spoken: the learner's words become a bubble, the reply is sounded.
        process = card.say(line("A vaccine shows the immune system a harmless piece of a germ."))
        await visitor.says(SPEAKING)
        await asyncio.to_thread(process.wait)
        await expect(visitor.learner).to_have_count(1)
        # Typed over a running reply: it stops, and the words are a turn of the same lesson.
        await visitor.type("Memory cells keep the pattern for years.")
        await expect(visitor.learner).to_have_count(2)
        await expect(visitor.tutor).to_have_count(3)
        await visitor.says(SPEAKING)
        await visitor.says(LISTENING)
        await visitor.button(STOP).click()
        await visitor.says(IDLE)

        said = await visitor.evaluate("window.said")
        assert said[:2] == [IDLE, CONNECTING], said
        assert said[-1] == IDLE, said
        assert set(said) <= {IDLE, CONNECTING, ON, LISTENING, FORMULATING, SPEAKING}, said
        assert said.index(LISTENING) < said.index(FORMULATING) < said.index(SPEAKING), said
        for interim in await visitor.evaluate("window.interims"):
            assert re.fullmatch("“.+”", interim, re.DOTALL), interim
        assert await visitor.evaluate("window.mic.readyState") == "ended"
        # What was spoken and typed is one conversation.
        await visitor.typed("Antibodies fit the surface.")
        await expect(visitor.learner).to_have_count(3)


@pytest.mark.req("VOICE-54", "UI-35", "AUTH-24", "VOICE-66", "UI-23")
async def test_what_ends_or_mutes_the_voice(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await _ready(visitor)
        await _on(visitor)
        muted = "document.querySelector('#tutor-voice').muted"
        assert await visitor.evaluate(muted) is False
        await visitor.button("Reply speech: on").click()
        assert await visitor.evaluate(muted) is True
        await visitor.button("Reply speech: off").click()
        assert await visitor.evaluate(muted) is False

        await visitor.page.locator("fieldset label", has_text="Lecture").click()
        await visitor.toast(STYLE_APPLIES)
        assert await visitor.evaluate("window.mic.readyState") == "live"
        await expect(visitor.page.get_by_title(STOP, exact=True)).to_be_visible()
        await expect(visitor.page.get_by_role("radio", name="Lecture")).to_be_checked()

        await visitor.menu("Sign out…")
        await visitor.dialog.get_by_role("button", name="Sign out", exact=True).click()
        await expect(visitor.page.get_by_label("E-mail")).to_be_visible()
        assert await visitor.evaluate("window.mic.readyState") == "ended"


@pytest.mark.req("UI-60", "VOICE-62")
async def test_a_microphone_that_cannot_be_had(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await _ready(visitor)
        for refusal, told in (
            ("NotAllowedError", re.compile("^The microphone is blocked")),
            ("NotFoundError", words()["micMissing"]),
            ("NotReadableError", words()["micBusy"]),
        ):
            await visitor.evaluate("(name) => { window.refusal = name; }", refusal)
            await visitor.button(START).click()
            await visitor.says(told)
            await expect(visitor.button(START)).to_be_visible()
        await visitor.typed("I type instead.")
        await visitor.evaluate("() => { window.refusal = null; }")
        await _on(visitor)


@pytest.mark.req("UI-60", "UI-57")
async def test_sound_that_is_held_back_needs_one_more_tap(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await _ready(visitor)
        await visitor.evaluate("() => { window.held = true; }")
        await visitor.button(START).click()
        await visitor.page.wait_for_function("() => window.channel?.readyState === 'open'")
        await visitor.says(words()["statusSilenced"])
        await visitor.evaluate("() => { window.held = false; }")
        await visitor.button(words()["micGoOn"]).click()
        await visitor.says(LISTENING)


@pytest.mark.req("UI-57", "UI-60")
async def test_a_microphone_that_is_taken_away_and_comes_back(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await _ready(visitor)
        await _on(visitor)
        await visitor.evaluate("() => void mic.dispatchEvent(new Event('mute'))")
        await visitor.says(words()["statusPaused"])
        await visitor.evaluate("() => void mic.dispatchEvent(new Event('unmute'))")
        await visitor.says(LISTENING)
        await visitor.evaluate("() => { mic.stop(); mic.dispatchEvent(new Event('ended')); }")
        await visitor.says(words()["statusPaused"])
        await visitor.button(words()["micGoOn"]).click()
        await visitor.says(LISTENING)
        assert await visitor.evaluate("mic.readyState") == "live"
        # Another network: a new connection with the same microphone.
        await visitor.evaluate(WATCH)
        await visitor.evaluate("() => void dispatchEvent(new Event('online'))")
        await expect(visitor.status).to_have_text(LISTENING)
        await visitor.page.wait_for_function(
            "(text) => window.said.includes(text)", arg=words()["statusReconnecting"]
        )
        await visitor.says(LISTENING)


@pytest.mark.req("UI-60", "VOICE-62")
async def test_a_network_that_blocks_voice(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await visitor.page.clock.install()
        await _ready(visitor, HOOKS + NO_PATH)
        async with visitor.page.expect_response("**/api/offer"):
            await visitor.button(START).click()
            await visitor.says(CONNECTING)
        for _ in range(30):
            await visitor.page.clock.run_for(1_000)
            if await visitor.status.inner_text() != CONNECTING:
                break
        await visitor.says(words()["voiceBlocked"])
        assert await visitor.evaluate("mic.readyState") == "ended"
        await expect(visitor.button(START)).to_be_visible()


@pytest.mark.req("UI-60")
async def test_a_browser_without_calls_says_so(visit: Visits) -> None:
    async with visit(open_page=False) as visitor:
        await _ready(visitor, "delete window.RTCPeerConnection;")
        await visitor.button(START).click()
        await visitor.says(words()["voiceUnsupported"])
        await visitor.typed("I type instead.")
