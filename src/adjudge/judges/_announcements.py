"""What a segment of a response is: a label, an announcement, a filler beside those, or something that may answer.

A label is made of words that name an answer ("Final answer"); a heading ("Analysis") is one only with a mark. An
announcement has an act ("solve") and nothing but words that are known. English is read more closely than the others:
many of its words are verbs and nouns alike, and answers too.
"""

import re
from typing import Literal, TypeAlias

from adjudge.judges._openers import Language, listed, load_openers

Kind: TypeAlias = Literal["label", "announcement", "imperative", "continuation", "filler", "words", "other"]

_ENGLISH = "English"
_NUMBER = re.compile(r"\d{1,2}")
_LONGEST_LABEL = 6  # words

# Said by somebody who sets out: "let me", "we need", "the task is to".
_FRAME = re.compile(
    r"\blets?\b|\b(?:ill|well|im|id|lemme|allow|permit|heres)\b|^(?:here|below|were)\b|\b(?:me|us) to\b"
    r"|\b(?:time|ways?|things?|need|(?:is|are|its)(?: \w+)?) to\b|\b(?:as|while) i\b|\bit helps to\b|\bwe get\b"
    r"|\bout loud here\b|\b(?:we|i) (?:start|begin|proceed|continue|approach|work)\b"
    r"|\b(?:i|we) would (?:like|go|think)\b"
    r"|\b(?:i|we|one) (?:\w+ ){0,2}?"
    r"(?:will|needs?|must|should|shall|can|could|have|want|am|are|may|might|now|first|then)\b"
    r"|\b(?:am|are|do|should|can|must|shall) (?:i|we)\b"
)
# Said by somebody who has an answer: "I think it is the same", "the answer is find", "the small one".
_ANSWERS = re.compile(
    r"(?<!what )(?<!do )\b(?:i|we) "
    r"(?:think|believe|guess|suppose|say|would (?:say|choose|pick)|know|found|got|choose)\b"
    r"(?!.* (?:is to|ready|can answer) )"
    r"|\b(?:the|this|that|which|small|big|large|first|last|next|other|same)(?: (?!best|most|right|correct)\w+)? ones?$"
    r"|^so that\b|\b(?:answer|option|choice|solution|result|conclusion) is "
    r"(?!(?:to|as|given|below|found|provided|what|in|\w+ed)\b)\w+(?: \w+)?$"
)
# Said of what one is about to do: whatever it is, it is not the answer.
_INTENDS = re.compile(
    r"^(?:let me|lets|let us|ill|well|i will|we will|im going to|i am going to|i should|i need to|i have to|ive tried|"
    r"i hope|id like to|bear with me|please|need to|maybe i (?:can|should)|theres? (?:is )?a lot to)\b"
    r"|\bno need to\b|^(?:the )?user has asked\b"
)
_YOU = re.compile(
    r"you (?:asked|ask|are asking|have asked|want|would like|need me|provided|have provided|gave|"
    r"(?:will|can|may) find)\b"
)
_TELLS = re.compile(r"\b(?:they|them)\b|^(?:it|this|that|the \w+) (?:was|were|had|did)\b")
_IS = re.compile(r".*\b(?:is|are|was|equals|becomes)\b")
_SOUGHT = listed(
    "asked asking asks given known unknown needed required wanted follows important necessary below laid found about"
    " posed thing clear simple straightforward interesting tricky easy hard challenging"
)
_LEADING = listed("so now okay ok then and but hmm alright first next finally therefore thus hence")
_JOINING = listed("and then there we so before after while helps")
_GENERIC = listed(
    "go going take taking make making get getting come coming give giving show showing help helping find finding look"
    " looking set setting see seeing turn move work working do doing double doubles pause try trying"
)
_DIRECTED = re.compile(
    r"\b(?:this|following|find it|through|over|into|out|down|up|at|back|with|by|on|together|carefully|slowly|closer|"
    r"closely|again|how|what|before|for you|first|detail|time|sense|sure)\b"
)
_POINTING = listed("here heres below following this its it my our what attached")
_POINTED_AT = listed("follows below given provided")
_VAGUE = listed("thinking working understanding step steps plan process given")  # no sign of a task by themselves


