"""English word lists: function words, pronouns, common verbs, negations. Pure."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = _set(
    """a about above after again against all almost also although always am an and another any are
    around as at away back be became because become been before being below between both but by can
    cannot could did do does doing done down during each either else enough etc even ever every few
    for from further get gets give given go goes going got had has have having he her here hers him
    his how however i if in indeed instead into is it its itself just kind know known least less let
    like lot made make makes making many may maybe me mean means might mine more most much must my
    near need needs neither never no none nor not nothing now of off often ok okay on once one only
    onto or other others our out over own part per perhaps quite rather really said same say says
    see seem seems several shall she should since so some somehow something sometimes somewhat soon
    still such sure take takes than that the their them then there these they thing things think
    this those though through thus to too toward under unless until up upon us use used uses using
    usually very was way we well were what whatever when where whereas whether which while who whom
    whose why will with within without would yes yet you your yours
    don doesn didn isn aren wasn weren won can couldn shouldn wouldn hasn haven hadn ain ve re ll
    im ive thats its gonna wanna guess uh um hmm"""
)
PRONOUNS = _set(
    "it they he she we i you this that these those there here one some such both each its"
)
# Words that open the predicate of a plain statement: what stands before them is its subject.
VERBS = _set(
    """is are was were be has have had can could may might must will would shall should do does did
    become becomes became begin begins began bring brings build builds call calls carry carries
    cause causes change changes collect come comes contain contains control controls consist
    consists cover covers create creates decide decides depend depends describe describes develop
    develops drive drives eat enter enters explain explains fall falls feed feeds find finds follow
    follows form forms found gather gathers give gives go goes grow grows happen happens help helps
    hold holds include includes increase increases keep keeps know knows last lasts lead leads learn
    learns leave leaves let lets lie lies live lives lose loses lower lowers made make makes mean
    means measure meet meets move moves need needs occur occurs offer offers pass passes prevent
    prevents produce produces protect protects provide provides pull pulls push pushes put puts
    raise raises reach reaches read reads receive receives recognise recognises recognize recognizes
    reduce reduces release releases remember remembers remove removes require requires rise rises
    run runs say says send sends serve serves show shows slow slows split splits start starts stay
    stays stop stops store stores take takes teach teaches tell tells train trains travel travels
    turn turns use uses wait waits wake wakes work works write writes"""
)
NEGATIONS = _set(
    "not no never none nothing cannot neither nor without hardly isnt arent dont doesnt didnt wont "
    "cant couldnt shouldnt wouldnt wasnt werent hasnt havent"
)
