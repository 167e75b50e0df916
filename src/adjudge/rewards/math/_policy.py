"""What counts as equal where mathematics alone does not say: every choice, with its default."""

from dataclasses import dataclass
from typing import Literal

ExtractionMode = Literal["boxed", "final", "lenient"]


@dataclass(frozen=True, slots=True)
class MathPolicy:
    r"""The choices behind "equal"; the defaults are the safe ones.

    - `extraction`: where the answer is looked for: `boxed`, `final` (boxes, then statements, then a short whole text)
      or `lenient` (as a last resort the last number or formula).
    - `percent`: a gold with a percent sign also accepts the bare number.
    - `gold_digits`: significant digits a decimal gold needs before an exact answer that rounds to it is accepted;
      0 switches rounding off.
    - `answer_digits`: significant digits a decimal answer needs before it is accepted as the rounding of an exact gold
      that is not a finite decimal; 0 switches rounding off.
    - `units`: `convert` compares units (100 cm is 1 m, 5 m is not 5 kg) and other words after both numbers (5 apples
      are not 5 pears), `ignore` never looks at them.
    - `list_order`: whether bare lists must keep their order.
    - `degrees`: whether `90^\circ` equals the bare number 90.
    - `choices`: whether a capital letter is a choice that `(B)` and `B. 42` name too.
    - `prose`: whether a short answer that names the subject or the finding of a gold sentence counts.

    >>> MathPolicy().extraction
    'final'
    """

    extraction: ExtractionMode = "final"
    percent: bool = True
    gold_digits: int = 3
    answer_digits: int = 4
    units: Literal["convert", "ignore"] = "convert"
    list_order: bool = False
    degrees: bool = True
    choices: bool = True
    prose: bool = True
