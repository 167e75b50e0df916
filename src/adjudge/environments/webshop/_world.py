"""The shop as an environment: one visitor at a time, on items that all worlds of a process share."""

from dataclasses import dataclass
from threading import Lock
from typing import Any, ClassVar, Literal

from adjudge.environments._errors import EnvBadTask
from adjudge.environments._world import EnvSpec, whole
from adjudge.environments.webshop._goods import Catalogue
from adjudge.environments.webshop._pages import Page, Shop, Visit, page_of, read_action
from adjudge.environments.webshop._reward import NounFinder, noun_finder
from adjudge.errors import UsageError
from adjudge.model import Outcome, Step

__all__ = ["ShopWorld", "WebShopSpec", "read_task"]

_NO_EPISODE = "No episode has been started."
_building = Lock()
_built: dict[tuple[str | None, str, int | None], Catalogue] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebShopSpec(EnvSpec):
    """The shop: on its own items, or on the original's files in the folder `data`.

    `goals` (`human` or `synthetic`) and `products` (how many items, the first ones) say what is taken of those files.
    `nouns` is the noun finder: `lexicon`, `words` or `spacy`; `auto` means the lexicon for its own items, else spaCy.
    `observation` is the form of the pages: `text` or `text_rich`.
    """

    kind: ClassVar[str] = "webshop"
    home: ClassVar[str] = "process"
    deterministic: ClassVar[bool] = True

    data: str | None = None
    goals: Literal["human", "synthetic"] = "human"
    products: int | None = None
    nouns: Literal["auto", "lexicon", "words", "spacy"] = "auto"
    observation: Literal["text", "text_rich"] = "text"

    def build(self) -> "ShopWorld":
        """Make the world; the items are made or read once in a process."""
        if self.observation not in ("text", "text_rich"):
            raise UsageError(f"observation must be text or text_rich, not {self.observation!r}")
        name = self.nouns if self.nouns != "auto" else "lexicon" if self.data is None else "spacy"
        return ShopWorld(self.catalogue(), noun_finder(name), is_rich=self.observation == "text_rich")

    def task(self, task: Any) -> int:
        """Return the number of the task; whether there is such a task is known to the world."""
        return read_task(task)

    def catalogue(self) -> Catalogue:
        """Return the items and goals that every world of this spec shares."""
        # Only what changes the items is in the key: specs that differ in their pages share them.
        key = (self.data, self.goals, self.products) if self.data is not None else (None, "", None)
        with _building:
            if key not in _built:
                _built[key] = self._load()
                _built[key].index.search("", 1)  # builds the index here, under the lock, once
            return _built[key]

    def _load(self) -> Catalogue:
        if self.data is None:
            from adjudge.environments.webshop._make import make_catalogue

            return make_catalogue()
        from adjudge.environments.webshop._official import load_official

        return load_official(self.data, goals=self.goals, products=self.products)


def read_task(task: Any, count: int | None = None) -> int:
    """Return the number of a task, given as a number or as its digits; `EnvBadTask` if there is no such task.

    >>> read_task(0), read_task("7")
    (0, 7)
    """
    number = whole(task)
    # Digits only, and few: int() would also take signs, underscores and the digits of other scripts.
    if isinstance(task, str) and task.strip().isascii() and task.strip().isdigit() and len(task) < 12:
        number = int(task)
    if number is None:
        raise EnvBadTask(f"a task of the shop must be a whole number, got {str(task)[:80]!r}")
    if number < 0 or (count is not None and number >= count):
        last = "" if count is None else f" to {count - 1}"
        raise EnvBadTask(f"there is no task {number}: tasks are numbered from 0{last}")
    return number


class ShopWorld:
    """One visitor's shop, a `World`. It holds the position of the visitor and nothing else."""

    __slots__ = ("_is_rich", "_page", "_shop", "_task", "_visit", "catalogue", "nouns")

    def __init__(self, catalogue: Catalogue, nouns: NounFinder, *, is_rich: bool = False) -> None:
        self.catalogue = catalogue
        self.nouns = nouns
        self._is_rich = is_rich
        self._task: int | None = None
        self._shop: Shop | None = None
        self._visit = Visit()
        self._page: Page | None = None

    def reset(self, task: Any) -> str:
        """Start an episode at the search page."""
        number = read_task(task, len(self.catalogue.goals))
        self._shop = Shop(self.catalogue, self.catalogue.goals[number], self.nouns)
        self._task = number
        self._go(Visit())
        return self._text()

    def step(self, action: str) -> Step:
        """Do `search[words]` or `click[text]`; anything else leaves the page as it is.

        The reward is given once, by the step that buys. `info` has the kind of page, what can be done on it, whether
        the action did anything and, once something is bought, the purchase.
        """
        if self._shop is None:
            return Step(_NO_EPISODE, 0.0, done=False, info=_info(None, is_valid=False))
        before = self._visit
        after = self._shop.after(before, read_action(action))
        if after is not before:
            self._go(after)
        info = _info(self._page, is_valid=after is not before)
        reward = 0.0
        # A step after the end shows the purchase again, but its reward was already given.
        if after.purchase is not None:
            info["purchase"] = after.purchase.to_dict()
            reward = after.purchase.reward if after is not before else 0.0
        return Step(self._text(), reward, done=after.page == "done", info=info)

    def outcome(self) -> Outcome:
        """Return the state of the episode: without a purchase the reward is 0."""
        if self._shop is None:
            return Outcome(reward=0.0, success=False, observation="", done_reason="no-episode")
        purchase = self._visit.purchase
        reward = purchase.reward if purchase is not None else 0.0
        return Outcome(
            reward=reward,
            success=reward == 1.0,
            observation=self._text(),
            done_reason="bought" if purchase is not None else None,
            task=self._task,
        )

    def close(self) -> None:
        """End the episode."""
        self._shop, self._task, self._page = None, None, None
        self._visit = Visit()

    @property
    def shop(self) -> Shop | None:
        """The rules of the episode, for a site that shows the shop to people."""
        return self._shop

    @property
    def visit(self) -> Visit:
        """Where the visitor is."""
        return self._visit

    @property
    def page(self) -> Page:
        """The page that the visitor sees; an empty one without an episode."""
        return self._page or Page("search", ())

    def _go(self, visit: Visit) -> None:
        self._visit = visit
        if self._shop is not None:
            self._page = page_of(visit, self._shop.goal, self.catalogue)

    def _text(self) -> str:
        if self._page is None:
            return ""
        return self._page.rich() if self._is_rich else self._page.text()


def _info(page: Page | None, *, is_valid: bool) -> dict[str, Any]:
    actions = {
        "has_search_bar": page is not None and page.kind == "search",
        "clickables": page.clickables if page else [],
    }
    return {"page": page.kind if page else None, "actions": actions, "valid": is_valid}
