"""The local tutor's own words: openers, acknowledgements, transitions, closing. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from local_gemini.brain.naming import Kind, kind_of, running

NUMBERS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
YES = ("Yes,", "Right,", "Exactly,", "Yes, well said:")
PRAISE = ("Yes, that is the idea.", "Right, you have it.", "Good, that is it.")
START = ("A good start:", "You are close:", "That belongs here:")
HEARD = ("That is a start.", "I see what you mean.", "You are getting closer.")
FINISH = (
    "Here is the beginning of a sentence.",
    "Try to finish this sentence.",
    "Let me begin, and you finish.",
)
STUCK = ("No problem.", "That is fine.", "No worries.")
TELL = ("Let me tell you, then.", "Here is the answer.", "I will give it to you.")
OTHERWISE = "The text sees it the other way round."
UNCLEAR = (
    ("Sorry, I did not quite follow.", "Could you say that once more in other words?"),
    ("I am not sure that I heard you well.", "Could you say it again, a little more slowly?"),
    ("I could not make sense of that.", "Can you put it in a few simple words?"),
)
OFFERS = (
    "Would you like me to tell you?",
    "Shall I give you the answer?",
    "Do you want to hear it from me?",
)
PARK = ("Let us leave that one for now.", "We can come back to that one later.")
BACK = ("Let us come back to our topic.", "That leads us away from the topic.")
LEADS = {
    "socratic": ("Now, ", "Next, ", "And ", ""),
    "conversational": ("What do you think, ", "Tell me, ", "By the way, ", ""),
    "lecture": ("",),
}
STILL = "Back to my question: "
WAITING = ("Of course.", "Take your time, I am listening.")
SURE = ("Sure.", "Gladly.", "Of course.")
GOING_ON = ("All right.", "Good.", "Fine.")
MORE = "Shall I go on?"
ANY_MORE = "Is there anything that you would like to hear more about?"
WELCOME = "You are welcome."
GOODBYE = "Goodbye."
LATER = "We can go on later where we stop."
AGAIN = "Hello again."
WHO = "I am Pidjin's local tutor, a program that asks about the text that you gave me."
ONCE_MORE = "Of course, once more."
GOOD_QUESTION = "Good question."
DIFFERENT = "You may well see it differently."
DOUBT = "What makes you see it that way?"
NOTED = "Thank you, that is worth keeping in mind."
ONLY_COMPARISON = "There is no example in the text, but a comparison."
NO_REASON = "The text gives no further reason for that."
NO_EXAMPLE = "The text gives no example of that."
# Questions about the talk itself; the question about the text stays open behind them.
META = frozenset((*OFFERS, MORE, ANY_MORE, DOUBT, *(asking for _, asking in UNCLEAR)))
# Lines that lead into what matters; a reply said once more goes without them.
FILLERS = frozenset(
    (*PRAISE, *HEARD, *FINISH, *STUCK, *TELL, *PARK, *BACK, *SURE, *GOING_ON, GOOD_QUESTION, AGAIN)
)
# First lines of many replies: their sound is made at start, so that a reply begins at once.
OPENERS = (
    *(*PRAISE, *STUCK, *SURE, *GOING_ON, *PARK, *(said for said, _ in UNCLEAR)),
    *(WAITING[1], GOOD_QUESTION, ONCE_MORE, "Hello."),
)
NO_KNOWLEDGE_HERE = (
    "As the local tutor I have no knowledge of my own here, so you explain and I ask. "
    "Pasting a document works better."
)
NOTHING_LEFT = (
    "Without a text I have no further questions about this topic.",
    "Paste a document about it, and we can go on with that.",
)


def number(count: int) -> str:
    """A small number as a word."""
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def named(topic: str) -> str:
    """The topic as the head of a sentence."""
    text = " ".join(topic.replace("?", " ").split()).strip(" .,;:")
    return text[:1].upper() + text[1:] if text else "Your text"


def things(titles: Sequence[str]) -> str:
    """What to call the points: steps when all are orders, ideas else; singular for one."""
    word = "step" if titles and all(kind_of(t) is Kind.ORDER for t in titles) else "idea"
    return word if len(titles) == 1 else f"{word}s"


def opening(topic: str, titles: Sequence[str], style: str, *, has_text: bool) -> list[str]:
    """The introduction, without any fact of the text: one or two sentences."""
    count = len(titles)
    name = named(topic)
    if not has_text:
        return [f"Our topic: {name}.", NO_KNOWLEDGE_HERE]
    ideas = f"{number(count)} {things(titles)}"
    if style == "lecture":
        parts = f"in {number(count)} parts" if count > 1 else "in one part"
        return [f"{name}: a short lecture {parts}."]
    if style == "conversational":
        talk = f"there are {ideas}" if count != 1 else f"there is {ideas}"
        return [f"{name}: {talk} that we can talk about.", "Ask me anything on the way."]
    return [f"{name}: {ideas}{', one at a time' if count > 1 else ' to think about'}."]


def generic(title: str, body: Sequence[str], turn: int) -> str:
    """An open question about any title; `turn` varies its form. Exactly one question mark."""
    kind = kind_of(title)
    name = running(title, body)
    if kind is Kind.QUESTION:
        return title.replace("?", "").strip() + "?"
    if kind is Kind.CLAUSE:
        return (f"Can you tell me {name}?", f"How would you explain {name}?")[turn % 2]
    if kind is Kind.STATEMENT:
        return (f"How would you explain that {name}?", f"What shows that {name}?")[turn % 2]
    if kind is Kind.ORDER:
        return f"How should you {name}?"
    if kind is Kind.DOING:
        return (f"What matters when you are {name}?", f"What do you know about {name}?")[turn % 2]
    does = "do" if kind is Kind.PLURAL else "does"
    return (
        f"What can you tell me about {name}?",
        f"How would you explain {name} in your own words?",
        f"What role {does} {name} play?",
        f"What do you know about {name}?",
    )[turn % 4]


def subject_of(title: str, body: Sequence[str]) -> str:
    """`title` as something that one can think or talk about."""
    name = running(title, body)
    before = {Kind.ORDER: "how to ", Kind.STATEMENT: "the statement that "}
    return before.get(kind_of(title), "") + name


def simpler(title: str, body: Sequence[str], tries: int) -> str:
    """An easier question about a point; `tries` varies it. Exactly one question mark."""
    kind = kind_of(title)
    name = running(title, body)
    if kind in (Kind.CLAUSE, Kind.STATEMENT, Kind.QUESTION, Kind.ORDER):
        # A clause as a whole can be thought about, not heard or connected with.
        name = f"the question {name}" if kind is Kind.QUESTION else subject_of(title, body)
        return (
            f"If you had to guess, what would you say about {name}?",
            f"Which word comes to mind first when you think about {name}?",
            f"What is one small thing that you know about {name}?",
        )[tries % 3]
    return (
        f"If you had to guess, what would you say about {name}?",
        f"Which word comes to mind first when you hear {name}?",
        f"What is one small thing that you connect with {name}?",
    )[tries % 3]


def wrap_up(titles: Sequence[str], style: str, gists: Sequence[str], said: str = "") -> list[str]:
    """Two or three sentences that sum up, without a question.

    `gists` are clauses of the text, `said` an acknowledgement that the summary follows on.
    """
    count = len(titles)
    kind = "parts" if style == "lecture" else things(titles)
    all_of = f"both {kind}" if count == 2 else f"all {number(count)} {kind}"
    last = f"That was the last of our {number(count)} {kind}."
    if count == 1:
        last = "That was all of it."
    first = {
        "socratic": f"Well done, you have worked through {all_of}."
        if count > 1
        else "Well done, you have worked it out.",
        "conversational": last,
        "lecture": last,
    }[style]
    if said:
        all_of = all_of if count > 1 else "all of it"
        first = f"{said.rstrip('.')}, and with that we have been through {all_of}."
    if not gists:
        return [first, "Keep your own explanation in mind, and check it against a good source."]
    if len(gists) <= 3:
        return [first, f"In short: {_joined(gists)}."]
    half = (len(gists) + 1) // 2
    return [first, f"In short: {_joined(gists[:half])}.", f"And: {_joined(gists[half:])}."]


def _joined(gists: Sequence[str]) -> str:
    return "; ".join(gists)
