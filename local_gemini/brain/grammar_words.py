"""English word lists for tagging: closed classes, adjectives, irregular verbs, synonyms. Pure."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ARTICLES = _set("the a an")
DEMONSTRATIVES = _set("this that these those such")
DETERMINERS = (
    ARTICLES
    | DEMONSTRATIVES
    | _set(
        "each every some any no many few several all both another other more most much less fewer "
        "enough either neither half my your his her its our their whose what which own certain "
        "various"
    )
)
MODALS = _set("can could may might must shall should will would cannot")
BE = _set("is are was were am be been being isn't aren't wasn't weren't")
HAVE_DO = _set("has have had does do did hasn't haven't hadn't doesn't don't didn't")
PREPOSITIONS = _set(
    "of in on at by for with from into onto about against between among through during without "
    "within under over above below across along around behind beyond despite except inside like "
    "near off out outside past per since than toward towards up upon via until till as after "
    "before beside besides down throughout unlike amid instead"
)
COORDINATORS = _set("and or but nor yet plus")
SUBORDINATORS = _set(
    "because although though while whereas if unless when whenever whether that who whom which "
    "whose where so once how why"
)
SUBJECT_PRONOUNS = _set(
    "i you he she it we they this that these those there one who everybody everyone nobody "
    "somebody someone anyone anybody nothing something everything anything none others"
)
OBJECT_PRONOUNS = _set("me him her us them itself themselves himself herself ourselves myself")
ADVERBS = _set(
    "only not never always often sometimes usually soon then now already still just only even very "
    "quite rather too so here there again ever almost nearly however therefore thus hence instead "
    "together later first finally also away back once twice today tomorrow yesterday far long "
    "well hardly ahead apart aside everywhere perhaps maybe indeed meanwhile moreover"
)
NUMBER_WORDS = _set(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
    "hundred thousand million billion dozen"
)
ADJECTIVES = _set(
    """able absent active afraid alive alone angry asleep available awake bad bare basic big bitter
    black blind blue boiling bold brief bright broad broken brown busy careful cheap clean clear
    close cold common complete complex cool correct cruel damp dark dead deaf dear deep dense
    direct dirty distant double dry due dull early easy empty entire equal exact extra faint fair
    false familiar famous fast fat few final fine firm first fit flat foreign free french fresh
    front full gentle good grand gray great greek green grey half happy hard harmless healthy
    heavy high hollow honest hot huge human ill immune important independent innate internal
    invisible key kind large last late later lazy left light likely little local long loose loud
    low lower main major mass mean mild minor modern moist mere moving naked narrow near neat new
    newborn next nice old open opposite orange outer inner own pale past perfect plain poor
    possible pretty prime private proper public pure purple quick quiet random rapid rare raw
    ready real recent red rich right ripe roman rough round royal sad safe same second secret
    senior separate serious shallow sharp short shut sick silent similar simple single slight
    slow small smooth social soft solid sour special spare square stable steady steep stiff still
    straight strange strict strong sudden sweet swift tall tame thick thin third tight tiny tired
    top total tough true typical unable unique upper upset urgent useful usual vague vast visible
    warm weak weird wet white whole wide wild wise wooden worse worst wrong yellow young better
    best larger largest smaller smallest bigger biggest higher highest lowest older oldest younger
    longer longest shorter shortest stronger strongest weaker weakest earlier earliest latest
    former latter chief immature mature hidden written unwritten frozen sliced chopped legal
    medical physical chemical electrical natural central national general royal final additional"""
)
# Present forms that are hardly ever a noun.
THIRD_PERSONS = _set(
    "draws eats flows hears lays sees shakes sings sits sleeps speaks steals sweeps thinks throws "
    "understands wears withdraws"
)
# Verbs that open an order, and hardly ever a noun phrase.
ORDERS = _set(
    "add bake beat boil bring chop combine drain knead mix peel pour preheat remove rinse serve "
    "simmer sprinkle stir whisk"
)
# Forms that make a statement of what stands around them, neither nouns nor participles.
FINITE = (
    _set(
        "makes gives takes keeps brings becomes protects produces contains carries removes "
        "prevents begins grows gave began broke came chose drew drove ate fell flew froze went "
        "grew knew ran rose saw took wrote became threw spoke"
    )
    | THIRD_PERSONS
    | MODALS
    | BE
)
# Past and participle forms whose base no rule finds.
IRREGULAR = dict(
    pair.split(":")
    for pair in [
        "began:begin",
        "broke:break",
        "brought:bring",
        "built:build",
        "bought:buy",
        "came:come",
        "caught:catch",
        "chose:choose",
        "cut:cut",
        "dealt:deal",
        "died:die",
        "drew:draw",
        "drove:drive",
        "ate:eat",
        "fell:fall",
        "fed:feed",
        "felt:feel",
        "fought:fight",
        "flew:fly",
        "found:find",
        "froze:freeze",
        "gave:give",
        "went:go",
        "grew:grow",
        "had:have",
        "heard:hear",
        "held:hold",
        "hid:hide",
        "hit:hit",
        "kept:keep",
        "knew:know",
        "laid:lay",
        "led:lead",
        "left:leave",
        "lent:lend",
        "let:let",
        "lit:light",
        "lost:lose",
        "made:make",
        "meant:mean",
        "met:meet",
        "paid:pay",
        "put:put",
        "ran:run",
        "rang:ring",
        "read:read",
        "rode:ride",
        "rose:rise",
        "said:say",
        "sank:sink",
        "sat:sit",
        "saw:see",
        "sent:send",
        "set:set",
        "shook:shake",
        "shone:shine",
        "shot:shoot",
        "showed:show",
        "slept:sleep",
        "sold:sell",
        "spent:spend",
        "split:split",
        "spoke:speak",
        "spread:spread",
        "stood:stand",
        "stole:steal",
        "struck:strike",
        "swam:swim",
        "swore:swear",
        "taught:teach",
        "took:take",
        "thought:think",
        "threw:throw",
        "told:tell",
        "tore:tear",
        "turned:turn",
        "understood:understand",
        "woke:wake",
        "won:win",
        "wore:wear",
        "wrote:write",
        "became:become",
        "bound:bind",
        "bent:bend",
        "cost:cost",
        "did:do",
        "drank:drink",
        "sang:sing",
        "sought:seek",
        "stuck:stick",
        "swept:sweep",
        "withdrew:withdraw",
        "fled:flee",
        "bred:breed",
    ]
)
PARTICIPLES = _set(
    "broken taken chosen written given known seen driven eaten frozen hidden spoken "
    "stolen torn worn "
    "woken grown drawn shown thrown blown flown built brought caught bought taught sent spent lost "
    "made kept held left met paid put said sold told won found bound cut read set split spread"
)
# Verbs after whose object another verb may follow: "lets the body practise".
LETTING = _set("let lets make makes made help helps helped see saw hear heard")
ING_NOUNS = _set(
    "spring string pudding building morning evening ceiling clothing wedding feeling ring"
)
# Nouns that stand without an article and are no names.
MASS_NOUNS = _set(
    "water ice heat magma rock stress bread light energy air sugar salt money gold "
    "iron oxygen food "
    "sleep music wood steam rain snow wind sand soil blood milk meat rice wheat flour dough yeast "
    "butter oil coal gas steel glass paper cotton silk wool trade war peace law work time space "
    "memory research evidence knowledge data news love fear hunger thirst pain death life nature "
    "history science art society power speed force mass matter sound noise silence traffic cancer "
    "malaria cholera fever smoke fire lava ash dust carbon hydrogen nitrogen glucose "
    "starch protein "
    "fat fibre rent demand supply credit debt interest inflation tax income cash labour land cargo "
    "software hardware code memory storage bandwidth sunlight gravity friction pressure"
)
# Verbs that describe a state: "What does X do?" does not fit them.
STATIVE = _set(
    "be have need mean contain include consist lie live belong depend exist seem remain stay "
    "become cost last own lack differ require involve hold equal resemble matter know want like "
    "appear vary measure weigh stand come happen occur fall rise grow begin start end"
)
# What a state verb lets one ask for by name: "What does X need?"
ASKABLE = _set("need mean contain include require involve cause produce lack resemble hold")
MASS_ENDINGS = (
    *("ity", "ness", "tion", "sion", "ism", "ment", "ance", "ence", "ics", "logy", "ure", "hood"),
    *("ship", "dom", "age", "sis", "graphy", "nomy", "work", "ware"),
)
# Words of one line mean nearly the same to a teacher who listens.
SYNONYMS = tuple(
    tuple(line.split())
    for line in (
        "germ bug pathogen microbe",
        "big large huge great",
        "small little tiny",
        "stop prevent block halt hinder",
        "begin start",
        "end finish stop",
        "quick fast rapid swift",
        "kill destroy",
        "help assist aid",
        "show present display",
        "baby newborn infant",
        "money cash",
        "rich wealthy",
        "increase rise grow raise",
        "decrease drop fall decline reduce",
        "buy purchase",
        "make produce create build form",
        "break crack burst",
        "keep store retain save",
        "illness disease sickness",
        "sick ill",
        "protect shield guard defend",
        "stick bind cling attach",
        "dangerous harmful",
        "danger risk",
        "many lots",
        "people person folk",
        "child kid",
        "car vehicle",
        "hit strike collide crash",
        "rock stone",
        "hot warm heat",
        "cold cool",
        "king monarch",
        "soldier troop",
        "war conflict",
        "law rule",
        "pay spend",
        "send transmit",
        "carry transport bring",
        "shake tremble",
        "melt liquefy",
        "repeat again",
        "part piece bit",
        "year annual",
        "answer reply respond react",
        "learn practise train practice",
        "earth ground soil",
        "sea ocean",
        "food meal",
        "tenant renter",
        "landlord owner",
        "flat apartment",
        "remove take",
        "come arrive return",
        "collapse fall",
        "split divide separate",
        "watch observe monitor",
        "check inspect test",
        "join connect link",
    )
)
