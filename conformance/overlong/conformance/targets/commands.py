"""Turns the names of kinds of targets into command lines of worker processes: ``so:``, ``wasm:``, ``cmd:``, ``lines:``.

``so:LIBRARY:SYMBOL?abi=NAME`` and ``wasm:FILE:EXPORT?abi=NAME`` name functions. Behind the ABI stand traits:
``&TRAIT=WORD``. ``docs/shared-libraries.md`` explains both kinds.

``cmd:COMMAND`` and ``lines:COMMAND`` name programs that do not speak the protocol. With ``cmd:`` the program takes one
input and ends; its status and its output are the answer. With ``lines:`` it reads one input per line, in hexadecimal,
and answers each with a line.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.protocol.greeting import TRAITS, WORDS
from overlong.conformance.support.printable import did_you_mean, nearest, printable
from overlong.conformance.support.process import bare_script, environment, script
from overlong.conformance.targets import elf
from overlong.conformance.targets.adapters.abi import ABIS, ITERATE, QUESTION_ABIS
from overlong.conformance.targets.adapters.documents import DOCUMENTS
from overlong.conformance.targets.adapters.python import ENCODES
from overlong.conformance.targets.build import ADAPTERS
from overlong.reference.core.building import install
from overlong.reference.questions import EARLY, QUESTIONS
from overlong.reference.reading import MODES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from overlong.conformance.targets.framed import FramedTarget

_KNOWN = "'overlong target abis' lists all, and how each is called"
_FORM = (
    "write so:LIBRARY:SYMBOL?abi=NAME, as in 'so:./libmine.so:is_utf8?abi=bool(ptr,len)'; for example "
    f"bool(ptr,len), errpos-or-minus1(ptr,len), or utf32(ptr,len,out,cap), which outputs code points; {_KNOWN}"
)
OFFERED_TO_WASM = tuple(name for name, abi in ABIS.items() if not abi.functions and abi is not ITERATE)
"""The ABIs of one function that is called once for an input."""
_KNOWN_OF_WASM = "'overlong target abis' lists them; no streams, and no function that is called until the input ends"
_FORM_OF_WASM = (
    "write wasm:FILE:EXPORT?abi=NAME, as in 'wasm:./mine.wasm:is_utf8?abi=bool(ptr,len)'; for example "
    f"bool(ptr,len), errpos(ptr,len), or utf8(ptr,len,out,cap), which outputs UTF-8; {_KNOWN_OF_WASM}"
)

_DISASSEMBLER_SECONDS = 20.0
"""The time for reading a function; it takes less than one."""

_SAID = tuple(f"{member}={word}" for member, words in TRAITS.items() for word in words)
"""Traits that a user may give for a function, as in a greeting (docs/protocol.md)."""


def declared(shown: str, where: str, words: Iterable[str], *more: str) -> tuple[str, ...]:
    """The ABI and traits after a function's name, checked.

    Args:
        shown: the target as the user wrote it, safe to show.
        where: where the words were written, for messages.
        words: ``MEMBER=WORD`` each.
        more: members allowed there besides traits.

    Raises:
        UnknownTarget: a word is not allowed, or a member occurs twice.
    """
    said = tuple(words)
    for word in said:
        if word not in (*more, *_SAID):
            raise UnknownTarget(f"{shown}: {where} is '{printable(word)}'; write {', '.join((*more, *_SAID))}")
    members = [word.partition("=")[0] for word in said]
    if twice := [member for member in members if members.count(member) > 1]:
        raise UnknownTarget(f"{shown}: {where} is {twice[0]}= more than once; write it once")
    return said


_ERRORS = "encode_errors"
_OF_QUESTIONS: dict[str, Collection[str]] = {
    "as": QUESTIONS,
    "ill_formed": MODES,
    "stops": (EARLY,),
    _ERRORS: WORDS[_ERRORS],
}
"""What a user may say of a function that answers a question: which, and its modes."""


def of_questions(shown: str, words: Iterable[str], question: str = "") -> tuple[dict[str, str], list[str]]:
    """What is said of a function that answers a question, by member, and the other words.

    Args:
        shown: the target as the user wrote it, safe to show.
        words: ``MEMBER=WORD`` each.
        question: its name, unless a word says it.

    Raises:
        UnknownTarget: there is no such question or mode, a member occurs twice, or one is for encoders alone.
    """
    said, others = dict[str, str](), list[str]()
    for word in words:
        member, _, name = word.partition("=")
        if member not in _OF_QUESTIONS:
            others.append(word)
        elif name not in _OF_QUESTIONS[member] or member in said:
            known = ", ".join(_OF_QUESTIONS[member])
            raise UnknownTarget(f"{shown}: '{printable(word)}': after {member}= write one of {known}, once")
        else:
            said[member] = name
    question = said.get("as", question)
    if _ERRORS in said and question in QUESTIONS and question not in ENCODES:
        raise UnknownTarget(f"{shown}: {_ERRORS}= is for {', '.join(ENCODES)}; leave it out of {question}")
    return said, others


REPLACES = "mode=replacement"
"""What is said of a decoder in C that replaces what is ill-formed."""


@dataclass(frozen=True)
class FunctionName:
    """The parts of a function's name."""

    file: str
    name: str
    abi: str
    traits: tuple[str, ...]
    modes: tuple[str, ...]
    """Its declared modes, if it answers a question: ``MEMBER=WORD`` each."""

    @classmethod
    def of(cls, shown: str, rest: str, form: str) -> FunctionName:
        """Split a name into its parts.

        Args:
            shown: the target as the user wrote it, safe to show.
            rest: the name after its kind.
            form: the right form, for the error message.

        Raises:
            UnknownTarget: it has another form.
        """
        place, mark, query = rest.partition("?abi=")
        file, _, name = place.rpartition(":")
        if not mark or not file or not name:
            raise UnknownTarget(f"{shown}: {form}")
        abi, *words = query.split("&")
        said, traits = of_questions(shown, words, abi.partition("(")[0])
        if "as" in said:
            raise UnknownTarget(f"{shown}: write the question as its abi, and leave out as={said['as']}")
        more = (REPLACES,) if "(ptr,len,out" in abi or abi.startswith("stream-utf") else ()
        return cls(
            file,
            name,
            abi,
            declared(shown, "after the abi", traits, *more),
            tuple(f"{member}={word}" for member, word in said.items()),
        )

    def no_abi(self, shown: str, known: Sequence[str], where: str, more: str) -> UnknownTarget:
        """The error for a name that is no ABI: it suggests three, and names the list of all.

        Args:
            shown: the target as the user wrote it, safe to show.
            known: the possible ABIs, the most usual first.
            where: the words for the kind of target.
            more: the words that refer to the whole list.
        """
        alike = [each for each in known if each.startswith(self.abi.partition("(")[0])]
        first, second, third = list(dict.fromkeys([*nearest(self.abi, known, 3), *alike, *known]))[:3]
        return UnknownTarget(
            f"{shown}: no abi '{printable(self.abi)}'{where}; perhaps {first}, {second} or {third}; {more}"
        )


