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
    turn turns use uses wait waits wake wakes work works write writes absorb absorbs allow allows
    appear appears argue argues arrive arrives ask asks attach attaches attack attacks avoid avoids
    believe believes bind binds boil boils break breaks burn burns catch catches choose chooses
    claim claims combine combines compare compares connect connects convert converts cool cools
    cut cuts define defines deliver delivers destroy destroys detect detects die dies divide divides
    drop drops end ends escape escapes exist exists expand expands express expresses feel feels
    fight fights fill fills fit fits fly flies freeze freezes gain gains generate generates govern
    governs hit hits identify identifies improve improves indicate indicates involve involves join
    joins jump jumps kill kills lack lacks lift lifts maintain maintains melt melts multiply
    multiplies obtain obtains open opens operate operates own owns perform performs pick picks play
    plays practise practises prefer prefers prepare prepares press presses refer refers reflect
    reflects remain remains repeat repeats replace replaces represent represents respond responds
    return returns save saves seek seeks select selects separate separates settle settles shift
    shifts shine shines sink sinks solve solves speed speeds spread spreads stand stands stick
    sticks suffer suffers support supports surround surrounds survive survives swim swims transform
    transforms transport transports trigger triggers try tries vary varies win wins bought brought
    built came caught chose died fell felt fought gave grew kept knew led left lost met paid ran
    buy buys sell sells pay pays spend spends cost costs
    matter matters rose saw sent sold spoke stood taught thought told took turned went won wrote"""
)
NEGATIONS = _set(
    "not no never none nothing cannot neither nor without hardly isnt arent dont doesnt didnt wont "
    "cant couldnt shouldnt wouldnt wasnt werent hasnt havent"
)
# Words that follow a verb more often than a noun.
AFTER_VERBS = _set(
    "a an the it them him her us me you its their our his my your this these those up off out away "
    "down nobody everybody itself themselves"
)
# Words that carry meaning and still make no title.
VAGUE = _set(
    """able actual already available best better big certain clear close common different early easy
    entire equal example examples fact facts far fast first second third full general good great
    hard high important large last late long low main major many minor modern new next old original
    particular people person possible previous recent second short similar simple single small
    special strong usual various way ways weak whole years year days day hours hour times time
    number amount kind sort type part parts reason result case cases end start alone together
    instead enough factor factors aspect aspects step steps"""
)
# Content words that a question uses to ask, not to name its subject.
REQUEST_WORDS = _set(
    "tell explain describe define example answer please show teach talk hear learn understand want "
    "remind meaning called exactly"
)
