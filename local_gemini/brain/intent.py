"""Tells what kind of thing a learner said: an answer, a question, a wish about the talk. Pure."""

from __future__ import annotations

import re
from enum import Enum

from local_gemini.brain.language import content_words, words


class Intent(Enum):
    """Kinds of utterances that a tutor answers differently."""

    NOTHING = "nothing"
    GREETING = "greeting"
    THANKS = "thanks"
    UNSURE = "unsure"
    REPEAT = "repeat"
    SLOWER = "slower"
    DISAGREE = "disagree"
    WHO = "who"
    WAIT = "wait"
    SKIP = "skip"
    CONTINUE = "continue"
    RECAP = "recap"
    QUESTION = "question"
    ANSWER = "answer"


_FILLER = r"(?:so|well|um+|uh+|hmm+|oh|ok(?:ay)?|please|sorry|yes|no|yeah|actually|and|but|hey)"
_UNSURE = re.compile(
    r"\b(?:(?:i )?(?:don'?t|do not|didn'?t|can'?t|cannot|could ?n'?t) "
    r"(?:really |even |quite )?(?:know|remember|understand|recall|get (?:it|this|that)|"
    r"say|tell|answer|think of)|"
    r"no (?:idea|clue)|not (?:really )?sure|i(?:'ve got| have| got) no|haven'?t (?:a clue|an idea)|"
    r"i(?:'m| am) (?:lost|stuck|confused|unsure)|i forg[eo]t(?:ten)?|i give up|"
    r"give me a hint|a hint|help me|dunno|beats me|nothing comes)\b"
)
_REPEAT = re.compile(
    r"\b(?:repeat|say (?:that|it|this)? ?(?:once )?again|once more|come again|"
    r"pardon|(?:didn'?t|did not) (?:hear|catch)|what did you (?:say|ask)|"
    r"what was (?:that|the question|your question)|ask (?:me )?(?:that |it )?again|"
    r"(?:go on|continue|carry on) (?:from )?where (?:i (?:interrupted|stopped) you|you stopped))\b"
)
_ASKS = r"(?:what|why|how|who|where|when|which|is|are|do|does|did|can|could)\b"
_QUOTED = re.compile(r"“[^”]*”")
_SLOWER = re.compile(r"\b(?:slower|more slowly|slow down|too fast|not so fast)\b")
_DISAGREE = re.compile(
    r"\b(?:i disagree|i (?:do not|don'?t) (?:agree|believe (?:it|that|you)|think so)|"
    r"that(?:'s| is) (?:wrong|false|not (?:true|right|correct))|you(?:'re| are) wrong|"
    r"i doubt (?:it|that))\b"
)
_REFUSING = re.compile(r"^\W*(?:no|nope|not|later|maybe later|i(?:'d| would) rather)\b")
_WHILE = (
    r"(?:(?:for )?(?:just )?(?:an?|one|this|the)? ?(?:short |little |quick )?"
    r"(?:moment|second|minute|sec|bit|while|now)|right now|here|there|it there|again)"
)
_HALT = (
    r"(?:(?:stop|wait|pause|halt|enough|that(?:'?s| is) enough|quiet|silence|hush|"
    r"sh+|shut up|not now)"
    r"(?: (?:talking|speaking|reading|it|this|that))?|"
    r"(?:be|keep|stay) (?:quiet|silent|still)|(?:don'?t|do not|no more) (?:talk|speak)(?:ing)?|"
    r"(?:take|have|need) a (?:short |little |quick )?break|time out)"
)
_HOLDING = (
    r"(?:(?:hold|hang) on(?! to)|just (?:one|an?) (?:moment|second|minute|sec)|"
    r"(?:one|an?) (?:moment|second|minute|sec)(?= (?:please|i|let|some\w+)\b|$)|"
    r"give me (?:an?|one) (?:moment|second|minute|sec)|let me think)"
)
_POLITE = (
    r"(?:please|just|now|hey|no|ok(?:ay)?|sorry|so|and|can|could|would|will|you|we|i|let'?s|"
    r"(?:want|need|like|have)(?: you)?(?: to)?|i'?d|must|should|pidjin|tutor)"
)
# All of it asks for silence, in whatever order the words come: "wait, wait, please stop a moment".
_STOP = re.compile(
    rf"^(?=.*\b{_HALT}(?: |$))(?:(?:{_HALT}|{_HOLDING}|{_POLITE}|{_WHILE})(?: |$))+$"
)
# Or it does at first, and then says why, about the speaker and not about a thing that stops.
_WAIT = re.compile(
    rf"^(?:(?:{_POLITE} )*{_HOLDING}\b(?! {_ASKS})|"
    rf"(?:{_POLITE} )*(?:{_HALT}(?: {_WHILE})? ?)+(?:please )?"
    r"(?:i|i'm|my|let me|someone|somebody|there is|there's|we) )"
)
_SKIP = re.compile(
    r"\b(?:skip (?:this|that|it|the)|next (?:one|question|point|topic|part)|move on|"
    r"something else|another (?:question|point)|go to the next|pass on this)\b|^(?:skip|next|pass)$"
)
_RECAP = re.compile(
    r"\b(?:recap|summari[sz]e|sum (?:it |this |that )?up|summary|where (?:are|were) we|"
    r"what (?:have|did) we (?:cover|learn|do)\w*|what is left|how many (?:points|are left))\b"
)
_CONTINUE = re.compile(
    r"^(?:" + _FILLER + r"[ ,]*)*(?:let'?s |we can |you can |i(?:'m| am) |can we )?"
    r"(?:yes|yeah|yep|yup|sure|ok(?:ay)?|right|alright|fine|good|great|go (?:on|ahead|for it)|"
    r"continue|carry on|ready|start|begin|get started|let'?s (?:go|start|begin|do it)|of course|"
    r"sounds good|got it|i see|i understand|makes sense|that makes sense|no|nope|not really|maybe|"
    r"i think so|i guess so|true|exactly|correct)(?: (?:please|now|then|it|so|too|thanks?))*$"
)
_GREETING = re.compile(
    r"^(?:hello|hi|hey|hiya|good (?:morning|afternoon|evening|day)|greetings|howdy)"
    r"(?: (?:there|pidjin|tutor|you|everyone|again|how are you))*$|"
    r"\b(?:can you hear me|are you (?:still )?there)\b"
)
_WHO = re.compile(
    r"\b(?:who are you|what are you|are you (?:a )?(?:human|person|robot|machine|computer|ai|real)|"
    r"what is your name|what can you do)\b"
)
_THANKS = re.compile(
    r"^(?:" + _FILLER + r"[ ,]*)*(?:thanks?|thank you|cheers|bye|goodbye|good night|see you|"
    r"that'?s all|that is all|i(?:'m| am) done|we(?:'re| are) done|"
    r"i (?:have|need|must|'ve got)(?: to)? (?:go|leave)(?! (?:to|on|back)))\b.{0,40}$"
)
_LEAVING = re.compile(r"\b(?:good ?bye|bye|good night|see you|have to go|must go|got to go)\b")
_THANKING = re.compile(r"\b(?:thanks?|cheers)\b")
_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|would|will|should|has|have|might|must)"
_ASKING = re.compile(
    r"^(?:(?:" + _FILLER + r"|wait|stop|hold on|hang on|one moment)[ ,]+)*"
    r"(?:what|why|how|whose|who|"
    r"(?:when|where|which(?: \w+)?) "
    + _AUXILIARY
    + r"|"
    + _AUXILIARY
    + r" (?:i|you|we|they|he|she|"
    r"it|there|the|an?|this|that|these|those|all|any|some)|"
    r"explain|describe|define|tell (?:me|us)|give me|show me|teach me|talk about|just tell|"
    r"i (?:want|would like|'d like|wanna) (?:to )?(?:know|hear|learn|understand|the answer)|"
    r"remind me)\b"
)
_ASKED_LATER = re.compile(
    r"\b(?:can|could|would|will) you (?:please )?(?:explain|tell|describe|define|give)|"
    r"(?:just )?(?:tell|explain|give) (?:it to )?me(?: (?:about|what|why|how|the answer))?|"
    r"want (?:to know )?the answer|(?:don't|do not) know what \w+ (?:is|are|means)|"
    r"i want to (?:know|hear|learn)\b"
)
# "What I think is that ..." and "How it works is ..." are answers; so are tag questions.
_ANSWERING = re.compile(
    r"^(?:" + _FILLER + r"[ ,]*)*(?:what|how|why|where|when) (?:i|we|it|they|you|the|that)\b"
    r".*\b(?:is|are|was)\b|^is it (?:because|that|when)\b|"
    r"(?:isn'?t it|right|correct|doesn'?t it)\?$"
)


