"""One spoken conversation whose replies come from the agent: what the peer, the Live session and
the agent say goes through the machine of `media.modes`, and what it decides is done here.

Synchronous: errands bring back what takes time. It decides nothing that the machine could decide.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from agent.prompts.verbatim import verbatim_request
from media import turn_events as ev
from media.live import port
from media.modes import agent_events as ag
from media.modes.agent_voiced import AgentVoiced, State
from media.modes.flow_c import TOOL, learner_text
from media.modes.from_live import event_of
from media.sound import BYTES_PER_MS, audible
from media.turns import State as TurnState
from server.agent_desk import AgentDesk
from server.agent_ears import Ears, Senses
from server.agent_voice import AgentVoice
from server.room import Room
from server.turn_metrics import TurnMetrics

log = logging.getLogger(__name__)

_SHOWN = {State.LISTENING: TurnState.IDLE, State.SPEAKING: TurnState.TUTOR}


class AgentTalk:
    """`senses` are its own, what it shares with the rest of the lesson is in the room."""

    def __init__(
        self,
        senses: Senses,
        machine: AgentVoiced,
        room: Room,
    ) -> None:
        self._senses, self._machine = senses, machine
        self._captions, self._tell, self._now = room.captions, room.tell, room.now
        self.metrics = TurnMetrics()
        self._ears = Ears(senses, self._handle, room, self.metrics)
        self._desk = AgentDesk(
            room.ports, room.errands, self._handle, room.tell, room.denied, room.now
        )
        self._voice = AgentVoice(room, self._handle, self._replaying, self.metrics)
        self._reply_text = ""
        self._speech_on = True
        self._used_at = room.now()
        self.on_deadline_changed: Callable[[], None] = room.armed
        room.captions.barge_in = False

    # --- sound ----------------------------------------------------------------------------------

    def hear(self, pcm: bytes, at: float) -> None:
        """20 ms of the microphone; while a reply is awaited or heard it passes for silence."""
        self._ears.hear(pcm, at)

    def push_to_talk(self, down: bool) -> None:
        if down:
            self._voice.replays.halt()
        self._ears.push_to_talk(down, self._now())

    def absent(self) -> None:
        """Nobody is on the line: a key is up again, what was being said is over."""
        self._ears.absent(self._now())

    @property
    def last_voice_at(self) -> float:
        return max(self._used_at, self._voice.sounded_at, self._ears.last_voice_at)

    @last_voice_at.setter
    def last_voice_at(self, at: float) -> None:
        self._used_at = at

    def pull(self, at: float) -> bytes | None:
        """20 ms of the tutor, PCM16 mono 24 kHz, or None: silence."""
        return self._voice.pull(at)

    def replay(self, turn_id: str, rate: float) -> None:
        """One of the last replies once more; the microphone waits, as for a reply (VOICE-31)."""
        self._voice.replays.start(turn_id, rate, quiet=self._machine.quiet)

    def _replaying(self, sounding: bool) -> None:
        self._ears.replaying = sounding
        self._captions.replaying(sounding)
        self.on_deadline_changed()

    # --- the Live session -----------------------------------------------------------------------

    def live(self, event: port.LiveEvent) -> None:
        match event:
            case port.ReplyAudio(pcm=pcm, rate=rate):
                self._heard_live(pcm, rate, self._now())
            case port.ToolCall(call_id=call_id, name=name, args=args):
                self._called(call_id, name, args, self._now())
            case port.Activity() if self._senses.brackets:
                pass  # our own gate has said so
            case _:
                if (told := event_of(event, self._now())) is not None:
                    self._handle(told)

    def _heard_live(self, pcm: bytes, rate: int, at: float) -> None:
        """Leading silence is nothing heard: it neither plays nor calls the fallback off."""
        if not self._voice.playing and not audible(pcm):
            return
        self._handle(ev.TutorAudioArrived(at, len(pcm) / 2 / rate * 1000))
        if self._machine.accepts_audio:
            self._voice.audio(pcm, rate)

    def _called(self, call_id: str, name: str, args: Mapping[str, object], at: float) -> None:
        """VOICE-22: only Flow C declares a tool, and only that one exists."""
        if self._senses.link is None or not self._machine.takes_calls:
            log.warning("tool call ignored", extra={"tool": name})
        elif name != TOOL:
            self._senses.link.answer(call_id, {"error": f"there is no tool {name}"})
        else:
            self._handle(ag.Called(at, call_id, learner_text(args)))

    def link_lost(self, *, planned: bool = False) -> None:
        self._handle(ev.LinkLost(self._now()))
        if not planned:
            self._captions.link_lost(_SHOWN.get(self._machine.state, TurnState.FORMULATING))

    def link_restored(self) -> None:
        self._captions.link_restored(_SHOWN.get(self._machine.state, TurnState.FORMULATING))
        self._handle(ev.LinkRestored(self._now()))

    # --- the learner's page -----------------------------------------------------------------------

    @property
    def microphone_on(self) -> bool:
        return self._ears.microphone_on

    @microphone_on.setter
    def microphone_on(self, on: bool) -> None:
        """Switching it on is a wish to be heard: ears that failed are tried again."""
        self._ears.microphone_on = on
        if on and self._ears.recover() and self._machine.state is State.LISTENING:
            self._captions.show("listening")

    @property
    def speech_on(self) -> bool:
        return self._speech_on

    @speech_on.setter
    def speech_on(self, on: bool) -> None:
        self._speech_on = on
        self._handle(ag.SpeechSwitched(self._now(), on))

    def typed(self, text: str, request_id: str) -> bool:
        """False for a text without words; true means taken."""
        if not text.strip():
            return False
        self._used_at = self._now()
        self.metrics.typed(self._used_at)
        self._voice.replays.halt()
        self._handle(ev.Typed(self._used_at, text, request_id))
        return True

    def unheard(self, seconds: float) -> None:
        """The line was dead for so long: what was played into it is played again. The decision
        stands, however much of it is heard."""
        self._voice.unheard(seconds)
        self._handle(ag.LineLost(self._now()))

    def take_over(self, unanswered: tuple[str, str] | None) -> None:
        """Begins where another talk had to end, with the words that it left unanswered."""
        self._captions.link_restored(TurnState.IDLE)
        if unanswered is not None:
            self._handle(ag.Taken(self._now(), *unanswered))

    def close(self) -> None:
        """Ends now: nothing that is under way is heard of any more (VOICE-28)."""
        self._handle(ev.Closed(self._now()))
        self._desk.close()
        self._voice.flush()

    # --- time -------------------------------------------------------------------------------------

    def time_passed(self) -> None:
        self._handle(ev.TimePassed(self._now()))

    def next_deadline(self) -> float | None:
        return self._machine.next_deadline()

    @property
    def reply_s(self) -> float | None:
        return self._voice.reply_s

    @property
    def quiet(self) -> bool:
        """Nobody speaks, nothing is due, no key is down and nothing is played once more."""
        held = self._senses.gate.held or self._voice.replays.running
        return self._machine.quiet and not held

    @property
    def unanswered(self) -> tuple[str, str] | None:
        return self._machine.unanswered

    # --- effects ----------------------------------------------------------------------------------

    def _handle(self, event: ag.AgentEvent) -> None:
        for effect in self._machine.handle(event):
            self._perform(effect)
        self.on_deadline_changed()

    def _perform(self, effect: ag.AgentEffect) -> None:
        link = self._senses.link
        match effect:
            case ag.Ask(turn_id=turn_id, text=text):
                self._ears.segment.clear()
                self._desk.ask(turn_id, text)
            case ag.StopAsking():
                self._desk.stop_asking()
            case ag.ReadAloud(text=text):
                if link is not None:
                    link.read_aloud(verbatim_request(text))
            case ag.Synthesise(turn_id=turn_id, text=text):
                self._desk.voice(turn_id, text, self._voiced)
            case ag.AnswerCall(call_id=call_id):
                if link is not None:
                    link.answer(call_id, self._desk.response(effect))
            case ag.Microphone(open=listening):
                self._ears.listening = listening
            case ag.WriteDown():
                self._desk.write_down(self._ears.segment.pcm, self._written)
            case ag.KeepListening():
                self._desk.stop_writing()
            case ag.Deaf():
                self._cannot_hear()
            case ag.ReplyOver(turn_id=turn_id, text=text):
                self._desk.stop_voicing()
                self._captions.finished(turn_id, text)
                self._voice.finished(turn_id)
            case ev.BeginReply(turn_id=turn_id):
                self._voice.begin(turn_id, self._reply_text)
            case ev.EndReply():
                self._voice.complete()
            case ev.Flush():
                self._voice.flush()
            case ev.QuietMoment():
                if link is not None:
                    link.quiet_moment()
            case _:
                self._show(effect)

    def _show(self, effect: ag.AgentEffect) -> None:
        match effect:
            case ev.ShowState(state="listening") if self._ears.deaf:
                self._captions.show("idle", reason="text-only")
            case ev.ShowState():
                self._captions.turned(effect)
            case ev.ShowLearner():
                self._captions.learner(effect)
            case ev.ShowTutor(text=text):
                self._reply_text = text
                self._captions.tutor(effect, self._machine.opened)
            case ev.ShowInterrupted(turn_id=turn_id):
                self.metrics.interrupted()
                self._captions.interrupted(turn_id, self._voice.heard(turn_id))
            case ev.DropReply(turn_id=turn_id, why=why):
                self.metrics.dropped(turn_id)
                self._captions.dropped(turn_id, why)
                self._desk.dropped(turn_id, why)
            case ev.Trouble(code=code, turn_id=turn_id):
                self._captions.trouble(code, turn_id)
            case _:
                pass

    def _voiced(self, turn_id: str, pcm: bytes) -> None:
        self._handle(ag.Voiced(self._now(), turn_id, len(pcm) / BYTES_PER_MS))
        if self._machine.accepts_audio:
            self._voice.audio(pcm)
        self._handle(ag.AllVoiced(self._now(), turn_id))

    def _written(self, text: str) -> None:
        self._ears.understood()
        self._handle(ag.WrittenDown(self._now(), text))

    def _cannot_hear(self) -> None:
        self._desk.stop_writing()
        self._tell(self._ears.failed())