def library_command(name: str, rest: str) -> list[str]:
    """The worker's command line; the library and the file of ``abi=py:`` are separate words.

    Args:
        name: the target as the user wrote it, for messages.
        rest: the text after ``so:``.

    Raises:
        UnknownTarget: it does not name a library and its ABI; the message shows the right form.
    """
    shown = printable(name)
    if sys.platform == "win32":
        raise UnknownTarget(f"{shown}: so: needs fork and guard pages, which this system lacks; write an adapter in C")
    function = FunctionName.of(shown, rest, _FORM)
    symbols, convention = function.name, function.abi
    worker = script(ADAPTERS / "shared_library.py", _found(function.file))
    if convention.startswith("py:"):
        file, colon, name_of = convention.removeprefix("py:").rpartition(":")
        if not colon or not file.endswith(".py") or not name_of:
            raise UnknownTarget(f"{shown}: write abi=py:FILE.py:FUNCTION")
        return [*worker, symbols, "py", file, name_of, *function.traits]
    if convention not in ABIS and convention not in QUESTION_ABIS:
        raise function.no_abi(shown, (*ABIS, *QUESTION_ABIS), "", _KNOWN)
    if convention in ABIS and function.modes:
        member = function.modes[0].partition("=")[0]
        raise UnknownTarget(f"{shown}: {member}= is for a function that answers a question; {_KNOWN}")
    functions = ABIS[convention].functions if convention in ABIS else ()
    given = symbols.count(",") + 1
    least = min(4, len(functions)) or 1
    if not least <= given <= max(len(functions), 1):
        wanted = f"write {','.join(functions[:4])}, and reset if it has one" if functions else "name one"
        raise UnknownTarget(f"{shown}: it names {given} function{'s' * (given != 1)}; {wanted}")
    return [*worker, symbols, convention, *function.modes, *function.traits]


