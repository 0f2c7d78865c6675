"""What the client may not use: Safari on iOS 16.4 is the oldest browser it must run in.

`tsc` with lib ES2022 keeps newer language built-ins out and esbuild lowers syntax to safari16.4;
neither knows when a web API arrived. Those are named here, each with why it is missing.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

CLIENT = Path(__file__).parent.parent.parent / "client"
SOURCES = sorted(
    file for file in (CLIENT / "src").iterdir() if file.suffix in (".ts", ".tsx", ".css", ".html")
)
SCRIPT, STYLE = (".ts", ".tsx", ".html"), (".css",)

# A use that is guarded by a check of its own (`navigator.wakeLock?.`) is not in the list: it names
# what throws or silently does nothing. `pattern: why`.
MISSING = {
    r"\brequestIdleCallback\b": "no Safari has it switched on",
    r"\bMediaStreamTrackProcessor\b": "Safari 18 in workers only",
    r"\bMediaStreamTrackGenerator\b": "never in Safari",
    r"\bAudioDecoder\b|\bAudioEncoder\b": "WebCodecs for sound: Safari 26",
    r"navigator\.connection\b": "Network Information: never in Safari",
    r"navigator\.permissions\.query\(\{\s*name:\s*'microphone'": "Safari 16 rejects that name",
    r"navigator\.vibrate\b": "never in Safari",
    r"navigator\.getBattery\b": "never in Safari",
    r"\bsetSinkId\(|\bselectAudioOutput\b": "choosing the loudspeaker: Safari 18.4, never on iOS",
    r"\bshowSaveFilePicker\b|\bshowOpenFilePicker\b": "never in Safari",
    r"\bPromise\.(try|withResolvers)\b": "Safari 18.2 and 17.4",
    r"\bObject\.groupBy\b|\bMap\.groupBy\b": "Safari 17.4",
    r"\bArray\.fromAsync\b": "Safari 16.4 lacks it on some builds of iOS 16",
    r"\bURL\.canParse\b|\bURL\.parse\b": "Safari 17 and 18",
    r"\bAbortSignal\.any\b": "Safari 17.4",
    r"\bstructuredClone\([^)]*transfer": "transfer of tracks: never in Safari",
    r"\.(toSorted|toReversed|toSpliced)\(": "not in the type check’s library (ES2022)",
    r"\bIterator\.from\b|\.values\(\)\.(map|filter|take|drop|toArray)\(": "iterator helpers: 18.4",
    r"\.(isSubsetOf|symmetricDifference|isDisjointFrom)\(": "set methods: Safari 17",
    r"\bnew SharedWorker\b": "Safari on iOS 16 has it, private browsing does not",
    r"\bstartViewTransition\b": "Safari 18",
    r"\bshowPopover\b|\bpopovertarget\b|\spopover=": "Safari 17",
    r"\bcheckVisibility\b": "Safari 17.4",
    r"\bscrollend\b": "Safari 26.2",
    r"\bCloseWatcher\b|closedby=": "Safari 26 and never",
    r"\bscrollIntoViewIfNeeded\b": "WebKit only, nobody else has it",
    r"\(\?[ims]+:": "modifiers inside of a regular expression: Safari 26",
    r"/[gimsuy]*v[gimsuy]*\.(test|exec)": "the v flag of regular expressions: Safari 17",
}
MISSING_STYLES = {
    r"@starting-style": "Safari 17.5",
    r"\bpopover-open\b": "Safari 17",
    r"\banchor-name\b|\bposition-anchor\b": "Safari 26",
    r"\bview-transition-name\b": "Safari 18",
    r"\blight-dark\(": "Safari 17.5",
    r"\bfield-sizing\b": "Safari 26.2",
    r"\binterpolate-size\b|\bcalc-size\(": "never in Safari",
    r"\banimation-timeline\b": "Safari 26",
    r"@scope\b": "Safari 17.4",
    r"\balign-content:[^;]*;\s*display:\s*block": "align-content in blocks: Safari 17.4",
    r"\brgb\(from|\boklch\(from": "relative colours: Safari 16.4 lacks them in part (18)",
    r":(user-invalid|user-valid)\b": "Safari 16.5",
    r"\bscrollbar-gutter\b": "Safari 18.2",
}
# CARD-12: sound goes in as a microphone track and out through one <audio> element.
SOUND = {
    r"\bAudioWorklet\w*|\baudioWorklet\b": "an audio worklet",
    r"\bScriptProcessor\w*|\bcreateScriptProcessor\b": "a script processor",
    r"\bAudioContext\b|\bwebkitAudioContext\b": "Web Audio: an iPhone’s silent switch mutes it",
    r"\bdecodeAudioData\b|\bcreateBuffer\b": "decoding of sound in the page",
    r"\bMediaRecorder\b": "recording in the page",
    r"\bInt16Array\b|\bFloat32Array\b": "samples in the page",
    r"\bnew WebSocket\b": "a second way for sound",
}


def _code(file: Path) -> str:
    """The source without its comments: a comment may name what is not used."""
    text = file.read_text()
    text = re.sub(r"/\*.*?\*/|<!--.*?-->", "", text, flags=re.DOTALL)
    return re.sub(r"(?m)(^|\s)//.*$", "", text)


def _uses(table: dict[str, str], kinds: tuple[str, ...]) -> list[str]:
    return [
        f"{file.name}: {found.group(0)} ({why})"
        for file in SOURCES
        if file.suffix in kinds
        for pattern, why in table.items()
        for found in re.finditer(pattern, _code(file))
    ]


@pytest.mark.req("CARD-12")
def test_no_web_api_that_ios_16_lacks() -> None:
    assert _uses(MISSING, SCRIPT) == []


@pytest.mark.req("CARD-12")
def test_no_style_that_ios_16_lacks() -> None:
    assert _uses(MISSING_STYLES, STYLE) == []


@pytest.mark.req("CARD-12")
def test_sound_is_a_track_in_and_an_element_out() -> None:
    assert _uses(SOUND, SCRIPT) == []
    voice = "".join(
        _code(CLIENT / "src" / f"{name}.ts") for name in ("microphone", "peer", "speaker")
    )
    for needed in ("getUserMedia", "RTCPeerConnection", "srcObject"):
        assert needed in voice


@pytest.mark.req("CARD-12", "UI-57")
def test_the_tutor_s_voice_may_sound_on_a_phone() -> None:
    page = (CLIENT / "src" / "index.html").read_text()
    (element,) = re.findall(r'<audio id="tutor-voice"[^>]*>', page)
    assert "autoplay" in element
    assert "playsinline" in element
    assert "controls" not in element


@pytest.mark.req("RTC-18")
def test_the_microphone_is_asked_for_as_mono_with_echo_cancellation() -> None:
    voice = _code(CLIENT / "src" / "microphone.ts")
    (constraints,) = re.findall(r"CAPTURE[^=]*= \{(.*?)\};", voice, re.DOTALL)
    for wanted in ("channelCount: 1", "echoCancellation: true", "noiseSuppression: true",
                   "autoGainControl: true"):  # fmt: skip
        assert wanted in constraints
    assert re.search(r"sampleRate: \{ ideal: 16_?000 \}", constraints), "16 kHz is a hint only"
    assert "exact" not in constraints


@pytest.mark.req("CARD-12")
def test_the_two_compilers_know_the_oldest_browser() -> None:
    """The list above is the third net; these are the first two."""
    options = json.loads((CLIENT / "tsconfig.json").read_text())["compilerOptions"]
    assert options["target"] == "ES2022"
    assert {lib for lib in options["lib"] if lib.startswith("ES")} == {"ES2022"}
    assert options["strict"] is True
    build = "".join(
        file.read_text()
        for file in (CLIENT / "package.json", CLIENT / "build.mjs")
        if file.exists()
    )
    assert "safari16.4" in build


@pytest.mark.req("UI-45")
def test_no_control_ends_a_session() -> None:
    for file in SOURCES:
        code = _code(file)
        assert not re.search(r"'endSession'|End session|\bFinish\b", code), file.name


def test_the_lint_sees_what_it_should(tmp_path: Path) -> None:
    """A list of patterns that match nothing would be green for ever."""
    bad = tmp_path / "bad.ts"
    bad.write_text(
        "const a = new AudioContext(); requestIdleCallback(f); // AudioWorklet in a comment\n"
        "URL.canParse(x); audio.setSinkId('x'); Object.groupBy(a, b);\n"
    )
    code = _code(bad)
    found = {why for pattern, why in {**MISSING, **SOUND}.items() if re.search(pattern, code)}
    assert len(found) == 5, found
