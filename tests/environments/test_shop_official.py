"""The original's item files and the original's server, where a user has them."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.environments import EnvBadTask, EnvDied, EnvProtocolError, EnvStepTimeout, World
from adjudge.environments.webshop import ServerWorld, WebShopServerSpec, WebShopSpec, load_official, play_oracle
from adjudge.errors import AdjudgeError, DataError, MissingExtra, UsageError
from support import golden

EXCHANGE = golden("shop_server")


def item(number: int, **changed: Any) -> dict[str, Any]:
    """Return an item in the form of the item file."""
    return {
        "asin": f"T{number:09d}",
        "name": f"Oakmere Steel Kettle {number}",
        "category": "home",
        "query": " Kettle ",
        "product_category": "Home › Kitchen › Kettles",
        "full_description": "Boils water.",
        "small_description": ["Easy clean", "Holds heat"],
        "pricing": "$1,030.50",
        "customization_options": {"Color": [{"value": "Black / Red ", "image": None}, {"value": "Silver"}], "x": None},
        "images": ["kettle.png"],
        "brand": "not read",
        **changed,
    }


def write(folder: Path, items: list[Any], notes: Any = None, human: Any = None) -> Path:
    """Write the three files."""
    (folder / "items_shuffle.json").write_text(json.dumps(items))
    (folder / "items_ins_v2.json").write_text(json.dumps(notes if notes is not None else {}))
    (folder / "items_human_ins.json").write_text(json.dumps(human if human is not None else {}))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three items, two of them with instructions."""
    notes = {
        "T000000000": {
            "attributes": ["easy clean", "long handle"],
            "instruction": "find a kettle",
            "instruction_attributes": ["easy clean"],
        }
    }
    human = {
        "T000000000": [
            {"instruction": "a kettle.", "instruction_attributes": ["easy clean"], "instruction_options": ["silver"]},
            {"instruction": "no attributes", "instruction_attributes": [], "instruction_options": []},
        ],
        "T000000001": [
            {"instruction": "another", "instruction_attributes": ["heat"], "instruction_options": {"color": "silver"}}
        ],
    }
    items = [
        item(0),
        item(
            1,
            pricing="$20.00$25.00",
            small_description="Holds heat",
            customization_options={"Color": [{"value": "silver"}]},
        ),
        item(2, pricing=None, customization_options="", full_description=None, small_description=None),
        item(0),
        item(3, asin="nan"),
        item(4, asin="T0000000000"),
    ]
    return write(tmp_path, items, notes, human)


def test_items_are_read_as_the_original_reads_them(folder: Path) -> None:
    """Prices, options and bullets have the original's meaning; repeated items and those without a proper number go."""
    catalogue = load_official(folder)
    first, second, third = catalogue.items
    assert (first.price, first.price_tag, first.query) == (1030.5, "$1030.5", "kettle")
    assert first.options == {"color": ("black | red", "silver")}
    assert first.attributes == ("easy clean", "long handle")
    assert (second.price_tag, 20.0 <= second.price <= 25.0) == ("$20.0 to $25.0", True)
    assert second.bullets == ("Holds heat",)
    assert (third.price, third.price_tag, third.options, third.bullets) == (100.0, "$100.0", {}, ("",))


def test_human_goals(folder: Path) -> None:
    """A person's instruction is a goal, with a price limit above the price; one without attributes is left out."""
    goals = {goal.asin: goal for goal in load_official(folder).goals}
    assert len(goals) == 2
    dear, cheap = goals["T000000000"], goals["T000000001"]
    assert (dear.instruction, dear.price_upper) == ("a kettle", 1_000_000.0)
    assert list(dear.options.values()) == ["silver"]
    assert cheap.options == {"color": "silver"}
    assert cheap.price_upper in (40.0, 50.0, 60.0)
    assert cheap.instruction == f"another, and price lower than {cheap.price_upper:.2f} dollars"


def test_synthetic_goals(folder: Path) -> None:
    """A synthetic instruction gives a goal for every combination of options."""
    goals = load_official(folder, goals="synthetic").goals
    assert {goal.options["color"] for goal in goals} == {"black | red", "silver"}
    assert {goal.instruction for goal in goals} == {
        "find a kettle with color: black | red",
        "find a kettle with color: silver",
    }


def test_nothing_depends_on_global_randomness(folder: Path) -> None:
    """Reading twice gives the same items, prices, limits and order, whatever the global generator is at."""
    import random

    first = load_official(folder)
    random.seed(1)
    assert (load_official(folder).items, load_official(folder).goals) == (first.items, first.goals)


