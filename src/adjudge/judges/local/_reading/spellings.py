"""British and irregular spellings, written as American and regular ones: `colour` as `color`, `mice` as `mouse`.

Both sides of a comparison are written so; what a word becomes need not be one.
"""

from __future__ import annotations

import re

_WORDS = """
grey gray; aluminium aluminum; tyre tire; cheque check; aeroplane airplane; defence defense; offence offense; licence
license; pretence pretense; moustache mustache; plough plow; programme program; jewellery jewelry; kerb curb; pyjama
pajama; mould mold; storey story; draught draft; sceptic skeptic; sceptical skeptical; skilful skillful; fulfil fulfill;
enrol enroll; enrolment enrollment; instalment installment; gaol jail; axe ax; cosy cozy; doughnut donut; yoghurt
yogurt; judgement judgment; ageing aging; acknowledgement acknowledgment; whisky whiskey; mum mom; foetus
fetus; foetal fetal; manoeuvre maneuver; diarrhoea diarrhea; amoeba ameba; faeces feces; mediaeval
medieval; encyclopaedia encyclopedia; leucocyte leukocyte; phoney phony; artefact artifact;
furore furor; speciality specialty; maths math; omelette omelet; pedlar peddler; analyse analyze; analysed
analyzed; paralyse paralyze; catalyse catalyze; hydrolyse hydrolyze; wolves wolf; knives knife; wives wife;
leaves leaf; halves half; loaves loaf; calves calf; shelves shelf; thieves thief; elves elf; selves self; hooves hoof;
scarves scarf; teeth tooth; feet foot; geese goose; mice mouse; lice louse; men man; women woman; children child;
bacteria bacterium; fungi fungus; nuclei nucleus; cacti cactus; stimuli stimulus; radii radius; phenomena phenomenon;
criteria criterion; hypotheses hypothesis; crises crisis; theses thesis; oases oasis; larvae larva; vertebrae vertebra;
antennae antenna; algae alga; alumni alumnus; potatoes potato; tomatoes tomato; heroes hero; mosquitoes
mosquito; volcanoes volcano; tornadoes tornado; echoes echo; mt mount
"""
_TABLE = {pair.split()[0]: pair.split()[1] for pair in _WORDS.split(";")}
_OUR = re.compile(
    r"^((?:dis|un)?(?:arm|behavi|cand|clam|col|demean|endeav|fav|ferv|flav|glam|harb|hon|hum|lab|neighb|od|parl|ranc|rig"
    r"|rum|sav|savi|splend|succ|tum|val|vap|vig))our(?!ney)"
)
_RE = re.compile(
    r"^(\w{0,5}(?:cent|theat|fib|calib|somb|lust|spect|sab|meag|och|sepulch)|(?:kilo|centi|milli|deci|nano|micro)?(?:met|lit))"
    r"re(s|d)?$"
)
_ISE = re.compile(
    r"(?<=\w{4})(?<![vwoapue])(?<!pr)(?<!nd)(?<!ad)(?<!ch)(?<!sunr)(?<!prom)(?<!prem)(?<!exerc)(?<!prec)(?<!conc)"
    r"is(e|es|ed|er|ers|ing|ation|ations|ational)$"
)
_LL = re.compile(r"^(travel|cancel|model|label|fuel|level|signal|marvel|quarrel|tunnel|counsel|total)l(?=ed|ing|er)")
_AE = re.compile(r"^(leuk|an|h|p|isch|septic|hypoglyc|arch|orthop|gyn|c|syn)ae(?=mi|mo|ma|di|olog|col|sth|sar|s)")
_OGUE = re.compile(r"^(cata|dia|ana|mono|pro|epi)logue(s?)$")


def american(word: str) -> str:
    """Return a word in small letters as it is spelt in America, a plural that is none by its ending as the singular.

    >>> [american(word) for word in "colours centre organised grey sulphuric oesophagus exercise theatres".split()]
    ['colors', 'center', 'organized', 'gray', 'sulfuric', 'esophagus', 'exercise', 'theaters']
    """
    found = _TABLE.get(word) or _TABLE.get(word.removesuffix("s"))
    if found is not None:
        return found
    if "our" in word:
        word = _OUR.sub(r"\1or", word)
    if "re" in word[-4:]:
        word = _RE.sub(lambda match: match[1] + "er" + (match[2] or ""), word)
    if "is" in word[-8:]:
        word = _ISE.sub(r"iz\1", word)
    if "ll" in word:
        word = _LL.sub(r"\1", word)
    if "ae" in word:
        word = _AE.sub(r"\1e", word)
    if "logue" in word:
        word = _OGUE.sub(r"\1log\2", word)
    if word.startswith("oe"):
        return word.replace("oe", "e", 1) if word.startswith(("oesoph", "oestr")) else word
    return word.replace("sulph", "sulf", 1) if "sulph" in word else word
