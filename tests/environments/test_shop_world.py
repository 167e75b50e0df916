"""The shop as a world: its pages, its actions, and what no action can do to it."""

import hashlib
import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.environments import EnvBadTask, EnvSpec, ScienceWorldSpec, ScienceWorldTask, World
from adjudge.environments.webshop import BASELINES, ShopWorld, WebShopSpec, run_baseline
from adjudge.environments.webshop._words import kinds
from adjudge.errors import UsageError
from adjudge.model import Step, encode_json
from support import golden

SPEC = WebShopSpec()
CATALOGUE = SPEC.catalogue()
TASKS = range(len(CATALOGUE.goals))

# What an agent might write: real actions, near misses, and anything at all.
WORDS = ["back to search", "< prev", "next >", "buy now", "description", "features", "reviews", "attributes", "search"]
CLICKS = [*WORDS, *(item.asin.lower() for item in CATALOGUE.items[:30]), "navy", "8 ounce", "wired"]
QUERIES = ["water bottle", "<r>", "<a> leak proof", "[", "AND OR NOT", 'a & b # c / d " ] \n e', "\x00", "é中文 🙂"]
ACTIONS = (
    st.sampled_from(CLICKS).map("click[{}]".format)
    | st.sampled_from(QUERIES).map("search[{}]".format)
    | st.sampled_from(["", "click[]", "search[]", "search", "click[buy now", "]click[", "CLICK[Buy Now]", "think[x]"])
    | st.text(max_size=30)
    | st.text(max_size=30).map("search[{}]".format)
    | st.text(max_size=30).map("click[{}]".format)
)


def play(world: ShopWorld, actions: list[str]) -> list[Step]:
    """Do the actions one after the other."""
    return [world.step(action) for action in actions]


@pytest.mark.parametrize("row", golden("shop_pages"), ids=lambda row: str(row["id"]))
def test_pages_are_those_of_the_table(row: dict[str, Any]) -> None:
    """After these actions the page is of that kind and says exactly this."""
    world = WebShopSpec(observation=row["observation"]).build()
    shown = world.reset(row["task"])
    step = Step(shown, info={"page": "search"})
    for action in row["actions"]:
        step = world.step(action)
    assert step.info["page"] == row["page"]
    assert step.observation == row["text"], row["why"]


def test_spec_is_a_world_of_kind_webshop() -> None:
    """The spec is hashable, says that the shop is deterministic and lives in this process, and builds a world."""
    assert isinstance(SPEC, EnvSpec)
    assert (SPEC.kind, SPEC.home, SPEC.deterministic) == ("webshop", "process", True)
    assert {SPEC, WebShopSpec()} == {SPEC}
    assert isinstance(SPEC.build(), World)


def test_worlds_share_items_and_index() -> None:
    """The items and the index are built once in a process, however many worlds there are."""
    worlds = [WebShopSpec(max_calls=number + 1).build() for number in range(50)]
    assert len({id(world.catalogue) for world in worlds}) == 1
    assert len({id(world.catalogue.index) for world in worlds}) == 1


def test_thousands_of_visitors_fit() -> None:
    """2,048 episodes at once hold a few kilobytes each beside the shared items, and go on independently."""
    import tracemalloc

    CATALOGUE.index.search("mug", 1)
    tracemalloc.start()
    worlds = [SPEC.build() for _ in range(2048)]
    for number, world in enumerate(worlds):
        world.reset(number % len(TASKS))
        world.step(f"search[{CATALOGUE.goals[number % len(TASKS)].query}]")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / len(worlds) < 16_000
    for number, world in enumerate(worlds):
        assert world.outcome().task == number % len(TASKS)
        assert world.outcome().observation.startswith(
            f"Instruction: [SEP] {CATALOGUE.goals[number % len(TASKS)].instruction}"
        )


@pytest.mark.parametrize("task", [0, "0", " 7 ", len(TASKS) - 1, str(len(TASKS) - 1)])
def test_a_task_is_a_number_or_its_digits(task: int | str) -> None:
    """A task is a place among the goals, 0 included, as a number or as text, and the outcome names it."""
    world = SPEC.build()
    assert CATALOGUE.goals[int(task)].instruction in world.reset(SPEC.task(task))
    assert world.outcome().task == int(task)


@pytest.mark.parametrize("task", [-1, len(TASKS), "-1", "x", "", "1.0", 1.0, None, True, "9" * 30, [1], "١"])
def test_other_tasks_are_bad(task: Any) -> None:
    """What is no number, or out of range, is a bad task, and leaves the episode as it was."""
    world = SPEC.build()
    world.reset(3)
    with pytest.raises(EnvBadTask):
        world.reset(task)
    assert world.outcome().task == 3


