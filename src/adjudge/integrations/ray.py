"""Ray: rows, judged shards and environments on more than one machine.

    score(dataset, ["qa_f1_reward"])             a Dataset of Ray Data with a column for each scorer
    pool(MazeSpec(), 64)                         environments, each in an actor
    adjudge score rows.jsonl --ray local         the same bytes as without, from all machines of a cluster
    adjudge judge run rows.jsonl --ray auto      each actor judges shards into a file of its own, this one has them all

An address is that of a cluster ("auto", "10.0.0.1:6379", "ray://..."), or "local", which starts Ray here and ends it
again. The machines need adjudge, and what your scorers import. Written against ray 2.60.
"""

import asyncio
import gc
import os
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from adjudge.datasets import Chunk
from adjudge.environments import EnvDied, EnvSpec, EnvStepTimeout, InProcess, Instance, Pool, PoolLimits
from adjudge.errors import AdjudgeError, Caught, MissingExtra, ProcessError, UsageError
from adjudge.model import Outcome, Score, Step
from adjudge.rewards import Scorer, get_scorer
from adjudge.runs import MemberLost, Segment, Shard, forget_shard, recover_shard, work_shard
from adjudge.text.values import plain

__all__ = ["RayBackend", "RayFleet", "connected", "map_chunks", "pool", "score"]

Result = TypeVar("Result")

_TOGETHER = 16  # chunks of one task, about 4 MB of rows: the cluster keeps books of every task
_AHEAD = 3  # tasks for each processor that are in progress or waiting: bounds what is held in memory
_RETRIES = 3  # of a task whose process or machine died: rows that end every process are not tried for ever
_CONNECT_S = 10.0
_PATIENCE_S = 60.0  # how long the disk of a member that died is waited for
_GROUP = "group_id"


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise MissingExtra.of("ray", "more than one machine") from None
    return ray


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a cluster, or start one here ("local") that ends with this; gives the module `ray`."""
    ray = _ray()
    if ray.is_initialized():  # the caller's own connection, which stays as it is
        yield ray
        return
    more: dict[str, Any] = {}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # what we start reports to nobody
        more["include_dashboard"] = False
    _check_answers(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", **more)
    except (ConnectionError, OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"there is no Ray at {address}: {error}", code="no-cluster") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise `UsageError` where nobody listens: Ray itself would ask again for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or "/" in host or not port.isdigit():
        return  # "auto", "local" or an address of another form
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
    except OSError as error:
        raise UsageError(f"there is no Ray at {address}: {error.strerror or error}", code="no-cluster") from None


def map_chunks(function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> Iterator[Result]:
    """Apply a function to every chunk of a file on the connected cluster, and give the results in their order.

    The rows go with the task, so that only this machine needs the file. A task whose process or machine dies is done
    again, a few times.
    """
    ray = _ray()
    most = _AHEAD * _processors(ray)
    apply = ray.remote(num_cpus=1, max_retries=_RETRIES)(_apply)
    shared = ray.put((function, _places()))
    waiting: deque[Any] = deque()
    source = iter(chunks)
    try:
        while batch := [_with_rows(chunk) for chunk in islice(source, _TOGETHER)]:
            waiting.append(apply.remote(shared, batch))
            if len(waiting) >= most:
                yield from _result(ray, waiting.popleft())
        while waiting:
            yield from _result(ray, waiting.popleft())
    finally:
        for one in waiting:  # interrupted: nobody wants the rest
            ray.cancel(one, force=True)


def _apply(given: tuple[Callable[[Chunk], Result], Sequence[str]], chunks: Sequence[Chunk]) -> list[Result]:
    function, places = given
    _know(places)
    # Ray and its libraries are many objects, none of which is garbage: looking at them again took a tenth of the time.
    if not gc.get_freeze_count():
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)
    return [function(chunk) for chunk in chunks]


def _places() -> list[str]:
    """Return where this process finds modules: on another machine a scorer's may be in the same place."""
    return [str(Path.cwd()), *sys.path]


def _know(places: Sequence[str]) -> None:
    sys.path.extend(place for place in places if place not in sys.path)


def _with_rows(chunk: Chunk) -> Chunk:
    """Return a chunk that holds its rows, not the place where they are on this machine."""
    return chunk if chunk.place is None else replace(chunk, place=None, lines=chunk.content())


