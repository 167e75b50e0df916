"""The pages of labelling, asked over HTTP as a browser asks them, and as a page of a stranger would."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from adjudge import evaluate
from adjudge.runs import RunConfig, rescore_run
from adjudge.view import ViewServer
from cli.command import start

EVIL = "<script>alert(1)</script>\x1b[2J\u202e"
OFF = RunConfig(cache="off")


class RefusedError(Exception):
    """The server did not answer as asked."""

    def __init__(self, status: int, page: str) -> None:
        super().__init__(page)
        self.status = status


class Browser:
    """What a browser does: keeps the cookie, and says of a form where it comes from."""

    def __init__(self, link: str) -> None:
        self.base = link.partition("/?")[0]
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))
        self.key = re.findall(r"/runs/([0-9a-f]{12})", self._open(link))[0]

    def get(self, page: str, **given: object) -> str:
        """Return a page of the run."""
        return self._open(f"{self.base}/runs/{self.key}/{page}?{urlencode(given)}")

    def post(self, form: Mapping[str, str], origin: str | None = "") -> str:
        """Send a form, and return the page that follows."""
        headers = {} if origin is None else {"Origin": origin or self.base}
        data = urlencode(form).encode()
        return self._open(f"{self.base}/runs/{self.key}/label", data, headers)

    def _open(self, address: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> str:
        request = Request(address, data, dict(headers or {}))  # noqa: S310 (our own server)
        try:
            with self._opener.open(request) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            with error:
                raise RefusedError(error.code, error.read().decode()) from None


def form_of(page: str) -> dict[str, str]:
    """Return the hidden fields of a page's form."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page))


