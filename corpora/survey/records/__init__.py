"""Decoders as data: a record names the packages of a decoder, and calls it in a few lines of its language.

A file of ``decoders/`` has the records of one language. ``languages.toml`` defines how to make a program of the lines
and the surrounding loop of ``loops/``; ``adapters/lines.py`` documents its input and output. ``witnesses.toml`` has
lines for decoders that ship with an adapter: they become programs that show a divergence, not targets.
``demonstrations.toml`` has whole programs for divergences that lines cannot show, ``known.toml`` what is documented or
was told before. docs/records.md explains how to write a record.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from corpora.survey.records.language import HERE, MANIFESTS, Language, languages
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.build import made, pkg_config_flags, said
from overlong.conformance.targets.builtins import Builtin
from overlong.conformance.targets.commands import lines_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


# Debian packages.


@lru_cache(maxsize=1)
def installed() -> dict[str, str]:
    """The installed Debian packages and their versions; empty on other systems."""
    try:
        asked = subprocess.run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package} ${Version}\n"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return {}
    rows = (line.split() for line in asked.stdout.splitlines())
    return {row[1]: row[2] for row in rows if len(row) == 3 and row[0] == "installed"}


def not_installed(packages: Sequence[str]) -> str:
    """Advice to install missing Debian packages; empty on other systems."""
    missing = [name for name in packages if installed() and name not in installed()]
    return f"install it (Debian: apt install {' '.join(missing)})" if missing else ""


_PACKAGE = re.compile(r"(?P<name>.+?)(?:==|@=|(?<=.)@|:)(?P<version>[^@:=+]+)(?P<features>(?:\+[^+]+)*)")
_OPERATIONS = {"decode": "D", "validate": "V", "replace": "L"}
_ROOM = "records"
_IMPORTS = ("import ", "with ")
"""The beginnings of lines that must precede all others."""


@dataclass(frozen=True)
class Record:
    """A decoder of the survey."""

    name: str
    what: str
    language: Language
    code: str
    """The definition of ``decode``, as the language's loop calls it."""
    packages: tuple[str, ...] = ()
    """The packages with exact versions, in the format of the language's package client."""
    debian: tuple[str, ...] = ()
    """The Debian packages that it needs."""
    links: tuple[str, ...] = ()
    pkg_config: str = ""
    document: str = ""
    """The kind of document around the octets: a word of documents.py; empty for none."""
    mode: str = "decode"
    error_mode: str = "replacement"
    intent: str = ""
    """Its documented departure from RFC 3629, and the source; empty if its documentation names none."""
    traits: tuple[str, ...] = ()
    """Traits for its greeting, ``MEMBER=WORD`` each."""

    @property
    def operation(self) -> str:
        """The operation that it offers."""
        return _OPERATIONS[self.mode]

    @property
    def needed(self) -> tuple[str, ...]:
        """The Debian packages that it needs, including those of its language unless that is installed."""
        return (*(self.language.debian if self.language.missing() else ()), *self.debian)

    def missing(self) -> str:
        """The packages to install to use it here; empty if none. Its own packages are fetched on use."""
        return self.language.missing() or not_installed(self.debian)

    def version(self) -> str:
        """The version that is installed or would be fetched; found without building anything."""
        if self.packages:
            name, version, _ = parts_of(self.packages[0])
            return f"{name.rpartition(':')[2]} {version}"
        if self.debian:
            return f"{self.debian[0]} {installed().get(self.debian[0], '')}".strip()
        asked = self.language.ask
        return self.language.prefix + said(*self.language.filled(asked)) if asked else ""

    def fetches(self) -> str:
        """The package that is fetched on first use."""
        return f"{parts_of(self.packages[0])[0]} of {self.language.registry}" if self.packages else ""

    def command(self) -> list[str]:
        """The command that starts it; fetches and builds it first.

        Raises:
            TargetError: it cannot be fetched or built; the message has the first error.
        """
        return lines_command(
            self.start(self.program("loops")),
            operation=self.operation,
            units=self.language.units,
            name=self.name,
            document=self.document,
            version=self.version(),
            language=self.language.language,
            error_mode=self.error_mode,
            **dict(each.split("=", 1) for each in self.traits),
        )

    def program(self, folder: str) -> str:
        """The text of a program: this record's code in the language's frame from a folder, ``loops`` or ``shows``.

        Imports go to the frame's place for them.
        """
        around = (HERE / folder / self.language.loop).read_text("utf-8")
        lines, imports = self.code.strip("\n").split("\n"), list[str]()
        if "@IMPORTS@" in around:
            while lines and (not lines[0].strip() or lines[0].startswith(_IMPORTS)):
                imports.append(lines.pop(0))
        return around.replace("@IMPORTS@", "\n".join(imports)).replace("@CODE@", "\n".join(lines))

    def start(self, text: str) -> list[str]:
        """The command that starts a program with this text; first fetches its packages and builds it.

        Raises:
            TargetError: it cannot be fetched or built; the message has the first error.
        """
        return self.language.filled(self.language.start, str(self._made(text)))

    def _made(self, text: str) -> Path:
        """The folder of a program."""
        language = self.language
        files = {language.source: text.encode()}
        if language.manifest:
            name, manifest = MANIFESTS[language.manifest](list(map(parts_of, self.packages)))
            files[name] = manifest.encode()
        more = {"packages": list(self.packages), "flags": self._flags()}
        steps = tuple(
            tuple(language.filled(_expanded(step, more)))
            for step in language.steps
            if self.packages or "{packages}" not in step
        )
        return made(
            *(self.name, _ROOM, files, steps),
            failure=self._failure,
            environment=language.environment,
            drop=language.drop,
        )

    def _flags(self) -> list[str]:
        return [*(pkg_config_flags(self.pkg_config) if self.pkg_config else ()), *self.links]

    def _failure(self, why: str) -> str:
        from_where = f"; its packages come from {self.language.registry}" if self.packages else ""
        return f"{self.name}: making its program failed: {printable(why, 200)}{from_where}"