def _result(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise _cause(error) from error
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        message = f"processes that worked on the same rows died {1 + _RETRIES} times: by a scorer, or out of memory"
        raise ProcessError(message, code="worker-died") from error
    except ray.exceptions.RayError as error:
        raise ProcessError(f"the cluster gave no result: {error}", code="worker-died") from error


def _cause(error: Any) -> BaseException:
    """Return what was raised on the other machine."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, AdjudgeError) else ProcessError(str(error)[:2000], code="worker-died")


def _processors(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def score(
    dataset: Any, scorers: str | Scorer | Sequence[str | Scorer], *, columns: Mapping[str, str] | None = None
) -> Any:
    """Return a Dataset of Ray Data with what the scorers say of each row, in columns of their names.

    For a scorer NAME these are `NAME` (the value, null where there is none), `NAME_status`, `NAME_reason` and one for
    each part. `columns` maps argument names to columns. Rows of a group are brought together by `group_id`.
    """
    _ray()
    given = [scorers] if isinstance(scorers, str | Scorer) else list(scorers)
    made = [get_scorer(one) for one in given]
    if not made:
        raise UsageError("name a scorer")
    for one in made:
        if one.asks:
            raise UsageError(f"{one.name} asks a model, and replies cost money: adjudge judge run --ray keeps them all")
    named = dict(columns or {})
    schema = dataset.schema()
    if schema is not None:
        for one in made:
            one.check([*schema.names, *named])
    # Names travel better than objects: each process makes its scorers once.
    add = _Scores(tuple(given), named)
    if any(one.is_group for one in made):
        return dataset.groupby(named.get(_GROUP, _GROUP)).map_groups(add, batch_format="pyarrow")
    return dataset.map_batches(add, batch_format="pyarrow")


class _Scores:
    """Adds the columns to a batch."""

    def __init__(self, scorers: tuple[Any, ...], columns: Mapping[str, str]) -> None:
        self._scorers = scorers
        self._columns = columns
        self._made: list[Scorer] | None = None

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        self._made = self._made or [get_scorer(one) for one in self._scorers]
        rows = [plain(row) for row in table.to_pylist()]
        for row in rows:
            row.update({name: row[column] for name, column in self._columns.items() if column in row})
        for scorer in self._made:
            for name, values in _columns_of(scorer, scorer.score_many(rows)).items():
                kind = pa.string() if isinstance(values, tuple) else pa.float64()
                table = table.append_column(name, pa.array(list(values), kind))
        return table


def _columns_of(scorer: Scorer, scores: Sequence[Score]) -> dict[str, Sequence[Any]]:
    """Return the columns of a scorer; those of texts are tuples."""
    found: dict[str, Sequence[Any]] = {
        scorer.name: [score.value for score in scores],
        f"{scorer.name}_status": tuple(str(score.status) for score in scores),
        f"{scorer.name}_reason": tuple(score.reason for score in scores),
    }
    for part in scorer.parts or dict.fromkeys(part for score in scores for part in score.parts):
        found[f"{scorer.name}_{part}"] = [score.parts.get(part) for score in scores]
    return found


class _Member:
    """An actor that works on shards."""

    def __init__(self, places: Sequence[str]) -> None:
        _know(places)

    def node(self) -> str:
        """Say on which machine it is."""
        return str(_ray().get_runtime_context().get_node_id())

    def work(self, shard: Shard) -> Iterator[Segment]:
        """Give what is committed, as it is committed."""
        yield from work_shard(shard)

    def forget(self, shard: Shard) -> None:
        """Remove what is left of a shard."""
        forget_shard(shard)


class RayFleet:
    """Actors of the connected cluster that work on the shards of a run; one for each processor, unless `size` says."""

    def __init__(self, size: int | None = None) -> None:
        self._ray = _ray()
        self.size = size or _processors(self._ray)
        # They reserve nothing: after a machine has died there must be room for them on those that are left.
        self._kind = self._ray.remote(num_cpus=0, scheduling_strategy="SPREAD", max_restarts=0)(_Member)
        self._actors: dict[int, Any] = {}
        self._nodes: dict[int, str] = {}

    async def work(self, member: int, shard: Shard) -> AsyncIterator[Segment]:
        """Run a shard on an actor, a new one if the member has none."""
        errors = self._ray.exceptions
        try:
            if member not in self._actors:
                self._actors[member] = self._kind.remote(_places())
                self._nodes[member] = await self._actors[member].node.remote()
            # The arguments of a generator's task are kept with it: a shard is some hundred rows.
            async for reference in self._actors[member].work.options(num_returns="streaming").remote(shard):
                yield await reference
        except errors.RayTaskError as error:
            raise _cause(error) from error
        except errors.RayError as error:
            raise MemberLost(f"an actor died: {str(error).partition(chr(10))[0]}") from error

    async def recover(self, member: int, shard: Shard) -> Segment | None:
        """Read what the actor has left on the disk of its machine."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._end(member)
        where = NodeAffinitySchedulingStrategy(self._nodes.get(member, ""), soft=False)
        with Caught(fatal_too=True):
            read = self._ray.remote(num_cpus=0, scheduling_strategy=where)(recover_shard).remote(shard)
            async with asyncio.timeout(_PATIENCE_S):
                found: Segment | None = await read
            return found
        return None

    async def forget(self, member: int, shard: Shard) -> None:
        """Remove what is left of a shard where it was."""
        actor = self._actors.get(member)
        with Caught(fatal_too=True):
            if actor is not None:
                await actor.forget.remote(shard)

    def _end(self, member: int) -> None:
        actor = self._actors.pop(member, None)
        if actor is not None:
            with suppress(Exception):
                self._ray.kill(actor)


def pool(spec: EnvSpec, size: int, *, limits: PoolLimits | None = None) -> Pool:
    """Return a pool whose instances are actors, spread over the machines of the connected cluster."""
    return Pool(spec, size, RayBackend(), limits=limits)


class RayBackend:
    """Starts each world in an actor of its own, which may hang or crash: it is killed and replaced."""

    def __init__(self, *, num_cpus: float = 0.0) -> None:
        self._num_cpus = num_cpus  # what an actor reserves; a world mostly waits for its agent

    async def start(self, spec: EnvSpec, limits: PoolLimits) -> "RayInstance":
        """Start an actor and build the world in it."""
        ray = _ray()
        kind = ray.remote(num_cpus=self._num_cpus, scheduling_strategy="SPREAD", max_restarts=0)(_World)
        instance = RayInstance(ray, kind.remote(spec, limits), limits)
        try:
            await instance.call("start", limits.start_s)
        except BaseException:
            await instance.close()
            raise
        return instance


class _World:
    """An actor with one world."""

    def __init__(self, spec: EnvSpec, limits: PoolLimits) -> None:
        self._spec, self._limits = spec, limits
        self._instance: Any = None

    async def start(self) -> None:
        """Build the world."""
        self._instance = await InProcess().start(self._spec, self._limits)

    async def call(self, what: str, *arguments: Any) -> Any:
        """Ask the world."""
        return await getattr(self._instance, what)(*arguments)


class RayInstance(Instance):
    """One world in an actor."""

    def __init__(self, ray: Any, actor: Any, limits: PoolLimits) -> None:
        self._ray = ray
        self._actor = actor
        self._step_s = limits.step_s
        self._broken = False

    @property
    def alive(self) -> bool:
        """Whether every call so far had an answer."""
        return not self._broken

    async def reset(self, task: Any) -> Step:
        """Start an episode."""
        step: Step = await self.call("reset", self._step_s, task)
        return step

    async def step(self, action: str) -> Step:
        """Do one action."""
        step: Step = await self.call("step", self._step_s, action)
        return step

    async def outcome(self) -> Outcome:
        """Read the outcome."""
        outcome: Outcome = await self.call("outcome", self._step_s)
        return outcome

    async def health(self) -> bool:
        """Ask the world."""
        with Caught():
            return bool(await self.call("health", self._step_s))
        return False

    async def close(self) -> None:
        """End the actor, after a moment in which its world may clean up."""
        self._broken = True
        with Caught(fatal_too=True):
            async with asyncio.timeout(1.0):
                await self._actor.call.remote("close")
        with Caught(fatal_too=True):
            self._ray.kill(self._actor)

    async def call(self, what: str, seconds: float, *arguments: Any) -> Any:
        """Ask the actor, and make of every failure what it is."""
        errors = self._ray.exceptions
        answered = False
        try:
            asked = self._actor.start if what == "start" else self._actor.call
            async with asyncio.timeout(seconds):
                found = await (asked.remote() if what == "start" else asked.remote(what, *arguments))
            answered = True
        except TimeoutError:
            raise EnvStepTimeout(f"the actor did not answer within {seconds:g} s") from None
        except errors.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if not isinstance(cause, AdjudgeError):
                raise EnvDied(f"the world in the actor broke: {cause or error}") from error
            answered = not isinstance(cause, EnvDied | EnvStepTimeout)
            raise cause from None
        except errors.RayError as error:
            raise EnvDied(f"the actor died: {str(error).partition(chr(10))[0]}") from error
        finally:
            # After a call without an answer nobody knows the state of the episode.
            self._broken = self._broken or not answered
        return found
