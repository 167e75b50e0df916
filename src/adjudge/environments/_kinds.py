"""Kinds of environment by name: ours, those that installed packages offer, and `module:Class`.

default_spec("webshop")                  one of ours
default_spec("maze")                     of a package with the entry point `maze` in the group adjudge.environments
default_spec("my_worlds:MazeSpec")       where it is

What a package offers is read without running it; its code is imported when its kind is asked for.
"""

from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, distribution, distributions

from adjudge.environments._world import EnvSpec
from adjudge.errors import Caught, MissingExtra, UsageError, closest

__all__ = ["default_spec"]

ENTRY_POINTS = "adjudge.environments"
_KINDS = {
    "alfworld": "adjudge.environments.alfworld:AlfworldSpec",
    "scienceworld": "adjudge.environments.scienceworld:ScienceWorldSpec",
    "webshop": "adjudge.environments.webshop:WebShopSpec",
}
"""Where the spec of each kind is; imported when it is first used."""


def default_spec(kind: str) -> EnvSpec:
    """Return the spec that a bare kind means; a kind is a known name, that of an entry point, or `module:Class`."""
    if ":" in kind:
        return _import(kind, kind)()
    if kind in _KINDS:
        return _import(_KINDS[kind], _KINDS[kind])()
    offers = _offers()
    if kind not in offers:
        raise UsageError(
            f"no environment is called {kind!r}{closest(kind, [*_KINDS, *offers])}", code="unknown-environment"
        )
    places = offers[kind]
    if len(places) > 1:
        listed = " and ".join(f"{package} ({place})" for place, package in places.items())
        raise UsageError(
            f"the kind {kind!r} is installed by {listed}: remove one, or name module:Class", code="ambiguous-kind"
        )
    [(place, package)] = places.items()
    found = _import(place, f"{place}, the kind {kind!r} of the package {package},")
    # By another name the rollout's open lease would not be found again.
    if found.kind != kind:
        message = f"{place} of the package {package} is installed as {kind!r} and is of the kind {found.kind!r}"
        raise UsageError(f"{message}: give both one name", code="unknown-environment")
    return found()


def _import(place: str, label: str) -> type[EnvSpec]:
    module, _, name = place.partition(":")
    # Whatever a module does when it is imported, it must not end a server or a run without its name.
    with Caught(fatal_too=True) as caught:
        found: object = getattr(import_module(module), name)
    if isinstance(caught.error, MissingExtra):
        raise caught.error
    if caught.reason is not None:
        reason = caught.reason.removeprefix("raised: ")
        raise UsageError(f"{label} cannot be imported: {reason}", code="unknown-environment") from caught.error
    if not isinstance(found, type) or not issubclass(found, EnvSpec):
        raise UsageError(f"{label} is not an EnvSpec", code="unknown-environment")
    return found


def _offers() -> dict[str, dict[str, str]]:
    """Return what is installed: for each kind the places of specs, and the package that says so."""
    packages = {one.name for one in distributions() if _points(one)}
    found: dict[str, dict[str, str]] = {}
    for package in sorted(filter(None, packages)):
        # Of several with one name, the first on the path counts, as for an import.
        for point in _points(distribution(package)):
            # Its text, because a malformed one has no module: only whoever asks for it should hear of that.
            place = "".join(point.value.partition("[")[0].split())
            found.setdefault(point.name, {}).setdefault(place, package)
    return found


def _points(package: Distribution) -> Iterable[EntryPoint]:
    with Caught():  # a package whose list cannot be read must not take the kinds of others with it
        return package.entry_points.select(group=ENTRY_POINTS)
    return ()
