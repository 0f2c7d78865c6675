"""What the learner's page shows of a conversation: states, words, marks, troubles. No I/O."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from pydantic import BaseModel

from media import turn_events as ev
from media.script_check import LATIN, unexpected
from media.turns import State
from server import rtvi

log = logging.getLogger(__name__)

SHOWN = {State.FORMULATING: "formulating", State.TUTOR: "speaking"}

INTERRUPTED = "(You interrupted the tutor.)"
# Nobody is left in silence without a word (design 5.6). Codes are the machine's troubles.
TROUBLE_TEXT = {
    "silent_turn": "The tutor did not answer. Please say that again.",
    "empty_turns": "The tutor is having trouble answering. Please try once more, or type below.",
    "inaudible": "The tutor’s voice came through silent. Please ask again.",
    "text_without_audio": "The tutor answered in writing only.",
    "turn_tracking": "Voice lost turn tracking. Start voice again.",
    "stuck_playout": "The tutor’s voice got stuck. Please go on.",
    "echo": "Your microphone picks up the tutor’s voice. Headphones would help.",
}


class Captions:
    """`tell` reaches the page; `scripts` are those that a learner is expected to speak in. While
    the Live session is away, nothing claims to listen."""

    def __init__(
        self,
        tell: Callable[[BaseModel | str], None],
        stamp: Callable[[], str],
        uid: str,
        scripts: frozenset[str] = frozenset({LATIN}),
    ) -> None:
        self._tell, self._stamp, self._uid, self._scripts = tell, stamp, uid, scripts
        self._written = ""
        self._said: dict[str, str] = {}
        self._away = "connecting"
        # Whether speech may cut a reply short; where it may not, the microphone waits (UI-26).
        self.barge_in = True
        self.status = rtvi.Status(state="connecting")
        self.troubles: Counter[str] = Counter()

    # --- the state ------------------------------------------------------------------------------

    def show(self, state: str, *, may_interrupt: bool = False, reason: str = "") -> None:
        """The lesson's state in the words of the design; repeated states are told once."""
        status = rtvi.Status.model_validate(
            {
                "state": state,
                "mayInterrupt": may_interrupt and self.barge_in,
                "reason": reason or None,
            }
        )
        if status != self.status:
            log.debug("state", extra={"from": self.status.state, "to": status.state})
            self.status = status
            self._tell(status)

    def turned(self, effect: ev.ShowState) -> None:
        """What is left of a reply is still heard while the service is away; the rest is not so."""
        if self._away and effect.state != "speaking":
            self.show(self._away)
        else:
            self.show(effect.state, may_interrupt=effect.may_interrupt, reason=effect.reason)

    def link_lost(self, state: State) -> None:
        self._away = "reconnecting"
        if state is not State.TUTOR:
            self.show(self._away)

    def link_restored(self, state: State) -> None:
        self._away = ""
        self.show(SHOWN.get(state, "listening"), may_interrupt=state is State.TUTOR)

    def replaying(self, sounding: bool) -> None:
        """A replay claims the state while no turn has one to show."""
        if sounding:
            self.show("speaking", may_interrupt=True, reason="replay")
        elif self.status.reason == "replay":
            self.show(self._away or "listening")

    # --- the words ------------------------------------------------------------------------------

    def wrote(self, text: str) -> None:
        """The learner typed this: there is nothing to mishear."""
        self._written = text.strip()

    def learner(self, effect: ev.ShowLearner) -> None:
        written = effect.text.strip() == self._written
        doubtful = not written and unexpected(effect.text, self._scripts)
        self._tell(
            rtvi.UserTranscription(
                text=effect.text,
                final=effect.final,
                timestamp=self._stamp(),
                user_id=self._uid,
                turn_id=effect.turn_id,
                low_confidence=doubtful or None,
            )
        )

    def tutor(self, effect: ev.ShowTutor, segment: int) -> None:
        turn_id, text = effect.turn_id, effect.text
        before = self._said.get(turn_id, "")
        self._said[turn_id] = text
        self._tell(rtvi.BotOutput(text=text, turn_id=turn_id, segment_id=segment))
        if text.startswith(before) and text != before:
            self._tell(rtvi.BotTtsText(text=text[len(before) :]))

    def interrupted(self, turn_id: str, heard: str) -> None:
        self._tell("bot-interrupted")
        self._tell(rtvi.Interruption(turn_id=turn_id, heard=heard))
        self._tell(rtvi.System(text=INTERRUPTED, code="interrupted", turn_id=turn_id))

    def finished(self, turn_id: str, heard: str) -> None:
        self._said.pop(turn_id, None)
        self._tell(rtvi.BotTranscription(text=heard, turn_id=turn_id))

    def dropped(self, turn_id: str, why: str) -> None:
        log.info("turn dropped", extra={"turn": turn_id, "why": why})
        self._said.pop(turn_id, None)

    def trouble(self, code: str, turn_id: str) -> None:
        self.troubles[code] += 1
        log.warning("trouble", extra={"trouble": code, "turn": turn_id})
        self._tell(rtvi.Notice(text=TROUBLE_TEXT[code], code=code))