def test_goals_stand_in_the_originals_order(tmp_path: Path) -> None:
    """The goals are in the order of a shuffle with seed 233, as task ids of the original have it."""
    from random import Random

    rows = [{"instruction_attributes": ["heat"], "instruction_options": []}]
    human = {f"T{n:09d}": [{**rows[0], "instruction": str(n)}] for n in range(30)}
    write(tmp_path, [item(n, pricing="$9999.00") for n in range(30)], {}, human)
    order = [str(n) for n in range(30)]
    Random(233).shuffle(order)  # noqa: S311 (the original's order)
    assert [goal.instruction for goal in load_official(tmp_path).goals] == order


def test_a_folder_can_be_played(folder: Path) -> None:
    """A spec with `data` has a world on those items; every goal can be reached, and `products` takes the first ones."""
    spec = WebShopSpec(data=str(folder), nouns="words")
    world = spec.build()
    for task in range(2):
        assert play_oracle(world, task).reward == 1.0
    assert world.step("x").info["purchase"]["nouns"] == "words-1"
    assert len(WebShopSpec(data=str(folder), nouns="words", products=1).build().catalogue.items) == 1
    with pytest.raises(EnvBadTask):
        world.reset(2)


def test_options_with_a_slash_can_be_clicked(folder: Path) -> None:
    """An option is clicked as it is shown."""
    world = WebShopSpec(data=str(folder), nouns="words").build()
    world.reset(0)
    world.step("search[kettle 0]")
    world.step("click[T000000000]")
    assert world.step("click[Black |  Red]").info["valid"]


def test_official_items_want_spacy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The original's items come with the original's noun finder, unless another is asked for by name."""
    import sys

    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtra, match="nouns='words'"):
        WebShopSpec(data=str(folder)).build()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "items_ins_v2.json").unlink(), "no items_ins_v2.json"),
        (lambda folder: (folder / "items_human_ins.json").write_text("[]"), "should hold a JSON object"),
        (lambda folder: (folder / "items_shuffle.json").write_text("{"), "items_shuffle.json"),
        (lambda folder: write(folder, ["x"]), "item 0 of the item file has no asin"),
        (lambda folder: write(folder, [{"asin": "T1"}]), r"item 0 \(T1\) does not have the form"),
        (lambda folder: write(folder, [item(0, pricing="$.")]), r"item 0 \(T000000000\)"),
        (lambda folder: write(folder, [item(0)], {}, {"T000000000": [{}]}), "instruction 0 of item T000000000"),
        (lambda folder: write(folder, [item(0)]), "nothing to do"),
    ],
)
def test_bad_files_are_named(folder: Path, spoil: Any, said: str) -> None:
    """What is missing or spoilt is said, with its place."""
    spoil(folder)
    with pytest.raises(DataError, match=said):
        load_official(folder)


def test_bad_choices_are_refused(folder: Path) -> None:
    """Goals are human or synthetic, and at least one item is taken."""
    with pytest.raises(UsageError):
        load_official(folder, goals="both")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        load_official(folder, products=0)


def serve(answer: Any) -> Iterator[str]:
    """Serve `answer(method, path, body) -> (status, headers, text)` and yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            status, headers, text = answer(self.command, self.path, body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(OSError):  # a client may leave early
                self.wfile.write(text.encode())

        do_GET = do_POST = _do  # noqa: N815 (the server's names)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def official() -> Iterator[SimpleNamespace]:
    """Replay a recorded exchange: what is asked in another way, or not at all, is a 404."""
    asked: list[str] = []

    def answer(method: str, path: str, body: str) -> tuple[int, dict[str, str], str]:
        found = re.search(r"adjudge_[0-9a-f]+_fixed_0", path)
        session = found[0] if found else "?"
        key = (method, path.replace(session, "SESSION"), body)
        asked.append(" ".join(key).strip())
        for row in EXCHANGE:
            if key == (row["method"], row["path"], row["body"]):
                if row["landed"] != row["path"]:
                    return 302, {"Location": row["landed"].replace("SESSION", session)}, ""
                return 200, {"Content-Type": "text/html"}, row["html"].replace("SESSION", session)
            if method == "GET" and key[1] == row["landed"] != row["path"]:
                return 200, {"Content-Type": "text/html"}, row["html"].replace("SESSION", session)
        return 404, {}, "not found"

    for url in serve(answer):
        yield SimpleNamespace(url=url, asked=asked)


def test_the_official_server_is_spoken_to(official: SimpleNamespace) -> None:
    """An episode on the official server: its pages as text, its reward as it says, its hidden parts not shown."""
    world = WebShopServerSpec(url=official.url).build()
    assert isinstance(world, World)
    shown = world.reset("0")
    assert shown.startswith("WebShop [SEP] Instruction: [SEP] a wool hat")
    kinds = []
    step = None
    for action in (
        *("search[Wool / Hat]", "click[next >]", "click[< prev]", "click[T000000002]", "click[large]"),
        *("click[features]", "click[< prev]", "click[nonsense]", "search[elsewhere]", "click[buy now]"),
    ):
        step = world.step(action)
        kinds.append(step.info["page"])
        assert "goal" not in step.observation
    assert kinds == [*["results"] * 3, *["item"] * 2, "features", *["item"] * 3, "done"]
    assert step is not None
    assert step.done
    assert step.reward == pytest.approx(2 / 3)
    asked = len(official.asked)
    assert world.outcome() == world.outcome()
    assert world.step("click[buy now]").reward == 0.0
    assert len(official.asked) == asked, "an outcome, or an action after the end, asks the server nothing"
    assert (world.outcome().task, world.outcome().done_reason) == (0, "bought")
    assert world.outcome().reward == pytest.approx(2 / 3)


@pytest.mark.parametrize("query", ["<r>", "<a> x", "a/b", "x" * 5000])
def test_no_query_is_a_command_to_the_server(query: str) -> None:
    """Signs that the server takes for commands or cannot hold in an address are taken out of a query."""
    asked: list[str] = []

    def answer(method: str, path: str, body: str) -> tuple[int, dict[str, str], str]:
        asked.append(body)
        return 200, {}, EXCHANGE[0]["html"]

    for url in serve(answer):
        world = ServerWorld(url)
        world.reset(0)
        world.step(f"search[{query}]")
    assert len(asked) == 2
    assert not re.search("%3C|%3E|%2F", asked[1])
    assert len(asked[1]) < 1100


def test_a_task_that_the_server_does_not_have_is_bad(official: SimpleNamespace) -> None:
    """The server refuses to start a goal that it does not have: a bad task, not a fault of the agent's."""
    with pytest.raises(EnvBadTask, match="task 7"):
        ServerWorld(official.url).reset(7)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ((200, {}, "<p>hello"), EnvProtocolError),
        ((302, {"Location": "http://192.0.2.1/"}, ""), EnvProtocolError),
        ((200, {}, "x" * (5 << 20)), EnvProtocolError),
    ],
)
def test_answers_that_are_none(reply: tuple[int, dict[str, str], str], error: type[AdjudgeError]) -> None:
    """A page without a search bar, one too large, and a way to another server are no answers."""
    for url in serve(lambda *_: reply):
        with pytest.raises(error):
            ServerWorld(url).reset(0)


