"""The words of responses that say nothing, by language: `openers.txt`.

## German
acts: lös* denk* ...           what somebody does who is about to answer; `*` stands for any ending
weak: ...                      acts only beside others: "let me look", not "look"
labels: antwort lösung ...     name an answer: what follows them may be one
headings: analyse schritt ...  name a part of the work
details: ...                   may be beside labels and headings
copulas: ist lautet ...        end a sentence that was not finished: "The answer is"
words: ...                     everything else that announcements have
fillers: gute frage | gern     say nothing beside the others; alone, or last, they may be an answer
closers: danke | ...           fillers that may come last
phrases: los gehts | ...       say nothing by themselves
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pkgutil import get_data
from typing import NamedTuple

_KINDS = ("acts", "weak", "labels", "headings", "details", "copulas", "words")
_LIST = re.compile(r"^(\w+):((?:.*\n(?!\w+:))*.*)$", re.MULTILINE)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LONGEST_PIECE = 10


class WordList(NamedTuple):
    """Some words, and beginnings of words by their first two letters."""

    whole: frozenset[str]
    beginnings: dict[str, tuple[str, ...]]

    def has(self, word: str) -> bool:
        """Return whether a word is one of these."""
        return word in self.whole or word.startswith(self.beginnings.get(word[:2], ("\0",)))

    def among(self, words: Iterable[str]) -> bool:
        """Return whether one of these is among some words."""
        return any(map(self.has, words))


class Language(NamedTuple):
    """What announcements and labels of one language are made of; `known` is all of it."""

    name: str
    known: WordList
    acts: WordList
    weak: WordList
    labels: WordList
    headings: WordList
    details: WordList
    copulas: WordList

    def cut(self, text: str) -> list[str]:
        """Return the words of a text, all of them known; empty where one is not.

        A text without spaces is cut into the longest pieces that are known.
        """
        if text.isascii() or _UNSPACED.search(text) is None:
            words = text.split()
            return words if all(map(self.known.has, words)) else []
        text = text.replace(" ", "")
        found = []
        at = 0
        while at < len(text):
            sizes = range(_LONGEST_PIECE, 0, -1)
            piece = next((text[at : at + size] for size in sizes if text[at : at + size] in self.known.whole), "")
            if not piece:
                return []
            found.append(piece)
            at += len(piece)
        return found


class Openers(NamedTuple):
    """All languages, and the phrases of all of them."""

    phrases: frozenset[str]
    fillers: frozenset[str]
    closers: frozenset[str]
    vocabulary: WordList  # of all languages, phrases included
    headings: frozenset[str]  # of all languages
    languages: tuple[Language, ...]


def listed(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


@cache
def load_openers() -> Openers:
    """Read `openers.txt`."""
    data = get_data("adjudge.judges", "openers.txt") or b""
    phrases: dict[str, set[str]] = {"phrases": set(), "fillers": set(), "closers": set()}
    languages = []
    vocabulary: list[str] = []
    for part in data.decode("utf-8").split("\n## ")[1:]:
        name, _, text = part.partition("\n")
        found: dict[str, str] = dict(_LIST.findall(text))
        for kind, kept in phrases.items():
            kept.update(" ".join(phrase.split()) for phrase in found.get(kind, "").split("|") if phrase.strip())
        lists = [found.get(kind, "").split() for kind in _KINDS]
        languages.append(Language(name, *map(_words, [list(chain(*lists)), *lists[:-1]])))
        vocabulary += chain(*lists)
    vocabulary += " ".join(chain(*phrases.values())).split()
    return Openers(
        frozenset(phrases["phrases"]),
        frozenset(phrases["fillers"] | phrases["closers"]),
        frozenset(phrases["closers"]),
        _words(vocabulary),
        frozenset(chain(*(language.headings.whole for language in languages))),
        tuple(languages),
    )


def _words(given: list[str]) -> WordList:
    beginnings: dict[str, tuple[str, ...]] = {}
    for word in given:
        if word.endswith("*"):
            beginnings[word[:2]] = (*beginnings.get(word[:2], ()), word[:-1])
    return WordList(frozenset(word for word in given if not word.endswith("*")), beginnings)