def rows(count: int = 40) -> list[dict[str, Any]]:
    """Return rows of which every fourth is wrong."""
    return [
        {
            "id": f"q{n}",
            "question": f"What is {n} + {n}? {EVIL}",
            "reference": [str(2 * n)],
            "response": f"It is {2 * n + (n % 4 == 0)}.",
            "sources": [f"{n} and {n} are {2 * n}. {EVIL}"],
            "verdict": "from an earlier judge",
        }
        for n in range(count)
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that the local judge judged."""
    path = tmp_path_factory.mktemp("run") / "a.run"
    evaluate(rows(), judge="local:0", run=path, config=OFF)
    return path


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Return the file of labels, which is not there yet."""
    return tmp_path / "labels.jsonl"


@pytest.fixture
def browser(run: Path, labels: Path, tmp_path: Path) -> Iterator[Browser]:
    """Look at the run as `ann`."""
    with ViewServer([run], cache=tmp_path / "cache", labels=labels, annotator="ann") as server:
        yield Browser(server.link)


def answer(browser: Browser, said: str, **query: object) -> tuple[int, str]:
    """Label the next row, and return its number and the page that follows."""
    form = form_of(browser.get("label", **query))
    return int(form["row"]), browser.post({**form, "answer": said})


def lines(labels: Path) -> list[dict[str, Any]]:
    """Return the lines of the file."""
    return [json.loads(line) for line in labels.read_text().splitlines()]


def test_a_row_is_shown_without_its_verdict(browser: Browser) -> None:
    """The page has question, reference and response, escaped, and nothing of what the judge said."""
    page = browser.get("label")
    row = int(form_of(page)["row"])
    assert f"What is {row} + {row}? &lt;script&gt;" in page
    assert f'<h2>Reference</h2><div class="text " dir="auto">{2 * row}</div>' in page
    assert "It is " in page
    assert f"{row} and {row} are {2 * row}. &lt;script&gt;" in page
    for word in ("an earlier judge", "local:0", "CORRECT", "WRONG", "<script>alert", "\x1b", "\u202e", "probability"):
        assert word not in page


def test_labels_are_written_with_their_chance(browser: Browser, labels: Path) -> None:
    """Each answer is a line with who, when and how likely; the page goes to the next row."""
    first, page = answer(browser, "right", kind="stratified", size=10)
    second = int(form_of(page)["row"])
    assert first != second
    assert "1 of 10 labelled" in page
    answer(browser, "unsure", kind="stratified", size=10)
    one, two = lines(labels)
    assert (one["row"], one["label"], one["annotator"], one["run"]) == (first, 1, "ann", "a.run")
    assert one["probability"] == pytest.approx(5 / 30 if first % 4 else 5 / 10)
    assert one["sample"] == {"kind": "stratified", "seed": 0, "rows": 40, "scorer": "local:0"}
    assert (one["question"], one["reference"]) == (rows()[first]["question"], rows()[first]["reference"])
    assert (two["row"], two["label"]) == (second, "unsure")


def test_two_people_get_the_same_rows(run: Path, tmp_path: Path) -> None:
    """Whoever asks for a sample gets the same rows in the same order, and continues where they were."""
    seen: dict[str, list[int]] = {}
    for name in ("ann", "bob"):
        for _ in range(2):
            # Another session each time.
            with ViewServer([run], cache=tmp_path / "cache", labels=tmp_path / "l", annotator=name) as server:
                browser = Browser(server.link)
                seen.setdefault(name, []).extend(answer(browser, "right", size=9)[0] for _ in range(3))
    assert seen["ann"] == seen["bob"]
    assert len(set(seen["ann"])) == 6


@pytest.mark.parametrize("is_same_text", [False, True])
def test_a_run_that_was_replaced(run: Path, tmp_path: Path, labels: Path, *, is_same_text: bool) -> None:
    """An answer about a row that is not what was shown, or of another run, is not recorded."""
    place = tmp_path / "a.run"
    shutil.copy(run, place)
    others = [row if is_same_text else {**row, "response": f"It may be {row['id']}."} for row in rows()]
    evaluate(others, judge="local:0", run=tmp_path / "b.run", config=OFF)
    with ViewServer([place], cache=tmp_path / "cache", labels=labels, annotator="ann") as server:
        browser = Browser(server.link)
        form = form_of(browser.get("label", size=40))
        (tmp_path / "b.run").replace(place)
        with pytest.raises(RefusedError) as caught:
            browser.post({**form, "answer": "right"})
        page = str(caught.value)
        assert caught.value.status == 409
        assert not labels.exists()
        assert "your answer was not recorded" in page
        assert ("It may be" in page) is not is_same_text
        browser.post({**form_of(page), "answer": "right"})
        (line,) = lines(labels)
        assert line["response"] == others[line["row"]]["response"]


@pytest.mark.parametrize("shown", ["", "x", "\u00e9"])
def test_a_form_must_say_what_was_shown(browser: Browser, labels: Path, shown: str) -> None:
    """A form without the digest of the row, or with another one, writes nothing."""
    with pytest.raises(RefusedError) as caught:
        browser.post({**form_of(browser.get("label")), "answer": "right", "shown": shown})
    assert caught.value.status == 409
    assert not labels.exists()


def test_skipped_rows_come_again(browser: Browser, labels: Path) -> None:
    """A skipped row is not labelled, and comes again behind the others."""
    first, page = answer(browser, "skip", size=3)
    second = int(form_of(page)["row"])
    assert not labels.exists()
    page = browser.post({**form_of(page), "answer": "right"})
    third = int(form_of(page)["row"])
    page = browser.post({**form_of(page), "answer": "wrong"})
    assert int(form_of(page)["row"]) == first
    assert [one["row"] for one in lines(labels)] == [second, third]


def test_killed_while_labelling(run: Path, tmp_path: Path) -> None:
    """A viewer that is killed loses no label that it took; the next one continues behind it."""
    seen: list[int] = []
    for _ in range(2):
        process = start("view", str(run), "--no-browser", "--labels", "l", "--annotator", "ann", cwd=tmp_path)
        with process:
            assert process.stdout is not None
            browser = Browser(process.stdout.readline().decode().strip())
            seen += [answer(browser, "right", size=20)[0] for _ in range(5)]
            process.kill()
    assert len(set(seen)) == 10
    assert [one["row"] for one in lines(tmp_path / "l")] == seen


def test_a_label_can_be_changed(browser: Browser) -> None:
    """The way back leads to the row that was labelled last, with what was said; the new label counts."""
    first, page = answer(browser, "right", size=5)
    back = re.findall(r'id="back" href="([^"]+)"', page)[0].replace("&amp;", "&")
    assert f"row={first}" in back
    page = browser.get("label", **dict(part.split("=") for part in back.partition("?")[2].split("&")))
    assert "You called this response right" in page
    browser.post({**form_of(page), "answer": "wrong"})
    found = browser.get("labels")
    assert re.search(r"<bdi>ann</bdi></th><td class=\"num\">0</td><td class=\"num\">1</td>", found)


def test_what_labels_say(browser: Browser) -> None:
    """When a sample is done, agreement, kappa and the corrected score are there with their intervals."""
    for _ in range(20):
        answer(browser, "right", kind="stratified", size=20)
    page = browser.get("label", kind="stratified", size=20)
    assert "All rows of this sample are labelled" in page
    found = browser.get("labels")
    assert "20 labels count" in found
    assert re.search(
        r'corrected by labels</h2><p class="big">1.000</p><p class="range">95 % interval 0\.\d+ \.\. 1.000', found
    )
    assert re.search(r'agrees with people</h2><p class="big">0.750</p><p class="range">95 % interval', found)
    assert re.search(r"Label <b>\d+ more</b> to halve the interval", found)


def test_chosen_rows_enter_no_estimate(browser: Browser, labels: Path) -> None:
    """Rows of which the judge is least certain are labelled, and counted as what they are."""
    for _ in range(4):
        answer(browser, "right", kind="uncertain", size=8)
    assert all(one["probability"] is None for one in lines(labels))
    found = browser.get("labels")
    assert "0 labels count" in found
    assert '<th scope="row">chosen, not drawn</th><td class="num">4</td>' in found
    assert "needs labels of 2 rows of either verdict" in found


def test_lines_that_are_not_labels_are_listed(browser: Browser, labels: Path) -> None:
    """The page lists the lines of the file that are not labels, with the reason; those that are still count."""
    for _ in range(4):
        answer(browser, "right", size=8)
    first = lines(labels)[0]
    with labels.open("a") as file:
        file.write(f"{json.dumps({**first, 'label': 'CORRECT'})}\ngarbage")
    found = browser.get("labels")
    assert "4 labels count" in found
    assert '<th scope="row">not a label: its label is not 1, 0 or &#34;unsure&#34;</th><td class="num">1</td>' in found
    assert '<th scope="row">not a label: not JSON</th><td class="num">1</td>' in found


def test_labels_serve_another_judge(run: Path, browser: Browser, labels: Path, tmp_path: Path) -> None:
    """Labels of rows at random are about the responses, so they count for the run of another judge, too."""
    for _ in range(6):
        answer(browser, "right", size=6)
    other = tmp_path / "b.run"
    rescore_run(str(run), judge="local:0", run=str(other))
    with ViewServer([other], cache=tmp_path / "other", labels=labels, annotator="ann") as server:
        assert "6 labels count" in Browser(server.link).get("labels")


def test_pages_need_the_token(run: Path, browser: Browser) -> None:
    """Without the cookie there is nothing to see, and nothing to write."""
    for page in ("label", "labels"):
        request = Request(f"{browser.base}/runs/{browser.key}/{page}")  # noqa: S310 (our own server)
        with pytest.raises(HTTPError) as caught:
            build_opener().open(request)
        with caught.value as answer:
            assert (answer.code, run.name in answer.read().decode()) == (403, False)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None, "http://127.0.0.1"])