def classify(utterance: str) -> Intent:
    """The kind of `utterance`; brackets around it mark a skipped turn, quoted words are others'."""
    text = _QUOTED.sub("", utterance).strip() or utterance.strip()
    if text.startswith("(") and text.endswith(")"):
        return Intent.NOTHING
    plain = " ".join(re.sub(r"[^\w' ?]+", " ", text.lower().replace("’", "'")).split())
    bare = plain.replace("?", "").strip()
    if not re.search(r"\w", bare):
        return Intent.NOTHING
    content = content_words(bare)
    short = len(words(bare)) <= 12
    asking = _ASKING.match(plain) is not None
    for pattern, intent, fits in (
        (_GREETING, Intent.GREETING, short),
        (_WHO, Intent.WHO, short),
        (_THANKS, Intent.THANKS, True),
        (_SLOWER, Intent.SLOWER, short),
        (_REPEAT, Intent.REPEAT, short),
        (_DISAGREE, Intent.DISAGREE, len(content) <= 4),
        (_STOP, Intent.WAIT, short),
        (_WAIT, Intent.WAIT, short and len(content) <= 4),
        (_RECAP, Intent.RECAP, short),
        (_SKIP, Intent.SKIP, short),
        (_CONTINUE, Intent.CONTINUE, True),
        (_ASKED_LATER, Intent.QUESTION, short),
        (_UNSURE, Intent.UNSURE, len(content) <= 7),
    ):
        if fits and pattern.search(bare):
            return intent
    if asking and not _ANSWERING.search(plain):
        return Intent.QUESTION
    return Intent.ANSWER


def leaves(utterance: str) -> bool:
    """Whether a thankful or parting utterance says goodbye."""
    return _LEAVING.search(utterance.lower()) is not None


def thanks(utterance: str) -> bool:
    return _THANKING.search(utterance.lower()) is not None


def refuses(utterance: str) -> bool:
    """Whether a short reply to an offer means no."""
    return _REFUSING.match(utterance.lower()) is not None
