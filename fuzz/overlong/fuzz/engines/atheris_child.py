"""One run of Atheris, in a process of its own: ``atheris_child.py ORDERS.json``. It is started by ``atheris_engine``.

``atheris.Fuzz`` never returns: libFuzzer ends the process, and so may the target. So whatever is to be known outside
leaves at once: the input at hand and the counts through :mod:`shared_memory`, the first input of each fingerprint as a
line of JSON in the outbox, and so does each input that reaches more of the reference. Nothing is decided here: what
looks like a divergence is asked again by the parent process.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.compare import compare
from overlong.conformance.oracle.limits import limits_of
from overlong.conformance.protocol.observation import Accepted, Failed, Refused
from overlong.conformance.targets.adapters import python as adapter
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.engines.mutation import Mutator
from overlong.fuzz.engines.result import fingerprint_of
from overlong.fuzz.engines.shared_memory import SLOTS, SharedMemory
from overlong.fuzz.generation.features import features_of

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation
    from overlong.fuzz.execution.job import Fingerprint

_READ = 256
"""Octets of an input from which on it is not read for what it reaches of the reference: shorter ones can reach all."""


@dataclass(frozen=True)
class Orders:
    """What the child is to do; written as JSON."""

    place: str
    """A module, or a file."""
    name: str
    mode: str
    operation: str
    """Operation by which it is asked."""
    traits: dict[str, str]
    """What the target's greeting says: strings that these touch are left out."""
    profile: dict[str, str]
    arguments: list[str]
    """For libFuzzer."""
    memory: str
    """The path of the shared memory."""
    outbox: str
    """The path to which lines are added."""
    folder: str
    """In which the target's names are looked up."""
    avoid: list[str]
    """What ended the process before, as :func:`sort_of` names it."""


def sort_of(octets: bytes) -> str:
    """What an input that ends processes has in common with others: its first flaw; empty for well-formed ones."""
    flaw = Vector("fuzz", octets).flaw
    return "" if flaw is None else octets[flaw.offset : flaw.offset + flaw.length + 1].hex()