@pytest.mark.parametrize("score", ["", "<pre>nan</pre>", "<pre>7</pre>", "<pre>x</pre>"])
def test_a_last_page_without_a_score_is_no_reward(score: str) -> None:
    """A score that is missing or out of range is an error, never a number."""

    def answer(method: str, path: str, body: str) -> tuple[int, dict[str, str], str]:
        if path.startswith("/done"):
            return 200, {}, f'<h3 id="reward">Your score{score}</h3>'
        buy = '<form method="post" action="/done/x"><button class="btn">Buy Now</button></form>'
        return 200, {}, f'<form action="/"><input id="search_input"></form>{buy}'

    for url in serve(answer):
        world = ServerWorld(url)
        world.reset(0)
        with pytest.raises(EnvProtocolError, match="no score"):
            world.step("click[buy now]")


def test_a_server_that_is_gone_or_slow() -> None:
    """No server is a death, no answer in time a timeout."""
    wait = threading.Event()

    def answer(*_: Any) -> tuple[int, dict[str, str], str]:
        wait.wait(60)
        return 200, {}, ""

    gone = ""
    for url in serve(answer):
        gone = url
        with pytest.raises(EnvStepTimeout):
            ServerWorld(url, timeout=0.1).reset(0)
        wait.set()
    with pytest.raises(EnvDied, match="is it running"):
        ServerWorld(gone).reset(0)
    with pytest.raises(AdjudgeError, match="only http and https"):
        ServerWorld("file:///etc/passwd")


def test_an_answer_that_breaks_off_is_none() -> None:
    """An answer shorter than it said is no page."""
    for url in serve(lambda *_: (200, {"Content-Length": "1000"}, EXCHANGE[0]["html"])):
        with pytest.raises(EnvProtocolError, match="broke off"):
            ServerWorld(url).reset(0)
