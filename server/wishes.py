"""What the page of a learner wants of its lesson: each message goes where it is acted on. It
decides only what is taken and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel

from server import rtvi
from server.captions import Captions
from server.channel import Channel
from server.ending import Ending
from server.floor import Floor
from server.style_change import StyleChange

NO_WORDS = "There are no words in that message."
TOO_LATE = "This voice session is ending."


class Wishes:
    """`snapshot` is what a page that has just come is told; `stop` ends the lesson."""

    def __init__(
        self,
        channel: Channel,
        floor: Floor,
        captions: Captions,
        styles: StyleChange,
        ending: Ending,
        *,
        snapshot: Callable[[], Sequence[BaseModel]],
        stop: Callable[[str], None],
    ) -> None:
        self._channel, self._floor, self._captions = channel, floor, captions
        self._styles, self._ending = styles, ending
        self._snapshot, self._stop = snapshot, stop

    def take(self, got: rtvi.Received) -> None:
        """One message that the channel has admitted."""
        talk = self._floor.talk
        match got.message:
            case rtvi.ClientReady():
                self._channel.reply_ready(got.id, list(self._snapshot()))
            case rtvi.SendText(content=content):
                self._typed(content, got.id)
            case rtvi.PushToTalk(down=down):
                talk.push_to_talk(down)
            case rtvi.Mic(on=on) | rtvi.TrackStatus(enabled=on, receiver_index=0):
                self._mute(not on)
            case rtvi.ReplySpeech(on=on):
                talk.speech_on = on
            case rtvi.ReplayRequest(turn_id=turn_id, rate=rate):
                talk.replay(turn_id, rate)
            case rtvi.StyleChoice(style=style):
                self._styles.choose(style)
            case rtvi.Stop(after_reply=True):
                self._ending.after_reply("stopped")
            case rtvi.Stop() | rtvi.DisconnectBot():
                self._stop("stopped")
            case _:
                pass

    def _typed(self, text: str, message_id: str) -> None:
        """OWN-69: words first, then whether there is time left, then the service."""
        if not text.strip():
            self._channel.refuse(message_id, NO_WORDS)
        elif self._ending.expiring:
            self._channel.refuse(message_id, TOO_LATE)
        else:
            self._ending.cut_in()
            self._captions.wrote(text)
            self._floor.talk.typed(text, message_id)

    def _mute(self, muted: bool) -> None:
        """Told when it changes: every page says how its microphone is when it comes."""
        talk = self._floor.talk
        if talk.microphone_on is muted:
            self._channel.send("user-mute-started" if muted else "user-mute-stopped")
        talk.microphone_on = not muted
