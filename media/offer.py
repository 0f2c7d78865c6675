"""Pure text work on session descriptions: what an offer must have, what our answer adds. No I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aiortc import RTCRtpReceiver, sdp
from aiortc.rtcrtpparameters import RTCRtpCodecCapability

MAX_OFFER_BYTES = 64 * 1024  # browsers send 2 to 10 kB
MAX_SECTIONS = 8
# A browser that offers sound, two pictures and data (stock clients do) writes some 800 lines, 120
# of them codecs, and names feedback by codec. The library's work on an offer grows with the product
# of these: 60 kB of nothing else kept it busy for five seconds.
MAX_LINES = 1500
MAX_CODECS = 400
MAX_FEEDBACK_FOR_ALL = 16

# FEC on (its strength follows our receiver reports), mono, no DTX: silence must come as packets.
OPUS_PARAMETERS = "minptime=10;useinbandfec=1;stereo=0;maxaveragebitrate=32000"

_KINDS = {"audio", "video", "application"}
_DROPPED = ("a=candidate:", "a=end-of-candidates", "a=remote-candidates:")
_LINE_END = re.compile(r"\r\n|\r|\n")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_OPUS_LINE = re.compile(r"^a=rtpmap:(\d+) opus/48000/2\r\n", re.IGNORECASE | re.MULTILINE)


class OfferRefused(ValueError):
    """An offer that cannot be answered; the text is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A usable offer: candidates removed; the payload type of Opus, None when not offered."""

    sdp: str
    opus: int | None


def read_offer(text: str) -> Offer:
    """Checks an offer and removes its candidates. Raises OfferRefused.

    The server learns the browser's address from its connectivity checks; names like `….local`
    would only make the answer wait (1 s) or fail.
    """
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise OfferRefused("The connection offer is not valid text.") from error
    if size > MAX_OFFER_BYTES:
        raise OfferRefused(f"The connection offer is larger than {MAX_OFFER_BYTES // 1024} KiB.")
    if _CONTROL.search(text) or not text.startswith("v=0"):
        raise OfferRefused("The connection offer is not a session description.")
    lines = [line for line in _LINE_END.split(text) if line and not line.startswith(_DROPPED)]
    codecs = sum(line.startswith("a=rtpmap:") for line in lines)
    feedback = sum(line.startswith("a=rtcp-fb:*") for line in lines)
    if len(lines) > MAX_LINES or codecs > MAX_CODECS or feedback > MAX_FEEDBACK_FOR_ALL:
        raise OfferRefused("The connection offer is too long.")
    stripped = "".join(f"{line}\r\n" for line in lines)
    try:
        description = sdp.SessionDescription.parse(stripped)
    # The boundary to the library's parser, which raises whatever comes to hand.
    except Exception as error:
        raise OfferRefused("The connection offer is damaged.") from error
    return Offer(stripped, _check(description))


def _check(description: sdp.SessionDescription) -> int | None:
    media = description.media
    if len(media) > MAX_SECTIONS or any(section.kind not in _KINDS for section in media):
        raise OfferRefused("The connection offer asks for more than audio and a data channel.")
    audio = next((section for section in media if section.kind == "audio"), None)
    if audio is None or audio.port == 0 or audio.direction == "inactive":
        raise OfferRefused("The connection offer has no audio.")
    if sum(section.kind == "application" for section in media) > 1:
        raise OfferRefused("The connection offer has more than one data section.")
    mids = [section.rtp.muxId for section in media]
    if "" in mids or len(set(mids)) != len(mids):
        raise OfferRefused("The connection offer does not name its sections.")
    groups = [group.items for group in description.group if group.semantic == "BUNDLE"]
    if (groups or len(mids) > 1) and [sorted(items) for items in groups] != [sorted(mids)]:
        raise OfferRefused("The connection offer must bundle all sections (BUNDLE).")
    for section in media:
        if section.ice is None or not (section.ice.usernameFragment and section.ice.password):
            raise OfferRefused("The connection offer has no ICE credentials.")
        if section.dtls is None or not section.dtls.fingerprints:
            raise OfferRefused("The connection offer has no DTLS fingerprint.")
    return next(
        (c.payloadType for c in audio.rtp.codecs if c.mimeType.lower() == "audio/opus"), None
    )


def opus_only() -> list[RTCRtpCodecCapability]:
    """The codec preference that leaves Opus alone in the answer."""
    capabilities = RTCRtpReceiver.getCapabilities("audio")
    codecs = [] if capabilities is None else capabilities.codecs
    return [codec for codec in codecs if codec.mimeType.lower() == "audio/opus"]


def finish_answer(text: str) -> str:
    """The library's answer with the Opus parameters that it cannot express."""
    return _OPUS_LINE.sub(rf"\g<0>a=fmtp:\g<1> {OPUS_PARAMETERS}\r\n", text)
