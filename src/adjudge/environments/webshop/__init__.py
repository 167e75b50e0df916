"""A shop after WebShop's rules and pages, on items of our own: find what an instruction asks for, choose, buy.

Rewards from it are called "adjudge shop"; they are not WebShop scores. The package is lazy: each name below is imported
when it is first used.
"""

from adjudge.lazy import lazy_names

TYPE_CHECKING = False  # what type checkers take for true; typing itself would cost as much as the interpreter
if TYPE_CHECKING:
    from adjudge.environments.webshop._goods import Catalogue, Goal, Item, Review
    from adjudge.environments.webshop._official import load_official
    from adjudge.environments.webshop._play import (
        BASELINES,
        BaselineResult,
        play_naive,
        play_oracle,
        play_random,
        play_terminal,
        run_baseline,
    )
    from adjudge.environments.webshop._reward import NounFinder, Purchase, noun_finder, score_purchase
    from adjudge.environments.webshop._server import ServerWorld, WebShopServerSpec
    from adjudge.environments.webshop._site import ShopSite
    from adjudge.environments.webshop._world import ShopWorld, WebShopSpec

__all__ = [
    "BASELINES",
    "BaselineResult",
    "Catalogue",
    "Goal",
    "Item",
    "NounFinder",
    "Purchase",
    "Review",
    "ServerWorld",
    "ShopSite",
    "ShopWorld",
    "WebShopServerSpec",
    "WebShopSpec",
    "load_official",
    "noun_finder",
    "play_naive",
    "play_oracle",
    "play_random",
    "play_terminal",
    "run_baseline",
    "score_purchase",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "_goods": ("Catalogue", "Goal", "Item", "Review"),
        "_official": ("load_official",),
        "_play": (
            "BASELINES",
            "BaselineResult",
            "play_naive",
            "play_oracle",
            "play_random",
            "play_terminal",
            "run_baseline",
        ),
        "_reward": ("NounFinder", "Purchase", "noun_finder", "score_purchase"),
        "_server": ("ServerWorld", "WebShopServerSpec"),
        "_site": ("ShopSite",),
        "_world": ("ShopWorld", "WebShopSpec"),
    },
)
