"""The shop in a terminal: a page, a question, an action, until something is bought or the input ends."""

from collections.abc import Callable, Iterator

from adjudge.environments.webshop._pages import Page
from adjudge.environments.webshop._world import ShopWorld
from adjudge.model import Outcome

__all__ = ["play_terminal"]

HELP = "Type words to search, the number of a button, or an action such as click[buy now]. An empty line ends it."

# What stands behind what on one line: buttons, an axis and its options, an item and what is said of it.
_TOGETHER = {("button", "button"), ("text", "option"), ("option", "option"), ("product", "text"), ("item", "text")}


def play_terminal(world: ShopWorld, task: int | str, ask: Callable[[str], str], say: Callable[[str], None]) -> Outcome:
    """Let somebody play a task; an empty answer, or `EOFError` from `ask`, ends it."""
    world.reset(task)
    say(HELP)
    while True:
        for line in _lines(world.page):
            say(line)
        if world.visit.page == "done":
            break
        try:
            typed = ask("> ").strip()
        except EOFError:
            break
        if not typed:
            break
        if not world.step(_action(typed, world.page.clickables)).info["valid"]:
            say(f"That does nothing here. {HELP}")
    return world.outcome()


def _lines(page: Page) -> Iterator[str]:
    """Show a page, its buttons numbered; what belongs together stands on one line."""
    numbers = {text: number for number, text in enumerate(page.clickables, 1)}
    line: list[str] = []
    before = ""
    yield ""
    for piece in page.pieces:
        number = numbers.get(piece.text.lower()) if piece.role != "text" else None
        words = piece.text if number is None else f"[{number}] {piece.text}{' *' if piece.is_chosen else ''}"
        goes_on = (before, piece.role) in _TOGETHER
        if line and not goes_on:
            yield "  ".join(line)
            line = []
        line.append(words)
        before = "item" if before == "product" or (before == "item" and piece.role == "text") else piece.role
    if line:
        yield "  ".join(line)


def _action(typed: str, clickables: list[str]) -> str:
    """Return the action that somebody means: an action as it stands, the number of a button, else words to search."""
    if "[" in typed:
        return typed
    if typed.isascii() and typed.isdigit() and 1 <= int(typed[:6]) <= len(clickables):
        return f"click[{clickables[int(typed[:6]) - 1]}]"
    return f"click[{typed}]" if typed.lower() in clickables else f"search[{typed}]"
