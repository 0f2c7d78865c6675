"""Names passages of a text with short titles out of their own words. Pure, deterministic."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from local_gemini.brain import grammar_words as lists
from local_gemini.brain.clauses import clause_of
from local_gemini.brain.grammar import NOUN_TAGS, Phrase, Token, noun_phrases, span, tagged
from local_gemini.brain.language import content_words, rarity, sentences, stem, stems
from local_gemini.brain.lexicon import VAGUE

TITLE_MAX = 60
WORDS_MAX = 6
# What a sign of importance is worth, next to a rarity between 0 and 1.
DEFINED, SUBJECT, IS_SUBJECT, REPEATED, NAMED, WITH_OF = 1.6, 0.9, 0.5, 0.45, 0.5, 0.5
HEAD_AGAIN = 0.4
# In a text this short it says little that a word returns.
FEW_WORDS = 30
FEW_CHARS = 400
_CALLED = re.compile(
    r"\b(?:called|known as|named|termed|so-called)\s+(?:an?\s+|the\s+)?[\"“']?", re.IGNORECASE
)
_NAME = re.compile(r"\b[A-Z]\w+ of (?:the )?[A-Z]\w+(?: [A-Z]\w+)*")
# What only pictures a thing is not what the text is about.
_COMPARED = re.compile(r"\b(?:like|as) (?:an?|the|if)\b")
COMPARED = 1.2
_EDGES = ' .,;:–—-"“”#*_'
# Tags of what no title ends with: verbs, prepositions, articles, conjunctions and the like.
_LEADING_ON = frozenset("VAITCSDORJ")
_VAGUE_HEADS = VAGUE | {"idea", "thing", "one", "form", "lot", "rest", "side", "set", "way", "bit"}


def titles_of(passages: Sequence[tuple[str, str]], topic: str) -> list[str]:
    """A title for each passage (its own heading or empty, its text); no two are the same."""
    weights = rarity([stems(text) for _, text in passages])
    top = max(weights.values(), default=1.0) or 1.0
    weights = {item: value / top for item, value in weights.items()}
    known = set(stems(topic))
    taken: set[str] = set()
    made: list[str] = []
    for heading, text in passages:
        options = [heading] if re.search(r"\w", heading) else _candidates(text, weights, known)
        options = [name for name in map(short, options) if re.search(r"\w", name)]
        pick = next((option for option in options if _key(option) not in taken), "")
        if not pick:
            pick = base = options[0] if options else _some_word(text)
            number = 1
            while _key(pick) in taken or pick.lower() in taken:
                number += 1
                pick = f"{base} ({number})"
            taken.add(pick.lower())
        taken.add(_key(pick))
        made.append(pick)
    return made


def short(title: str) -> str:
    """`title` within the limits, with a capital first; empty when it has no words."""
    title = " ".join(title.split()).strip(_EDGES)
    if len(title) > TITLE_MAX:
        head, gap, _ = title[: TITLE_MAX + 1].rpartition(" ")
        # Of a word without an end there is a beginning.
        title = _whole(head) if gap else f"{title[: TITLE_MAX - 1]}…"
    return title[:1].upper() + title[1:]


def _whole(title: str) -> str:
    """`title`, cut after some word, without what leads up to the words that are gone."""
    tokens = tagged(title)
    last = len(tokens)
    while last > 1 and _leads_on(tokens, last - 1):
        last -= 1
    return span(title, tokens, 0, last).rstrip(_EDGES) or title


def _leads_on(tokens: tuple[Token, ...], at: int) -> bool:
    token = tokens[at]
    if token.tag == "#":
        return tokens[at - 1].tag not in NOUN_TAGS
    return token.tag in _LEADING_ON or not token.text[0].isalnum()


def _opening(text: str) -> str:
    """The first words of `text` as far as they name something; empty when they do not."""
    words = " ".join(text.split()[: WORDS_MAX + 1])
    tokens = tagged(words)
    verb = next((at for at, token in enumerate(tokens) if token.tag in "VA"), None)
    if verb is not None:
        named = any(token.tag in NOUN_TAGS for token in tokens[:verb])
        return _whole(span(words, tokens, 0, verb)) if named else ""
    cut = len(words) < len(" ".join(text.split()))
    return _whole(" ".join(words.split()[:WORDS_MAX])) if cut else words


def _some_word(text: str) -> str:
    """A name for what holds no noun phrase that can be one."""
    nouns = (token.text for token in tagged(text[:FEW_CHARS]) if token.tag in NOUN_TAGS)
    spelled = (word for word in content_words(text) if word[0].isalpha())
    return short(next(nouns, "") or next(spelled, "")) or "Point"


def _key(title: str) -> str:
    """Titles that differ only in articles or number are the same to a learner."""
    return " ".join(stems(title)) or title.lower()


def _candidates(text: str, weights: dict[str, float], known: set[str]) -> list[str]:
    """Names for a passage, best first; its opening words when no noun phrase stands out."""
    lines = sentences(text)[:12]
    counts = Counter(" ".join(stems(name)) for name in _all_names(lines))
    heads = Counter(" ".join(stems(name.split()[-1])) for name in _all_names(lines))
    values: dict[str, float] = {}
    order: dict[str, int] = {}
    order_given = _order(lines[0]) if lines else ""
    for at, line in enumerate(lines):
        for name, value in _named(line, first=at == 0):
            own = stems(name)
            if not own:
                continue
            rare = sum(weights.get(item, 0.5) for item in own) / len(own)
            rare = rare if len(weights) > FEW_WORDS else 0.5 + rare / 2
            value += 1.2 * rare + REPEATED * (min(3, max(1, counts[" ".join(own)])) - 1)
            head = stems(name.split(" of ")[0].split()[-1])
            again = heads[" ".join(head)] > counts[" ".join(own)] >= 0
            value += HEAD_AGAIN if again and heads[" ".join(head)] > 1 else 0.0
            value -= 0.08 * at
            if set(own) <= known:
                value -= 1.1
            elif set(own) & known and len(own) == 1:
                value -= 0.5
            order.setdefault(name, len(order))
            values[name] = max(values.get(name, -9.0), value)
    ranked = sorted(values, key=lambda name: (-values[name], order[name]))
    return [*([order_given] if order_given else []), *ranked, _opening(text)]


def _all_names(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        tokens = tagged(line)
        for phrase in noun_phrases(line):
            yield span(line, tokens, _without_article(tokens, phrase), phrase.head + 1)


def _named(line: str, *, first: bool) -> Iterator[tuple[str, float]]:
    """The noun phrases of `line` that can be a title, with what speaks for each."""
    tokens = tagged(line)
    clause = clause_of(line)
    for match in _NAME.finditer(line):
        if match.start() > 0 and len(match[0].split()) <= WORDS_MAX:
            yield match[0], NAMED + WITH_OF
    calls = [match.end() for match in _CALLED.finditer(line)]
    for phrase in noun_phrases(line):
        start = _without_article(tokens, phrase)
        name, value = _worded(line, tokens, phrase, start)
        if not name:
            continue
        if _COMPARED.search(line[: tokens[phrase.first].start + 3]):
            value -= COMPARED
        plain = span(line, tokens, start, phrase.head + 1)
        if any(0 <= tokens[start].start - end <= 1 for end in calls):
            value += DEFINED
        if phrase.first < start and tokens[phrase.first].low in lists.DEMONSTRATIVES:
            # "This herd immunity": what was just told has a name.
            value += DEFINED if len(plain.split()) > 1 else 0.0
        if all(token.tag == "P" for token in tokens[start : phrase.head + 1]) and start > 0:
            value += NAMED
        subject = clause is not None and not clause.pronoun and plain and plain in clause.subject
        if subject and clause is not None and tokens[phrase.head].text == clause.head:
            value += SUBJECT if first else SUBJECT / 2
            value += IS_SUBJECT if clause.verb in ("is", "are") and first else 0.0
        yield name, value


def _worded(line: str, tokens: tuple[Token, ...], phrase: Phrase, start: int) -> tuple[str, float]:
    """The phrase as a title and its own worth; empty when it makes none."""
    head = tokens[phrase.head]
    plain = span(line, tokens, start, phrase.head + 1)
    whole = span(line, tokens, start, phrase.last)
    if head.tag not in NOUN_TAGS or not content_words(plain) or tokens[start].tag in "#E":
        return "", 0.0
    joined = phrase.last > phrase.head + 1
    if joined and phrase.last < len(tokens) and tokens[phrase.last].low == "of":
        return "", 0.0
    weak = head.low in _VAGUE_HEADS or stem(head.text) in {stem(word) for word in _VAGUE_HEADS}
    if joined and len(whole.split()) <= WORDS_MAX:
        article = tokens[phrase.first]
        if article.low in ("a", "an"):
            whole = f"{article.text} {whole}"
        return whole, WITH_OF - (0.3 if weak else 0.0)
    if weak or len(plain.split()) > WORDS_MAX:
        return "", 0.0
    count = len(content_words(plain))
    return plain, {1: -0.2, 2: 0.3, 3: 0.3}.get(count, 0.0)


def _without_article(tokens: tuple[Token, ...], phrase: Phrase) -> int:
    start = phrase.first
    while start < phrase.head and tokens[start].tag in "DR":
        start += 1
    return start


def _order(line: str) -> str:
    """A step of instructions named by its verb and object: "Wash the tomatoes"."""
    tokens = tagged(line)
    if not tokens or tokens[0].tag != "V" or not tokens[0].text[:1].isupper():
        return ""
    phrase = next((phrase for phrase in noun_phrases(line) if phrase.first == 1), None)
    if phrase is None or phrase.head + 1 > WORDS_MAX:
        return ""
    last = phrase.head + 1
    if tokens[0].low == "let" and last < len(tokens) and tokens[last].tag in "VN":
        last += 1
    return span(line, tokens, 0, last)
