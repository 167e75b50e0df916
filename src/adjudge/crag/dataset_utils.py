"""What the evaluator needs of a data set beside its rows: the names of the labels, and texts made comparable."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adjudge.conversations import clean_text
from adjudge.datasets import Conversations, Vocabulary, vocabularies_of

__all__ = ["clean_text", "convert_domain_indices_to_names", "prepare_feature_vocabularies"]

OTHER = "other"


def prepare_feature_vocabularies(dataset_split: Any) -> dict[str, Vocabulary]:
    """Return the names behind the numbers of `domain`, `query_category`, `dynamism` and `image_quality`.

    They are read from the features of the data set, whatever its layout; one that has no names is empty. A mapping of
    splits has those of its first one.

    >>> prepare_feature_vocabularies([{"question": "Who?", "answer": "Me"}])["domain"].names
    ()
    """
    if isinstance(dataset_split, Conversations):
        return dict(dataset_split.vocabularies)
    if isinstance(dataset_split, Mapping) and not hasattr(dataset_split, "features"):
        # A `DatasetDict` has the features in each of its splits, the same ones.
        dataset_split = next(iter(dataset_split.values()), None)
    return vocabularies_of(getattr(dataset_split, "features", None))


def convert_domain_indices_to_names(domain_indices: Iterable[Any], feature_vocabularies: Any) -> list[str]:
    """Return the names of domains: a list means its first element; None, nothing and unknown numbers are "other".

    A text is a name already. Vocabularies are those of `prepare_feature_vocabularies`, features of the `datasets`
    library, or plain lists of names, by column, or that of the domains alone.

    >>> convert_domain_indices_to_names([1, [0, 1], None, -1, 7, []], {"domain": ["animal", "book"]})
    ['book', 'animal', 'other', 'other', 'other', 'other']
    """
    by_column = isinstance(feature_vocabularies, Mapping)
    names = _names(feature_vocabularies.get("domain") if by_column else feature_vocabularies)
    return [Vocabulary(names).name_of(_index(domain), OTHER) for domain in domain_indices]


def _names(vocabulary: Any) -> tuple[str, ...]:
    if isinstance(vocabulary, Sequence) and not isinstance(vocabulary, str):
        return tuple(vocabulary)
    return vocabularies_of({"domain": vocabulary})["domain"].names


def _index(domain: Any) -> int | str | None:
    """Return a domain as a number or a name; None for anything else."""
    # Rows of some layouts have a list of domains, of which the first counts.
    if hasattr(domain, "__len__") and not isinstance(domain, str):
        domain = next(iter(domain), None)
    if domain is None or isinstance(domain, str):
        return domain
    if isinstance(domain, float) and domain.is_integer():
        return int(domain)
    if isinstance(domain, bool) or not hasattr(domain, "__index__"):
        return None
    return operator.index(domain)
