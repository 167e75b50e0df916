"""Use mutated files as a stranger's: `child.py KIND GOOD COUNT SEED` prints a line for every one that did harm.

Harmless means: the commands end with one of our exit codes and a message of ours, within 5 seconds of CPU, start no
process, and connect to nothing but the one server that the test runs (`ADJUDGE_TEST_PORT`).
"""

import io
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from adjudge.cli import main
from adjudge.errors import AdjudgeError
from adjudge.judges import Calibration
from adjudge.model import from_json
from adjudge.runs._records import SUM, checksum

SECONDS = 5.0
EVENTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn")
VALUES: list[Any] = [
    *(None, True, -1, 0, 2**31, 2**40, 2**62, 1e308, float("inf"), float("nan"), "", "x" * 5000, b"", b"\xff" * 40),
    *(
        "subprocess:getoutput",
        "command: touch PLANTED",
        "planted:run",
        "./planted.py:run",
        "http://10.255.255.1/",
        "::error::",
    ),
    *("\x1b[2J\x9b2J", "\ud800", "../../etc/passwd", {}, [], [[[[[[]]]]]], {"a": {"b": None}}, "9" * 5000, "local:0"),
]
KEYS = {  # by which columns the checksum of a table is made
    "meta": ("name",),
    "cases": ("seq", "unit"),
    "requests": ("number", "seq", "key"),
    "replies": ("number", "source", "fault"),
    "trajectories": ("seq", "fault"),
    "scores": ("seq", "scorer", "status"),
}

happened: list[str] = []


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Write down what no reading of a file may do."""
    if event in EVENTS:
        happened.append(f"{event}: {str(arguments)[:200]}")
    elif event == "socket.connect" and isinstance(arguments[1], tuple):
        if str(arguments[1][1]) != os.environ.get("ADJUDGE_TEST_PORT"):
            happened.append(f"{event}: {arguments[1]}")
    elif event == "import" and str(arguments[0]).startswith("planted"):
        happened.append(f"import: {arguments[0]}")


def mutate_bytes(data: bytes, chance: random.Random) -> bytes:
    """Flip, cut, repeat or insert bytes, or put a hostile word in the place of one of its words."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 8])):
        at = chance.randrange(len(changed) or 1)
        end = min(len(changed), at + chance.choice([1, 4, 30, 400]))
        kind = chance.randrange(6)
        if kind == 0 and changed:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del changed[at:end]
        elif kind == 2:
            changed[at:at] = changed[at:end] * chance.choice([1, 1, 50])
        elif kind == 3:
            changed[at:at] = chance.randbytes(end - at)
        elif kind == 4:
            del changed[at:]
        else:
            changed[at:end] = str(chance.choice(VALUES)).encode("utf-8", "replace")
    return bytes(changed)


def mutate_json(value: Any, chance: random.Random) -> Any:
    """Put another value in the place of one that is somewhere inside."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(sorted(value))
        if chance.random() < 0.15:
            return {one: inner for one, inner in value.items() if one != name}
        return {**value, name: mutate_json(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [*value[:at], mutate_json(value[at], chance), *value[at + 1 :]]
    return chance.choice(VALUES)


def mutate_sqlite(path: Path, chance: random.Random) -> None:
    """Change cells of a database: any of them to anything, or bodies of records together with their checksums."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(chance.choice([1, 1, 3])):
            table = chance.choice(tables)
            columns = [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
            rows = file.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608 (a name of ours)
            if not rows:
                continue
            row = dict(zip(columns, chance.choice(rows), strict=True))
            before = dict(row)
            body = next((name for name in ("body", "about") if name in row and table != "secret"), None)
            if body is not None and isinstance(row[body], bytes) and chance.random() < 0.7:
                row[body] = json.dumps(mutate_json(json.loads(row[body]), chance), default=repr).encode()
                if "sum" in row:
                    named, keys = (
                        ("cache", ("key",)) if "source" not in row and table == "replies" else (table, KEYS[table])
                    )
                    row["sum"] = checksum(named, row[body], *(row[name] for name in keys)) + bytes(row["sum"])[SUM:]
            else:
                value = chance.choice(VALUES)
                row[chance.choice(columns)] = json.dumps(value) if isinstance(value, dict | list) else value
            names, marks = ", ".join(columns), ", ".join("?" * len(columns))
            with suppress(sqlite3.Error, UnicodeEncodeError, OverflowError):
                file.execute(f"DELETE FROM {table} WHERE {columns[0]} = ?", (before[columns[0]],))  # noqa: S608 (same)
                file.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))  # noqa: S608 (same)