def test_forms_of_others(browser: Browser, labels: Path, origin: str | None) -> None:
    """A form that another site's page sends, or that does not say where it comes from, writes nothing."""
    form = form_of(browser.get("label"))
    with pytest.raises(RefusedError) as caught:
        browser.post({**form, "answer": "right"}, origin)
    assert caught.value.status == 403
    assert not labels.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"proof": "x"},
        {"proof": ""},
        {"row": "9999"},
        {"row": ""},
        {"answer": "right", "size": "1" * 5000},
        {"row": "-1"},
    ],
)
def test_forms_that_are_wrong(browser: Browser, labels: Path, change: dict[str, str]) -> None:
    """A form without our proof, of a row that is not in the sample, or too large, writes nothing."""
    form = {**form_of(browser.get("label", size=3)), "answer": "right", **change}
    with pytest.raises(RefusedError) as caught:
        browser.post(form)
    assert caught.value.status in (400, 404)
    assert not labels.exists()


@pytest.mark.parametrize(
    "query",
    [{"kind": EVIL}, {"size": "x", "seed": "-3"}, {"scorer": "99"}, {"row": "nan", "after": "\u0663"}, {"size": 0}],
)
def test_addresses_that_are_wrong(browser: Browser, query: dict[str, Any]) -> None:
    """What makes no sense in an address is the usual value."""
    assert "Is the response right?" in browser.get("label", **query)
    assert "Labels of" in browser.get("labels", **query)


def test_a_file_that_cannot_be_written(run: Path, tmp_path: Path) -> None:
    """Where a label cannot be written, the page says why, and no label is taken for written."""
    with ViewServer([run], cache=tmp_path / "cache", labels=tmp_path / "none" / "l", annotator="ann") as server:
        browser = Browser(server.link)
        with pytest.raises(RefusedError) as caught:
            answer(browser, "right")
        assert "there is no such folder" in str(caught.value)


def test_a_run_without_verdicts(tmp_path: Path) -> None:
    """A run in which no row has a verdict says that there is nothing to label."""
    evaluate([{"id": 1, "question": "?"}], scorers=["qa_f1_reward"], agent=broken, run=tmp_path / "a.run", config=OFF)
    with ViewServer([tmp_path / "a.run"], cache=tmp_path / "cache") as server:
        browser = Browser(server.link)
        with pytest.raises(RefusedError) as caught:
            browser.get("label")
        assert "has a verdict" in str(caught.value)
        assert "needs labels of 2 rows of either verdict" in browser.get("labels")


def broken(question: str) -> str:
    """Fail."""
    raise RuntimeError(question)
