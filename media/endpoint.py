"""Has the learner finished, or are they only thinking? How long a silence ends their turn.

Used where our own detection ends turns (`liveVadEnabled:false`). It counts voice and pauses, and
looks at words where somebody has some. The melody and the loudness of the last syllables are not
asked: on recordings cut in mid-sentence they told ends from pauses no better than chance. Pure.
"""

from __future__ import annotations

BLOCK_MS = 20
# After a question of the tutor so much silence is thought, not an end (PAINS T8).
THINKING_S = 2.0
# Speech without a pause of BREATH_MS; so much of it is fluent, less than so much in all is short.
BREATH_MS, FLUENT_MS, SHORT_MS = 300, 2200, 800
# The silence that ends a turn, as a share of the usual one: after fluent speech, after a word or
# two that may be a beginning, and else.
FLUENT, SHORT, USUAL = 0.6, 1.0, 0.9
# After a question; after words that cannot end a sentence.
ASKED, OPEN = 0.6, 1.3
# Who has paused in a turn will pause again, and longer; nobody is waited for longer than this.
AGAIN, LONGEST = 1.4, 2.0

# A recogniser writes a full stop wherever the voice pauses (in 17 of 19 sentences cut in the
# middle), a question mark only where a question is whole: the stop says nothing.
STOPS = (".", "!", "。", "！", "।")
QUESTIONS = ("?", "？", "؟")
UNFINISHED = (",", ";", ":", "-", "–", "—", "…", "...", "、", "，")
# In no language of this list does one of them end a sentence.
_WORDS = """and or but because if the an with um uh er erm hmm und oder aber weil dass wenn äh ähm
hm pero porque o y e et ou mais parce euh ma perché che oppure ehm ale bo lub że ponieważ yyy mas
porquê en maar omdat och eller men fordi и но или потому что если a an my your their than whose
rather der die das ein eine el los las une les des il gli"""
CONNECTIVES = frozenset(_WORDS.split())


class Endpoint:
    """One microphone. `silence_ms`: the silence that ends an ordinary turn (DATA-37)."""

    def __init__(self, silence_ms: int) -> None:
        self._silence_ms = silence_ms
        self._thinking_ms = 0
        self.started()

    def started(self) -> None:
        """A turn begins."""
        self._voiced_ms = self._run_ms = self._gap_ms = self._longest_gap_ms = 0
        self._words = USUAL
        self._told = False

    def hear(self, *, voiced: bool) -> None:
        """20 ms of the turn."""
        if not voiced:
            self._gap_ms += BLOCK_MS
            return
        self._longest_gap_ms = max(self._longest_gap_ms, self._gap_ms)
        if self._gap_ms >= BREATH_MS:
            self._run_ms = 0
        if self._gap_ms:
            self._told = False
        self._gap_ms = 0
        self._voiced_ms += BLOCK_MS
        self._run_ms += BLOCK_MS

    def words(self, text: str) -> None:
        """The turn's transcript so far; it counts until more is said."""
        text = text.strip()
        last = text.rstrip("".join(STOPS + UNFINISHED)).rpartition(" ")[2].casefold()
        if text.endswith(QUESTIONS):
            self._words, self._told = ASKED, True
        elif text.endswith(UNFINISHED) or last in CONNECTIVES:
            self._words, self._told = OPEN, True

    def thinking(self, seconds: float) -> None:
        """In the next turn (or this one) a silence of `seconds` is not the end; 0 takes it back."""
        self._thinking_ms = round(seconds * 1000)

    def ended(self) -> None:
        """The turn is over; time for thought was for this one."""
        self._thinking_ms = 0

    @property
    def hangover_ms(self) -> int:
        """The silence, counted from the last voiced block, that ends the turn now."""
        share = self._words if self._told else self._by_voice()
        usual = max(share * self._silence_ms, min(AGAIN * self._longest_gap_ms, self._most_ms))
        return round(max(usual, self._thinking_ms))

    @property
    def _most_ms(self) -> float:
        return LONGEST * self._silence_ms

    def _by_voice(self) -> float:
        if self._run_ms >= FLUENT_MS:
            return FLUENT
        return SHORT if self._voiced_ms < SHORT_MS else USUAL