def test_without_an_episode_nothing_happens() -> None:
    """Before the first reset, and after close, there is no episode: no reward, no exception."""
    world = SPEC.build()
    for _ in range(2):
        step = world.step("search[mug]")
        assert (step.reward, step.done, step.info["page"]) == (0.0, False, None)
        assert (world.outcome().reward, world.outcome().done_reason, world.outcome().task) == (0.0, "no-episode", None)
        world.reset(0)
        world.close()
        world.close()


def test_a_purchase_ends_the_episode_and_pays_once() -> None:
    """Buying gives the reward, with its parts and its noun finder; later actions change nothing and give nothing."""
    goal = CATALOGUE.goals[5]
    world = SPEC.build()
    world.reset(5)
    assert world.outcome().done_reason is None
    *_, bought = play(world, [f"search[{goal.title}]", f"click[{goal.asin}]", "click[Buy Now]"])
    assert bought.done
    assert bought.info["purchase"]["nouns"] == "lexicon-1"
    assert bought.reward == bought.info["purchase"]["reward"] == world.outcome().reward
    assert 0.0 < (bought.reward or 0.0) < 1.0  # no option was chosen
    outcome = world.outcome()
    assert (outcome.success, outcome.done_reason, outcome.observation) == (False, "bought", bought.observation)
    for action in ("click[back to search]", "search[mug]", "click[buy now]"):
        again = world.step(action)
        assert (again.observation, again.reward, again.done) == (bought.observation, 0.0, True)
    assert world.outcome() == outcome


def test_options_last_until_the_item_is_left() -> None:
    """A chosen option outlasts sub pages, is replaced on its axis, and is forgotten with the item."""
    item = next(item for item in CATALOGUE.items if len(item.options) == 2)
    name, values = next(iter(item.options.items()))
    world = SPEC.build()
    world.reset(0)
    play(world, [f"search[{item.title}]", f"click[{item.asin}]", f"click[{values[0]}]", f"click[{values[1].upper()}]"])
    play(world, ["click[reviews]", "click[< prev]"])
    assert dict(world.visit.options) == {name: values[1]}
    play(world, ["click[< prev]", f"click[{item.asin}]"])
    assert dict(world.visit.options) == {}


def test_results_come_in_pages_of_ten() -> None:
    """Results are at most 50, ten a page; the way back and forth is there where it leads somewhere."""
    world = SPEC.build()
    world.reset(0)
    pages = [world.step("search[lightweight heavy duty waterproof color]")]
    while "next >" in pages[-1].info["actions"]["clickables"]:
        pages.append(world.step("click[Next >]"))
    found = [[each for each in page.info["actions"]["clickables"] if each in CATALOGUE.places] for page in pages]
    assert [len(each) for each in found] == [10] * 5
    assert len(set(itertools.chain(*found))) == 50
    assert ["< prev" in page.info["actions"]["clickables"] for page in pages] == [False, True, True, True, True]
    assert world.step("click[next >]").info["valid"] is False
    assert world.step("click[< prev]").observation == pages[3].observation


@pytest.mark.parametrize("query", QUERIES)
def test_no_query_is_special(query: str) -> None:
    """Any text is a query; what the original takes for commands are words here."""
    world = SPEC.build()
    world.reset(0)
    step = world.step(f"search[{query}]")
    assert step.info["page"] == "results"
    assert step == (world.reset(0) and world.step(f"SEARCH[ {query.upper()} ]"))


def test_search_is_for_the_search_page() -> None:
    """A search works where the search bar is; elsewhere it is a no-op, as every other impossible action."""
    world = SPEC.build()
    world.reset(0)
    found = world.step("search[mug]")
    assert found.info["actions"]["has_search_bar"] is False
    again = world.step("search[tent]")
    assert (again.observation, again.info["valid"]) == (found.observation, False)


def test_an_item_elsewhere_cannot_be_clicked() -> None:
    """Only what stands on the page can be clicked."""
    world = SPEC.build()
    world.reset(0)
    found = world.step("search[mug]")
    there = set(found.info["actions"]["clickables"])
    elsewhere = next(item.asin for item in CATALOGUE.items if item.asin.lower() not in there)
    assert world.step(f"click[{elsewhere}]").observation == found.observation


@settings(max_examples=200)
@given(st.integers(0, len(TASKS) - 1), st.lists(ACTIONS, max_size=12))
def test_no_text_breaks_the_shop(task: int, actions: list[str]) -> None:
    """Any action gives a step: a page, a reward in 0..1, JSON information; an invalid one leaves the page as it is."""
    world = SPEC.build()
    shown = world.reset(task)
    for action in actions:
        step = world.step(action)
        assert 0.0 <= (step.reward or 0.0) <= 1.0
        assert encode_json(step.info)
        assert step.info["valid"] or step.observation == shown
        for each in step.info["actions"]["clickables"]:
            assert each == each.lower()
        shown = step.observation
        assert world.outcome() == world.outcome()
        assert world.outcome().observation == shown


