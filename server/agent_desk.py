"""What a talk has under way with the agent: its question, the voice and the words that it orders.

Tells the page of each decision as soon as it is stored, and of each that could not be had.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel

from media.modes import agent_events as ag
from media.modes.agent_learner import WRITE_DOWN_S
from media.modes.agent_stage import ASK_S
from media.modes.awaited import SYNTHESIS_S
from server import rtvi
from server.agent_ports import AgentPorts, Move
from server.errands import Errands
from server.errors import Code, PidjinError
from server.exchanges import agenda_message

ASK, VOICE, WRITE = "ask", "speak", "transcribe"
# Called off by the learner or the model, or left to whoever goes on: nothing was lost.
_WITHDRAWN = ("cancelled", "noise", "closed")


class AgentDesk:
    """`handle` takes what comes back to the machine; `denied` is told of access that ended."""

    def __init__(
        self,
        ports: AgentPorts,
        errands: Errands,
        handle: Callable[[ag.AgentEvent], None],
        tell: Callable[[BaseModel], None],
        denied: Callable[[PidjinError], None],
        now: Callable[[], float],
    ) -> None:
        self._ports, self._errands, self._handle = ports, errands, handle
        self._tell, self._denied, self._now = tell, denied, now
        self._asked: dict[str, str] = {}
        self._moves: dict[str, Move] = {}
        self._failures: dict[str, PidjinError] = {}

    # --- decisions -------------------------------------------------------------------------------

    def ask(self, turn_id: str, text: str) -> None:
        self._asked[turn_id] = text
        self._errands.start(
            ASK,
            lambda: self._ports.ask(text),
            lambda move: self._decided(turn_id, move),
            lambda error: self._undecided(turn_id, error),
            within_s=ASK_S,
        )

    def stop_asking(self) -> None:
        self._errands.call_off(ASK)

    def _decided(self, turn_id: str, move: Move) -> None:
        self._moves[turn_id] = move
        self._handle(ag.Decided(self._now(), turn_id, move.text))
        self._tell(self._turn(turn_id, move))
        self._tell(agenda_message(move.updated_reveal_state))
        self._forget(turn_id)

    def _undecided(self, turn_id: str, error: PidjinError) -> None:
        if error.code in (Code.PERMISSION_DENIED, Code.UNAUTHENTICATED):
            self._denied(error)
        self._failures[turn_id] = error
        self._handle(ag.Undecided(self._now(), turn_id))

    def dropped(self, turn_id: str, why: str) -> None:
        """The learner's words lead to nothing: said in words, unless they were withdrawn."""
        if turn_id in self._asked and why not in _WITHDRAWN:
            error = self._failures.get(turn_id)
            if error is not None:
                self._tell(rtvi.Notice(text=error.message, code=error.code))
            self._tell(self._turn(turn_id, None))
        self._forget(turn_id)

    def response(self, effect: ag.AnswerCall) -> dict[str, object]:
        """What a tool call of the model is answered with (VOICE-41, VOICE-43)."""
        if effect.outcome == "error":
            return {"error": "the move could not be decided on"}
        move = self._moves.get(effect.turn_id or "")
        return {"noop": True} if move is None else {"mode": move.mode, "text": move.text}

    def _turn(self, turn_id: str, move: Move | None) -> rtvi.Turn:
        return rtvi.Turn(
            turn_id=turn_id,
            mode=move.mode if move else None,
            user_text=self._asked.get(turn_id, ""),
            text=move.text if move else "",
            interrupted=False,
            saved=move is not None,
        )

    def _forget(self, turn_id: str) -> None:
        for known in (self._asked, self._moves, self._failures):
            known.pop(turn_id, None)

    # --- voice and words -------------------------------------------------------------------------

    def voice(self, turn_id: str, text: str, voiced: Callable[[str, bytes], None]) -> None:
        self._errands.start(
            VOICE,
            lambda: self._ports.speak(text),
            lambda pcm: voiced(turn_id, pcm),
            lambda error: self._handle(ag.Unvoiced(self._now(), turn_id)),
            within_s=SYNTHESIS_S,
        )

    def stop_voicing(self) -> None:
        self._errands.call_off(VOICE)

    def write_down(self, pcm: bytes, written: Callable[[str], None]) -> None:
        self._errands.start(
            WRITE,
            lambda: self._ports.transcribe(pcm),
            written,
            lambda error: self._handle(ag.NotWrittenDown(self._now())),
            within_s=WRITE_DOWN_S,
        )

    def stop_writing(self) -> None:
        self._errands.call_off(WRITE)

    def close(self) -> None:
        for errand in (ASK, VOICE, WRITE):
            self._errands.call_off(errand)