def parts_of(package: str) -> tuple[str, str, list[str]]:
    """The name, version and features of a package: ``simd-json@=0.15.1+big`` has all three."""
    parts = _PACKAGE.fullmatch(package)
    if parts is None:
        raise TargetError(f"{printable(package)}: a record names packages with their exact versions")
    return parts["name"], parts["version"].strip(), [each for each in parts["features"].split("+") if each]


def _expanded(step: Sequence[str], more: Mapping[str, list[str]]) -> list[str]:
    """The words of a step; ``{packages}`` and ``{flags}`` expand to several."""
    return [each for word in step for each in more.get(word.strip("{}") if word.startswith("{") else "", [word])]


@lru_cache(maxsize=1)
def records() -> dict[str, Record]:
    """All records, by their names.

    Raises:
        TargetError: a file is no TOML, a key is unknown, or a name occurs twice; the message has the file.
    """
    spoken, read = languages(), dict[str, Record]()
    for path in sorted((HERE / "decoders").glob("*.toml")):
        try:
            for name, keys in tables(path):
                if name in read:
                    raise TypeError(f"[{name}] is in another file, too")
                read[name] = Record(name, language=spoken[path.stem], **keys)
        except (tomllib.TOMLDecodeError, TypeError, KeyError) as error:
            raise TargetError(f"the records of {path.name} cannot be read: {printable(str(error))}") from error
    return read


@lru_cache(maxsize=1)
def witnesses() -> dict[str, Record]:
    """Records that show divergences of decoders that ship with an adapter, by their names."""
    spoken, read = languages(), dict[str, Record]()
    for name, keys in tables(HERE / "witnesses.toml"):
        read[name] = Record(name, "", spoken[keys.pop("language")], **keys)
    return read


def tables(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records in a file, each as its name and its keys."""
    for name, table in tomllib.loads(path.read_text("utf-8")).items():
        yield name, {key: _frozen(value) for key, value in table.items()}


def _frozen(value: str | list[str]) -> str | tuple[str, ...]:
    return tuple(value) if isinstance(value, list) else value


@lru_cache(maxsize=1)
def surveyed() -> dict[str, Builtin]:
    """The decoders of records, in the form of those that ship with an adapter."""
    return {name: _as_builtin(record) for name, record in records().items()}


def _as_builtin(record: Record) -> Builtin:
    return Builtin(
        record.name,
        record.language.language,
        record.what,
        record.missing,
        record.command,
        record.version,
        fetches=record.fetches(),
    )


# Whole programs that each show one divergence of a decoder that ships with an adapter.


@dataclass(frozen=True)
class Demonstration:
    """A program that shows a divergence; demonstrations.toml explains each field."""

    record: Record
    """The requirements to build and run it; the record's code is the program."""
    payload: bytes
    chunks: tuple[int, ...] | None = None
    prints: str = ""
    """Its output; empty: the observed answer."""
    memory: str = ""
    """What it does to memory that is not its own, if that is what the program shows."""


@lru_cache(maxsize=1)
def demonstrations() -> dict[str, Demonstration]:
    """All demonstrations, by ``ID-CODE``."""
    spoken, read = languages(), dict[str, Demonstration]()
    for name, keys in tables(HERE / "demonstrations.toml"):
        own = {key: keys.pop(key) for key in ("chunks", "prints", "memory") if key in keys}
        payload, language, program = (keys.pop(key) for key in ("payload", "language", "program"))
        record = Record(name, "", spoken[language], program.lstrip("\n"), **keys)
        read[name] = Demonstration(record, bytes.fromhex(payload), **own)
    return read


# What is known of decoders beside their records: what is documented, and what maintainers were told before.


@dataclass(frozen=True)
class Known:
    """What is known of a decoder; known.toml explains each field."""

    documented: str = ""
    upstream: str = ""
    note: str = ""
    fix: str = ""


@lru_cache(maxsize=1)
def _known() -> dict[str, Known]:
    return {name: Known(**keys) for name, keys in tables(HERE / "known.toml")}


def known(name: str) -> Known:
    """What is known of a decoder."""
    return _known().get(name, Known())


def documented(name: str) -> str:
    """The documented departure of a decoder from RFC 3629, and the source; empty if its documentation names none."""
    record = records().get(name)
    return record.intent if record is not None else known(name).documented
