"""Small words that decide what a label means, in the languages lessons are held in. Data only.

Spelled as `agent.label_stems.fold` leaves them: small letters, no accents. English comes first;
a word of another language that is an English word too (`die`, `comment`) stands nowhere.
"""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ROMAN = {
    numeral: str(value)
    for numerals in ("I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII",)
    for value, numeral in enumerate(numerals.split(), 1)
}
NUMBERS = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
        "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th",
    )
    for number, word in enumerate(words.split(), 1)
}
# Capital letters only: "us" and "it" are words.
ABBREVIATIONS = {
    "AI": "artificial intelligence",
    "CO2": "carbon dioxide",
    "DNA": "deoxyribonucleic acid",
    "EU": "European Union",
    "H2O": "water",
    "ML": "machine learning",
    "RNA": "ribonucleic acid",
    "UK": "United Kingdom",
    "UN": "United Nations",
    "US": "United States",
    "USA": "United States",
    "USSR": "Soviet Union",
    "WW1": "World War I",
    "WW2": "World War II",
    "WWI": "World War I",
    "WWII": "World War II",
}
# Singular words that head a label and say the same.
SYNONYMS = {
    word: words.split()[0]
    for words in (
        "cause reason",
        "effect consequence impact",
        "advantage benefit pro",
        "disadvantage drawback con",
        "type kind",
        "importance significance",
        "beginning start",
        "ending end",
    )
    for word in words.split()
}
JOINERS = _set("and or versus vs und oder et ou и или και و और एवं तथा 与 和 及 と 및 와 과 ")
STOP = JOINERS | _set(
    "a an the this that these those its their his her our your of in on at for with within "
    "across as is are was were be been being do does did has have had it they we you "
    "he she there about around through during between among by via per s "
    "introduction intro overview basics basic idea concept understanding explained "
    "der das dem des ein eine einer eines von zur zum mit fur le la les l d de du une dans sur "
    "el los las del una il lo gli della dei "
    "в во на о об с со для по при у "
    "ο η το του της τησ των τον την οι τα τουσ τισ στην στη στο στουσ σε για με "
    "في على عن مع का के की में पर है हैं को ने 的 之 了 の は が を "
)
NEGATIONS = _set(
    "against cannot except false lack lacking misconception myth neither never no non nor not "
    "without nicht kein keine keinen ohne gegen sans pas contre sin contra не без нет ни против "
    "миф χωρισ δεν μη οχι بدون لا غير ليس لم नहीं बिना गैर न 不 非 无 無 没 未 反 없는 "
)
QUESTIONS = _set(
    "when where who why warum wann wo wer pourquoi quand cuando donde почему когда где кто "
    "γιατι ποτε που لماذا متى اين क्यों कब कहाँ कौन "
)
ASKING = _set("how what which wie welche как что какие какой πωσ τι كيف ما कैसे क्या ")
# Around these the order of the words matters ("heat to work").
DIRECTIONS = _set("from into onto over than to towards aus nach vers из от до к απο من الى से ")
# What ends the phrase that holds the head noun ("limits of machine learning": limits).
BOUNDARIES = _set(
    "about across among around as at between by during for from in into of on over per than "
    "that through to via which who with within von zur zum mit fur de du des del dans sur "
    "в во на о об с со для по при из от до του τησ των في على من عن "
)
# Of such a pair one label may not hold one and the other label none: "relativity" is not only
# "special relativity".
POLES = _set(
    "positive negative special general left right early late upper lower inner outer high low "
    "internal external direct indirect active passive warm cold hot old new local global north "
    "south east west northern southern eastern western primary secondary major minor maximum "
    "minimum static dynamic simple compound strong weak fixed variable light dark male female "
    "plant animal liquid solid open closed public private short long human "
)
