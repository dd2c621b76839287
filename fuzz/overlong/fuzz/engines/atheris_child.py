"""One run of Atheris, in a process of its own: ``atheris_child.py ORDERS.json``. It is started by ``atheris_engine``.

``atheris.Fuzz`` never returns: libFuzzer ends the process, and so may the target. So whatever is to be known outside
leaves at once: the input at hand and the counts through :class:`SharedMemory`, the first input of each fingerprint as a
line of JSON in the outbox, and so does each input that reaches more of the reference. Nothing is decided here: what
looks like a divergence is asked again by the parent process.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import mmap
import random
import re
import struct
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.apart import limits_of
from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import Accepted, Failed, Refused
from overlong.conformance.targets.adapters import python as adapter
from overlong.conformance.targets.adapters import serving
from overlong.conformance.vectors.formats.text import tokens
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.fuzz.choice import tokens_of
from overlong.fuzz.engines.job import features_of, fingerprint_of
from overlong.reference import dialect, segments

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation
    from overlong.fuzz.engines.job import Fingerprint

_READ = 256
"""Octets of an input from which on it is not read for what it reaches of the reference: shorter ones can reach all."""
LONGEST = 1 << 12
"""The most octets of an input."""
SLOTS = 1 << 10
"""The most fingerprints to count."""
_HEAD = struct.Struct("=4Q")  # executions, octets, whether the target is at work, octets of the input
_COUNT = struct.Struct("=Q")
_COUNTS = _HEAD.size + LONGEST
_SIZE = _COUNTS + SLOTS * _COUNT.size
_FEW = 64
"""The most segments to see: in a long input, those around one place."""
_BLOCKS = tuple(1 << power for power in range(3, 11))
"""Usual lengths in decoders: words, vectors, buffers."""
_OTHERWISE = 3
"""One mutation in this number ignores the grammar."""


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


class SharedMemory:
    """The last input and the counts of a child that may die at any moment: a file that both sides map.

    One side writes, the other reads at any time: its view may be one input old.
    """

    def __init__(self, path: Path, *, new: bool) -> None:
        """Raises: OSError: the file cannot be created, or read."""
        if new:
            path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _SIZE)
        self._octets = 0
        self._executions = 0

    def begin(self, octets: bytes) -> None:
        """Note that the target gets this input."""
        self._executions += 1
        self._octets += len(octets)
        self._memory[_HEAD.size : _HEAD.size + len(octets)] = octets
        _HEAD.pack_into(self._memory, 0, self._executions, self._octets, 1, len(octets))

    def end(self) -> None:
        """Note that it has answered."""
        _COUNT.pack_into(self._memory, 2 * _COUNT.size, 0)

    def count(self, slot: int) -> None:
        """Count one more of a fingerprint."""
        place = _COUNTS + slot * _COUNT.size
        _COUNT.pack_into(self._memory, place, _COUNT.unpack_from(self._memory, place)[0] + 1)

    @property
    def executions(self) -> int:
        """The number of inputs so far."""
        return int(_HEAD.unpack_from(self._memory)[0])

    @property
    def octets(self) -> int:
        """The octets of these inputs."""
        return int(_HEAD.unpack_from(self._memory)[1])

    @property
    def at_hand(self) -> bytes | None:
        """The unanswered input; None if the target is not at work."""
        _, _, works, length = _HEAD.unpack_from(self._memory)
        return self._memory[_HEAD.size : _HEAD.size + min(length, LONGEST)] if works else None

    def counted(self, slot: int) -> int:
        """The count of a fingerprint."""
        return int(_COUNT.unpack_from(self._memory, _COUNTS + slot * _COUNT.size)[0])

    def close(self) -> None:
        """Close the mapping; the file stays."""
        self._memory.close()


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
        serving.fail("it offers something else when it is instrumented")
    asked = _Asked(orders, operations[orders.operation])

    def mutator(octets: bytes, longest: int, number: int) -> bytes:
        return mutated(octets, longest, number, atheris.Mutate)  # asked each time: Setup() puts another one there

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
            serving.fail(f"importing {module} failed: {type(error).__name__}: {error}")
        for part in orders.name.split("."):
            if not hasattr(found, part):
                serving.fail(f"{module} has no {orders.name}")
            found = getattr(found, part)
    return found


def _operations(found: Any, mode: str) -> dict[str, serving.Answerer]:
    if hasattr(found, "operations"):
        return cast("dict[str, serving.Answerer]", found.operations)
    if isinstance(found, type) and hasattr(found, "decode"):
        return adapter.incremental(found)
    return adapter.probe(found, mode, {})


class _Asked:
    """What libFuzzer calls with each input."""

    def __init__(self, orders: Orders, answer: serving.Answerer) -> None:
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


def _observed(result: serving.Result, octets: bytes) -> Observation:
    """The adapter's result for these octets, as what was observed."""
    meant = serving.meant(result, octets)
    if isinstance(meant, str):
        return Accepted(tuple(map(ord, meant)))
    if isinstance(meant, serving.Refusal):
        return Refused(meant.offset, meant.length, meant.incomplete)
    if isinstance(meant, serving.Bug):
        return Failed(meant.text)
    if isinstance(meant, bool):
        return Accepted() if meant else Refused()
    return Failed(f"returned {type(meant).__name__}")


@cache
def _tokens() -> tuple[bytes, ...]:
    return tuple(dict.fromkeys((*tokens(), *tokens_of(dialect()).completed, *tokens_of(dialect()).lenient)))


def mutated(octets: bytes, longest: int, number: int, otherwise: Callable[[bytes, int], bytes]) -> bytes:
    """An input that stays nearly well-formed: it is seen like the reference does, as characters and flaws.

    The result depends on the arguments alone, if ``otherwise`` does so.

    Args:
        octets: of the input to change.
        longest: the most octets of the result.
        number: decides how it is changed.
        otherwise: changes octets regardless of their meaning: the fuzzer's own mutation.
    """
    chance = random.Random(number)  # noqa: S311 (no secret)
    if chance.randrange(_OTHERWISE) == 0:
        return otherwise(octets, longest)
    for _ in range(1 + chance.randrange(3)):
        octets = _changed(octets, chance)
    return octets[:longest]


def _changed(octets: bytes, chance: random.Random) -> bytes:
    begin, end = _segment(octets, chance)
    token = chance.choice(_tokens())
    match chance.randrange(7):
        case 0 | 1:
            return octets[:begin] + token + octets[begin:]
        case 2:
            return octets[:begin] + token + octets[end:]
        case 3:
            return octets[:begin] + octets[end:]
        case 4:  # replace an octet of the segment by a meaningful one
            at = chance.randrange(begin, end) if end > begin else begin
            return octets[:at] + token[:1] + octets[at + 1 :]
        case 5:  # move it to a place near a block's end
            fill = max(chance.choice(_BLOCKS) - begin - chance.randrange(len(token) + 1), 0)
            return octets[:begin] + b"a" * fill + token + octets[begin:]
        case _:
            begun, ended = _segment(octets, chance)
            return octets[:begin] + octets[begun:ended] + octets[begin:]


def _segment(octets: bytes, chance: random.Random) -> tuple[int, int]:
    """The start and the end of a segment; at the end of the input, both are the end."""
    start = max(chance.randrange(len(octets) + 1) - _FEW // 2, 0)
    found = [(each.offset, each.offset + each.length) for each in segments(octets[start : start + _FEW])]
    if start + _FEW >= len(octets):
        found.append((len(octets) - start, len(octets) - start))
    begin, end = chance.choice(found)
    return start + begin, start + end


if __name__ == "__main__":
    main()
