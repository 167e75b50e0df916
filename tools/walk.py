"""How many functions and files one row passes: `python tools/walk.py judge|check|score [--files]`.

A function is one code object of ours that is entered at least once, in any thread; comprehensions count as part of the
function they stand in. The same work is done once before, so that imports and caches are not counted.
"""

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType

import adjudge

ROOT = str(Path(adjudge.__file__).parent)
INLINE = ("<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")

SCENARIO = """
id: capital
question: What is the capital of France?
tools_should_include: [search]
"""
AGENT = """
def answer(question):
    return [
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "search", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "name": "search", "content": "Paris"},
        {"role": "assistant", "content": "It is Paris."},
    ]
"""
ROW = '{"id": "a", "question": "Capital of France?", "reference": "Paris", "response": "It is Paris."}\n'


def command(*arguments: str) -> None:
    """Run a command of ours in this process."""
    from adjudge.cli import main

    before = sys.argv
    sys.argv = ["adjudge", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.argv = before


def walked(work: Callable[[], None]) -> Collection[CodeType]:
    """Return our functions that the work passes."""
    # By identity: equal functions on the same line of two files are equal code objects.
    found: dict[int, CodeType] = {}

    def look(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and code.co_name not in INLINE:
            found[id(code)] = code

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found.values()


def judge(folder: Path) -> Callable[[int], None]:
    """Judge one row by a model behind a server in another process."""
    from adjudge.testing import ChatServer

    server = ChatServer(process=True)
    server.__enter__()
    (folder / "rows.jsonl").write_text(ROW)
    address = ("--base-url", server.base_url, "--cache", "off")

    def work(turn: int) -> None:
        run = str(folder / f"{turn}.run")
        command("judge", "run", str(folder / "rows.jsonl"), "--judge", "openai:m", *address, "--run", run)

    return work


def check(folder: Path) -> Callable[[int], None]:
    """Check one scenario with an agent that is a function."""
    (folder / "scenarios.yaml").write_text(SCENARIO)
    (folder / "walked_agent.py").write_text(AGENT)
    sys.path.insert(0, str(folder))

    def work(turn: int) -> None:
        run = str(folder / f"{turn}.run")
        command("check", str(folder / "scenarios.yaml"), "--agent", "walked_agent:answer", "--run", run)

    return work


def score(folder: Path) -> Callable[[int], None]:
    """Score one row by a reward."""
    (folder / "rows.jsonl").write_text('{"id": "a", "answer": "Paris", "final_response": "It is Paris."}\n')
    return lambda _: command("score", str(folder / "rows.jsonl"), "--scorer", "qa_f1_reward")


def main() -> None:
    """Walk, and print what was passed."""
    walks = {"judge": judge, "check": check, "score": score}
    for name in [word for word in sys.argv[1:] if word in walks] or walks:
        with tempfile.TemporaryDirectory() as place, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            work = walks[name](Path(place))
            work(0)
            found = walked(lambda: work(1))  # noqa: B023 (called at once)
        files = Counter(code.co_filename.removeprefix(f"{ROOT}/") for code in found)
        print(f"{name}: {len(found)} functions in {len(files)} files")
        if "--files" in sys.argv:
            for file, count in sorted(files.items()):
                names = sorted(code.co_qualname for code in found if code.co_filename.endswith(f"/{file}"))
                print(f"  {file} {count}: {', '.join(names)}")


if __name__ == "__main__":
    main()