@settings(max_examples=100)
@given(st.lists(st.tuples(st.booleans(), ACTIONS), max_size=20))
def test_no_state_crosses_worlds(moves: list[tuple[bool, str]]) -> None:
    """Two episodes played in turns go as they go alone; a reset forgets everything."""
    worlds, alone = [SPEC.build() for _ in range(2)], SPEC.build()
    tasks = (11, 222)
    for world, task in zip(worlds, tasks, strict=True):
        world.reset(task)
    mixed: tuple[list[Step], list[Step]] = ([], [])
    for which, action in moves:
        mixed[which].append(worlds[which].step(action))
    for which in (False, True):
        alone.reset(tasks[which])
        assert play(alone, [action for one, action in moves if one == which]) == mixed[which]


@pytest.mark.parametrize("task", list(TASKS)[::7])
def test_what_can_be_clicked_can_be_clicked(task: int) -> None:
    """Every clickable of every page that a random buyer meets does something."""
    world = SPEC.build()
    world.reset(task)
    path = [f"search[{CATALOGUE.goals[task].query}]"]
    for number in range(6):
        world.reset(task)
        *_, step = play(world, path)
        clickables = step.info["actions"]["clickables"]
        for each in clickables:
            world.reset(task)
            play(world, path)
            assert world.step(f"click[{each}]").info["valid"], each
        if not clickables:
            break
        path.append(f"click[{clickables[(task + number) % len(clickables)]}]")


def test_baselines_are_where_they_belong() -> None:
    """The oracle always reaches 1, the random buyer succeeds in less than a tenth, the naive one is in between."""
    world = SPEC.build()
    results = {name: run_baseline(name, world, TASKS) for name in BASELINES}
    assert (results["oracle"].reward, results["oracle"].success) == (1.0, 1.0)
    assert results["random"].success < 0.1
    assert results["random"].success < results["naive"].success < 1.0
    assert results["random"].reward < results["naive"].reward < 1.0
    assert results["random"] == run_baseline("random", world, TASKS)


def test_catalogue_is_what_was_promised() -> None:
    """At least 300 items in 12 categories, with options, prices in their ranges, and near-duplicates."""
    items = CATALOGUE.items
    assert len(items) >= 300
    assert len({item.category for item in items}) == 12
    assert len({item.asin for item in items}) == len(items) == len(CATALOGUE.places)
    prices = {kind.name: kind.prices for kind in kinds()}
    for item in items:
        low, high = prices[item.query]
        assert low - 1.0 <= item.price <= 1.3 * high
        assert item.options
        values = list(itertools.chain(*item.options.values()))
        assert len(set(values)) == len(values), "an option must be clickable without naming its axis"
        assert not set(values) & set(WORDS)
    titles = {item.title for item in items}
    assert sum(any(item.title.startswith(f"{other},") for other in titles) for item in items) >= 100


def test_catalogue_never_changes() -> None:
    """The same items and goals on every machine and version; a change is a new edition with another name."""
    text = repr([(CATALOGUE.items, CATALOGUE.goals)])
    assert CATALOGUE.name == "adjudge shop 1"
    assert hashlib.sha256(text.encode()).hexdigest() == golden("shop_catalogue")[0]["sha256"]


def test_an_unknown_form_of_observation_is_refused() -> None:
    """An observation is `text` or `text_rich`."""
    with pytest.raises(UsageError, match="text or text_rich"):
        WebShopSpec(observation="html").build()  # type: ignore[arg-type]


class Whole:
    """A whole number of another library, as a data frame has them."""

    def __index__(self) -> int:
        return 3


def test_a_whole_number_of_another_library_is_one() -> None:
    """A task may be any kind of whole number; what is none is refused, and so is true."""
    assert WebShopSpec().task(Whole()) == 3
    assert ScienceWorldSpec().task(ScienceWorldTask("boil", Whole()))["variation"] == 3  # type: ignore[arg-type]
    for task in (True, 3.0, None):
        with pytest.raises(EnvBadTask):
            WebShopSpec().task(task)
        with pytest.raises(EnvBadTask):
            ScienceWorldSpec().task({"name": "boil", "variation": task})
    for limit in (0, 1.5, "many", True):
        with pytest.raises(UsageError, match="step_limit"):
            ScienceWorldSpec(step_limit=limit)  # type: ignore[arg-type]