def library_in(command: Sequence[str]) -> str:
    """The library that a worker's command line names; empty for other workers."""
    script = str(ADAPTERS / "shared_library.py")
    return command[command.index(script) + 1] if script in command else ""


def _found(library: str) -> str:
    """The path of a library: as written if that is a file; otherwise the path at which the loader finds that name."""
    if os.path.isfile(library):  # noqa: PTH113 (a word too long for a name is no file, and no error)
        return library if "/" in library else f"./{library}"
    if "/" in library:
        return library  # the worker will report the error
    return next((path for name, path in _cached() if name == library), library)


def _cached() -> list[tuple[str, str]]:
    """The names and paths in the loader's cache (glibc); empty on systems without one."""
    try:
        said = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, check=True, timeout=10, stdin=subprocess.DEVNULL
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    lines = (line.split(" => ") for line in os.fsdecode(said).splitlines())
    return [(parts[0].split()[0], parts[1]) for parts in lines if len(parts) == 2 and parts[0].split()]


def wasm_command(name: str, rest: str) -> list[str]:
    """The worker's command line; the module is a separate word.

    Args:
        name: the target as the user wrote it, for messages.
        rest: the text after ``wasm:``.

    Raises:
        UnknownTarget: it does not name a module and its ABI; the message shows the right form.
        TargetError: there is no such module, or no wasmtime; the message names the package to install.
    """
    shown = printable(name)
    function = FunctionName.of(shown, rest, _FORM_OF_WASM)
    if function.abi not in OFFERED_TO_WASM:
        raise function.no_abi(shown, OFFERED_TO_WASM, " for WebAssembly", _KNOWN_OF_WASM)
    module = function.file
    if not os.path.isfile(module):  # noqa: PTH113 (a word too long for a name is no file, and no error)
        raise TargetError(f"{shown}: there is no file {printable(module)}; build it, or check the path")
    if find_spec("wasmtime") is None:
        raise TargetError(f"{shown}: needs wasmtime, which is not installed; {install('wasm')}")
    return script(ADAPTERS / "wasm.py", module, function.name, function.abi, *function.traits)


def constants_of(target: FramedTarget) -> tuple[int, ...]:
    """The numbers that a decoder's code names, ascending, around which sweeps ask.

    Those of a Python callable are in its greeting; those of a library's function are read from its file, of which no
    code runs. None if it cannot be read, or capstone is not installed.

    Args:
        target: a target that has greeted.
    """
    library = library_in(target.command)
    if not library:
        return target.greeting.constants
    if find_spec("capstone") is None:
        return ()
    symbols = target.command[target.command.index(library) + 1].split(",")
    try:
        said = subprocess.run(
            script(elf.__file__, library, *symbols),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_DISASSEMBLER_SECONDS,
            env=environment(),
            check=True,
        ).stdout
        return tuple(map(int, said.split()))
    except (OSError, subprocess.SubprocessError, ValueError):  # the disassembler may fail on anything
        return ()


