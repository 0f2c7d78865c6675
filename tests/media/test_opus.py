"""The libopus binding: codec round trip, repair, refusals and where the library is found."""

from __future__ import annotations

import pytest

from media import opus
from media.opus import Decoder, Encoder, OpusError, OpusMissing, has_fec
from tests.media.peers import loudness, packets, pitch, tone, voiced


@pytest.mark.parametrize(("rate", "application"), [(24_000, "lowdelay"), (48_000, "voip")])
@pytest.mark.parametrize("out_rate", [16_000, 24_000, 48_000])
def test_round_trip_at_any_rate(rate: int, application: str, out_rate: int) -> None:
    decoder = Decoder(out_rate)
    sent = packets(tone(600, rate, 1.0), rate, application=application)
    heard = b"".join(decoder.decode(payload) for payload in sent)
    assert len(heard) == 2 * out_rate
    assert pitch(heard, out_rate) == pytest.approx(600, rel=0.01)


def test_concealment_goes_on_and_fades() -> None:
    decoder = Decoder()
    for payload in packets(tone(300, 48_000, 0.5)):
        last = decoder.decode(payload)
    first = decoder.conceal(320)
    assert len(first) == 640
    assert loudness(first) > loudness(last) / 4
    for _ in range(20):
        faded = decoder.conceal(320)
    assert loudness(faded) < loudness(first) / 4


def test_fec_restores_the_packet_before() -> None:
    sent = packets(voiced(48_000, 2.0), fec=True, loss_percent=20)
    n = next(n for n in range(30, 100) if has_fec(sent[n + 1]))
    whole, holed = Decoder(), Decoder()
    for payload in sent[:n]:
        whole.decode(payload)
        holed.decode(payload)
    assert loudness(holed.decode_fec(sent[n + 1], 320)) == pytest.approx(
        loudness(whole.decode(sent[n])), rel=0.4
    )


def test_low_delay_packets_carry_no_copy() -> None:
    sent = packets(voiced(24_000, 1.0), 24_000, application="lowdelay", bitrate=48_000)
    assert not any(map(has_fec, sent))
    assert not has_fec(b"")


def test_what_is_not_opus_is_refused() -> None:
    decoder = Decoder()
    for payload in (b"", b"\xff\xff\xff"):
        with pytest.raises(OpusError):
            decoder.decode(payload)
    with pytest.raises(OpusError):
        decoder.conceal(16_000)
    with pytest.raises(OpusError):
        Encoder().encode(bytes(100))
    with pytest.raises(OpusError):
        Encoder(rate=44_100)


def test_closed_codecs_refuse_and_close_again() -> None:
    encoder, decoder = Encoder(), Decoder()
    for codec in (encoder, decoder):
        codec.close()
        codec.close()
    with pytest.raises(OpusError):
        encoder.encode(bytes(960))
    with pytest.raises(OpusError):
        decoder.conceal(320)


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opus, "_candidates", lambda: iter(["/nowhere/libopus.so"]))
    opus.library.cache_clear()
    try:
        with pytest.raises(OpusMissing, match="pip install av"):
            opus.library()
    finally:
        opus.library.cache_clear()


def test_pyavs_own_library_comes_first() -> None:
    assert "av.libs" in next(opus._candidates()) or "dylibs" in next(opus._candidates())