def main() -> None:
    """Run until libFuzzer, or the target, ends the process."""
    import atheris as found_there

    atheris: Any = found_there  # what it says of its types is not so: a test may return -1
    orders = Orders(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    _offer_to_extensions(atheris)
    # While no folder of the user's is searched: one may have an abnf.py.
    Profile(**orders.profile).dialect.automaton  # noqa: B018 (it is kept)
    found = _load(atheris, orders)
    operations = _operations(found, orders.mode)
    if orders.operation not in operations:
        adapter.fail("it offers something else when it is instrumented")
    asked = _Asked(orders, operations[orders.operation])
    # not the function itself: Setup() puts another one there
    mutator = Mutator(lambda octets, longest: atheris.Mutate(octets, longest))  # noqa: PLW0108
    atheris.Setup(
        [sys.argv[0], *orders.arguments], asked, custom_mutator=mutator, internal_libfuzzer=True
    )  # its own libFuzzer: what was preloaded would not know of the mutator
    atheris.Fuzz()


def _offer_to_extensions(atheris: Any) -> None:
    """Let extensions that were compiled with coverage find libFuzzer, and libFuzzer the mutator: in that order."""
    folder = Path(atheris.__file__).parent
    for name in ("custom_mutator", "core_with_libfuzzer"):
        for library in folder.glob(f"{name}.*so"):
            ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


def _load(atheris: Any, orders: Orders) -> Any:
    """What is fuzzed, and all that it imports, instrumented; Python's own modules only if they are what is fuzzed."""
    module = orders.place
    if module.endswith(".py"):
        file = Path(orders.folder, module)
        adapter.search_for(module)
        module = file.stem
        if file.parent == Path(adapter.__file__).parent:  # ours: a module of the package, whose folder is no path
            module = f"{adapter.__package__}.{module}"
        elif not re.fullmatch(r"\w+", module) or module in sys.modules or module in sys.stdlib_module_names:
            found = adapter.load(str(file), orders.name)  # no name to import it by
            return atheris.instrument_func(found) if hasattr(found, "__code__") else found
    else:
        adapter.search_for(module)
    top = module.partition(".")[0]
    if top != "overlong" and top not in sys.stdlib_module_names:
        for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
            del sys.modules[name]  # so that it is imported again, instrumented
    own = sorted(name for name in sys.stdlib_module_names if name != top)
    with atheris.instrument_imports(exclude=own):
        try:
            found = importlib.import_module(module)
        except BaseException as error:  # noqa: BLE001 (whatever importing it does)
            adapter.fail(f"importing {module} failed: {type(error).__name__}: {error}")
        for part in orders.name.split("."):
            if not hasattr(found, part):
                adapter.fail(f"{module} has no {orders.name}")
            found = getattr(found, part)
    return found


def _operations(found: Any, mode: str) -> dict[str, adapter.Answerer]:
    if hasattr(found, "operations"):
        return cast("dict[str, adapter.Answerer]", found.operations)
    if isinstance(found, type) and hasattr(found, "decode"):
        return adapter.incremental(found)
    return adapter.probe(found, mode, {})


class _Asked:
    """What libFuzzer calls with each input."""

    def __init__(self, orders: Orders, answer: adapter.Answerer) -> None:
        self._memory = SharedMemory(Path(orders.memory), new=False)
        self._outbox = Path(orders.outbox).open("ab", buffering=0)  # noqa: SIM115 (open until the end)
        self._profile = Profile(**orders.profile)
        self._limits = limits_of(cast("Any", SimpleNamespace(traits=orders.traits)))
        self._operation, self._answer = orders.operation, answer
        self._avoid = frozenset(orders.avoid)
        self._slots: dict[Fingerprint, int] = {}
        self._reached = set[int]()

    def __call__(self, octets: bytes) -> int:
        """Ask the target; -1 keeps the input out of the corpus."""
        if any(limit.touches(octets) for limit in self._limits) or (self._avoid and sort_of(octets) in self._avoid):
            return -1
        self._memory.begin(octets)
        try:
            (result,) = self._answer([octets])
            observed = _observed(result, octets)
        except BaseException as error:  # noqa: BLE001 (also SystemExit: it is no end of anything)
            observed = Failed(f"{type(error).__name__}: {error}")
        self._memory.end()
        if len(octets) <= _READ and not self._reached.issuperset(reached := features_of(octets, self._profile.dialect)):
            self._reached |= reached
            self._write(octets, reaches=True)
        finding = compare(Vector("fuzz", octets, profile=self._profile), self._operation, observed)
        if finding is not None:
            self._tell(finding)
        return 0

    def _tell(self, finding: Finding) -> None:
        fingerprint = fingerprint_of(finding, "")
        slot = self._slots.get(fingerprint)
        if slot is None:
            slot = self._slots[fingerprint] = len(self._slots)
            self._write(finding.vector.octets, reaches=False)
        if slot < SLOTS:
            self._memory.count(slot)

    def _write(self, octets: bytes, *, reaches: bool) -> None:
        self._outbox.write(json.dumps({"octets": octets.hex(), "reaches": reaches}).encode() + b"\n")


def _observed(result: adapter.Result, octets: bytes) -> Observation:
    """The adapter's result for these octets, as what was observed."""
    meant = adapter.meant(result, octets)
    if isinstance(meant, str):
        return Accepted(tuple(map(ord, meant)))
    if isinstance(meant, adapter.Refusal):
        return Refused(meant.offset, meant.length, meant.incomplete)
    if isinstance(meant, adapter.Bug):
        return Failed(meant.text)
    if isinstance(meant, bool):
        return Accepted() if meant else Refused()
    return Failed(f"returned {type(meant).__name__}")


if __name__ == "__main__":
    main()