_ONE_SHOT, _LINES = "cmd", "lines"
_EXAMPLES = {_ONE_SHOT: "cmd:iconv -f UTF-8 -t UTF-8", _LINES: "lines:./decode"}
_OUTPUTS = ("utf-8", "utf-16", "utf-32")
"""The word in the brackets of ``cmd[...]:``: the encoding of a judged output."""
_MODES = {"verdict": "V", "replace": "L"}
_UNITS = ("utf-32", "utf-16", "utf-8")
"""The possible encodings of a line's text."""
_WORDS = (*_MODES, *_UNITS, *DOCUMENTS)
"""The words in the brackets of ``lines[...]:``."""


def is_program(kind: str) -> bool:
    """True if a name begins with ``cmd:`` or ``lines:``, or with one of them and words in brackets."""
    return kind.partition("[")[0] in _EXAMPLES


def program_command(name: str) -> list[str]:
    """The adapter's command line for ``cmd:COMMAND``, ``cmd[UNITS]:COMMAND`` or ``lines[WORD,...]:COMMAND``.

    The words of ``lines``: ``verdict`` (answers are yes or no), ``replace`` (it never refuses), the units of the text
    (by default ``utf-32``), and the kind of document around the octets (``json``, ``xml``, ...).

    Raises:
        UnknownTarget: the name is no command.
        TargetError: there is no such program.
    """
    shown = printable(name)
    whole, _, rest = name.partition(":")
    kind = whole.partition("[")[0]
    if sys.platform == "win32":
        raise UnknownTarget(f"{shown}: {kind}: needs POSIX; write an adapter")
    inside, closed = whole[len(kind) + 1 :].removesuffix("]"), whole.endswith("]")
    words = [word.strip() for word in inside.split(",")] if whole != kind else []
    if kind == _ONE_SHOT and words and not (closed and inside in _OUTPUTS):
        there_is = ", ".join(f"{kind}[{each}]:" for each in _OUTPUTS)
        raise UnknownTarget(f"{shown}: before the command write {kind}:, or {there_is}")
    if words and not closed:
        raise UnknownTarget(f"{shown}: the bracket has no end; write {kind}[{printable(inside)}]:COMMAND")
    for word in words if kind == _LINES else ():
        if word not in _WORDS:
            raise UnknownTarget(f"{shown}: in the brackets is {printable(word)}; {did_you_mean(word, _WORDS)}")
    try:
        command = shlex.split(rest)
    except ValueError as error:
        raise UnknownTarget(f"{shown}: {str(error)[:1].lower()}{str(error)[1:]} in the command") from None
    if not command:
        raise UnknownTarget(f"{shown}: write a command after the colon: '{_EXAMPLES[kind]}'")
    program = shutil.which(command[0])
    if program is None:
        here = "/" not in command[0] and Path(command[0]).is_file()
        remedy = f"write ./{command[0]}" if here else "install it, or fix PATH"
        raise TargetError(f"{shown}: there is no program '{printable(command[0])}'; {printable(remedy)}")
    if kind == _ONE_SHOT:
        return bare_script(ADAPTERS / "one_shot.py", inside or "verdict", program, *command[1:])
    return lines_command(
        [program, *command[1:]],
        operation=next((_MODES[word] for word in words if word in _MODES), "D"),
        units=next((word for word in words if word in _UNITS), _UNITS[0]),
        name=printable(command[0]),
        document=next((word for word in words if word in DOCUMENTS), ""),
        version="",
        language="",
    )


def lines_command(program: Sequence[str], **settings: str) -> list[str]:
    """The adapter's command line for a program, with the settings of lines.py, and traits."""
    return script(ADAPTERS / "lines.py", *(f"{key}={word}" for key, word in settings.items()), "--", *program)
