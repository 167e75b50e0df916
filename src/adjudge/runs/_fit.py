"""The local judge, corrected by a file of labelled rows."""

from typing import TYPE_CHECKING

from adjudge.errors import DataError, UsageError
from adjudge.judges import fit_judge, get_judge
from adjudge.judges.local import LocalJudge
from adjudge.runs._calibrate import check_labels, has_no_say
from adjudge.runs._cases import read_cases

if TYPE_CHECKING:
    from adjudge.judges import Fit


def fit_file(labels: str, judge: str) -> "Fit":
    """Judge labelled rows and learn from them; `DataError` for a row or a label that cannot be read."""
    named = get_judge(judge)
    if not isinstance(named, LocalJudge):
        raise UsageError(f"{judge} gives no probabilities of its own: fit takes local, local:0 or local:1")
    check_labels(labels)
    rows = [read.row for read in read_cases(labels) if read.row is not None and not has_no_say(read.row)]
    try:
        return fit_judge(named, rows)
    except DataError as error:
        raise DataError(f"{labels}, {error.message}", code=error.code) from None