def kind_of(text: str, *, is_marked: bool = False) -> Kind:
    """Return what a segment is; `continuation` goes on with an announcement, `words` may be a part of one.

    >>> [kind_of(text) for text in ("let me think about this", "final answer", "consider the question", "paris")]
    ['announcement', 'label', 'imperative', 'other']
    """
    openers = load_openers()
    if text in openers.phrases:
        return "label"
    # With a number it may be a step.
    bare = " ".join(_NUMBER.sub(" ", text).split()) if is_marked else text
    if bare != text and any(language.headings.has(bare) for language in openers.languages):
        return "label"
    found: Kind = "other"
    for language in openers.languages:
        kind = _kind_in(language, text, is_marked)
        if kind not in ("words", "other"):
            found = kind
            break
        found = kind if found == "other" else found
        # An English word alone is not a word of another language.
        if kind == "words" and language.name == _ENGLISH and " " not in text and not is_marked:
            break
    return "filler" if found in ("continuation", "words", "other") and text in openers.fillers else found


def names_answer(text: str) -> bool:
    """Return whether a label says that an answer follows."""
    return any(language.labels.among(language.cut(text)) for language in load_openers().languages)


def _kind_in(language: Language, text: str, is_marked: bool) -> Kind:
    words = language.cut(text)
    if not words:
        return "other"
    if _is_label(words, language, is_marked):
        return "label"
    if language.name == _ENGLISH:
        return _kind_in_english(words, language)
    is_long = len(words) > 1 or len(text.encode()) > 11
    return "announcement" if is_long and language.acts.among(words) else "words"


def _is_label(words: list[str], language: Language, is_marked: bool) -> bool:
    """Return whether words only name an answer or parts of the work."""
    named = [word for word in words if language.labels.has(word) or language.headings.has(word)]
    is_marked = is_marked or language.copulas.has(words[-1])
    if not named:
        return False
    if language.name != _ENGLISH:
        # Of several words one is a label only with a mark: "La solution finale" may be a title.
        return is_marked or (len(named) > 1 and len(words) <= _LONGEST_LABEL)
    for word in words:
        if word not in named and not language.details.has(word) and not language.copulas.has(word):
            return False
    return is_marked or len(named) > 1 or (language.labels.has(named[0]) and len(words) > 1 and words[0] != "to")


def _kind_in_english(words: list[str], english: Language) -> Kind:
    while len(words) > 1 and words[0] in _LEADING and words[1] != "that":
        words = words[1:]
    text, first = " ".join(words), words[0]
    if _ANSWERS.search(text) is not None or (first == "you" and _YOU.match(text) is None):
        return "other"
    framed = _FRAME.search(text) is not None and first != "they"
    if _states_what_is(text, english) or (not framed and _TELLS.search(text) is not None):
        return "words"
    about = _is_about_task(words, english)
    # A bare imperative may answer what to do.
    if not framed and not first.endswith("ing") and (english.acts.has(first) or english.weak.has(first)):
        if about and len(words) > 2 and "your" not in words:
            return "imperative"
        return "continuation" if len(words) > 1 else "words"
    return _kind_of_sentence(words, english, framed=framed, about=about)


def _kind_of_sentence(words: list[str], english: Language, *, framed: bool, about: bool) -> Kind:
    text, first = " ".join(words), words[0]
    is_gerund, is_long = first.endswith("ing"), len(words) > 2
    is_directed = about or _DIRECTED.search(text) is not None
    strong = english.acts.among(words)
    acts = strong or any(english.weak.has(word) for word in words if is_directed or word not in _GENERIC)
    if acts and (framed or about or ("this" in words and is_long and (strong or is_gerund))):
        return "announcement" if len(words) > 1 else "continuation"
    if about and is_long:
        points = first in _POINTING or "following" in words[:2] or words[-1] in _POINTED_AT
        return "announcement" if points else "continuation"
    goes_on = (acts and (is_gerund or first in _JOINING) and len(words) > 1) or _INTENDS.search(text) is not None
    return "continuation" if goes_on else "words"


def _states_what_is(text: str, english: Language) -> bool:
    """Return whether something is said to be what is not part of a task: "it is the same"."""
    copula = _IS.match(text)
    rest = text[copula.end() :].split() if copula is not None else []
    lists = (english.acts, english.weak, english.labels, english.headings)
    return bool(rest) and _SOUGHT.isdisjoint(rest) and not any(words.among(rest) for words in lists)


def _is_about_task(words: list[str], english: Language) -> bool:
    """Return whether words name the task, the answer or what is asked; after "to" a noun is a verb."""
    nouns = [word for word, before in zip(words, ["", *words], strict=False) if before != "to" and word not in _VAGUE]
    if english.labels.among(nouns) or english.headings.among(nouns):
        return True
    text = " ".join(words)
    return "step by step" in text or "following step" in text or ("what" in words and not _SOUGHT.isdisjoint(words))