def mutate_text(path: Path, chance: random.Random) -> Path:
    """Change values inside a JSON or TOML file; a calibration gets the digest of what it then says."""
    text = path.read_text()
    value = mutate_json(json.loads(text) if path.suffix == ".json" else tomllib.loads(text), chance)
    if path.suffix == ".json":
        with suppress(AdjudgeError, UnicodeError):
            known = from_json(Calibration, json.dumps(value, default=repr).encode())
            value = {**value, "digest": replace(known, digest="")._sum()}
    elif path.name == "gate.toml":
        path.write_text(toml(value))
        return path
    changed = path.with_suffix(".json")
    changed.write_text(json.dumps(value, default=repr))
    return changed


def toml(value: Any) -> str:
    """Write a value as a line of TOML, or a table as its lines."""
    if not isinstance(value, dict):
        return f"workflow = {inline(value)}\n"
    return "".join(f"{json.dumps(name)} = {inline(inner)}\n" for name, inner in value.items())


def inline(value: Any) -> str:
    """Write a value inside a line of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {inline(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return (
        repr(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else json.dumps(value, default=repr)
    )


def use(arguments: Sequence[str]) -> str | None:
    """Run a command; return why it was not harmless, or None."""
    happened.clear()
    sys.argv = ["adjudge", *arguments]
    output, errors = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    code: object = None
    try:
        with redirect_stdout(output), redirect_stderr(errors):
            main()
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # noqa: BLE001 (that is what is looked for)
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if happened:
        return happened[0]
    if code not in (0, 1, 2, 3):
        return f"exit code {code!r}"
    if "--debug shows where" in errors.getvalue():
        return errors.getvalue().strip()[-300:]
    return None


def too_long(*_: object) -> None:
    """End a command that computes for too long."""
    raise TimeoutError(f"more than {SECONDS:g} seconds")


def commands_for(kind: str, file: str, good: Path) -> list[list[str]]:
    """Return what is done with a file of that kind."""
    judge = ["--judge", "openai:m", "--base-url", f"http://127.0.0.1:{os.environ.get('ADJUDGE_TEST_PORT')}/v1"]
    check = ["check", str(good / "good.toml"), "--traces", str(good / "traces.json"), "--no-code", "--run"]
    table: dict[str, Callable[[], list[list[str]]]] = {
        "run": lambda: [
            ["show", file, "--failures"],
            ["show", file, "--out", "out.jsonl"],
            ["show", file, "1"],
            ["resume", file],
            ["rescore", file, "--scorer", "qa_f1_reward"],
            ["runs", "pack", file, "--out", "packed.run"],
            ["runs", "merge", "merged.run", file],
            ["runs", "list", "."],
        ],
        "outbox": lambda: [["resend", file], ["resend", file, "--refused"]],
        "cache": lambda: [["judge", "run", str(good / "rows.jsonl"), *judge, "--cache", file, "--run", "new.run"]],
        "calibration": lambda: [
            [
                "judge",
                "run",
                str(good / "rows.jsonl"),
                *judge,
                "--cache",
                "off",
                "--calibration",
                file,
                "--run",
                "new.run",
            ]
        ],
        "scenarios": lambda: [["check", file, "--traces", str(good / "traces.json"), "--no-code", "--run", "new.run"]],
        "gate": lambda: [[*check, "new.run", "--gate", file]],
    }
    return table[kind]()


def run(kind: str, good: Path, count: int, seed: int) -> None:
    """Mutate the good file of a kind, use it, and print what was not harmless."""
    names = {"run": "good.run", "outbox": "good.outbox", "cache": "good.cache", "calibration": "good.json"}
    source = good / (names | {"scenarios": "good.toml", "gate": "gate.toml"})[kind]
    home = os.getcwd()  # noqa: PTH109 (only to come back)
    for number in range(count):
        chance = random.Random(f"{kind} {seed} {number}")  # noqa: S311 (moments for a test)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            Path("planted.py").write_text("open('RAN', 'w').close()\ndef run(*a, **k):\n    return 1.0\n")
            file = Path(source.name)
            shutil.copy(source, file)
            if kind in ("run", "outbox", "cache") and chance.random() < 0.7:
                mutate_sqlite(file, chance)
            elif kind in ("calibration", "scenarios", "gate") and chance.random() < 0.7:
                file = mutate_text(file, chance)
            else:
                file.write_bytes(mutate_bytes(source.read_bytes(), chance))
            for arguments in commands_for(kind, str(file), good):
                why = use(arguments)
                if why is None and Path("RAN").exists():
                    why = "code was run"
                if why is not None:
                    sys.stdout.write(f"{kind} {number}, {' '.join(arguments[:2])}: {why}\n")
            os.chdir(home)


if __name__ == "__main__":
    signal.signal(signal.SIGPROF, too_long)
    sys.addaudithook(watch)
    run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
