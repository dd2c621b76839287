"""Adapter for PostgreSQL's ``convert_from(bytea, 'UTF8')``: ``postgresql.py FOLDER``, the one with initdb and postgres.

The adapter makes a database cluster in a temporary folder, and a standalone backend serves it (``postgres --single``):
no server, no socket, and no process except this one's child. ``ascii`` gives each character's code point, as the
database reads it.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import ctypes
import os
import re
import signal
import subprocess
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.attended import ChildFailed, attended, folder_for
from overlong.conformance.targets.adapters.serving import Refusal, own_output, serve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.targets.adapters.serving import Answerer

if sys.platform == "win32":
    raise ImportError("the backend is forked, which needs POSIX")

_NEW_IPC = 0x08000000  # CLONE_NEWIPC
_PROMPT = b"backend> "
_QUIET = ("-c", "log_min_messages=fatal")  # otherwise stderr gets a copy of each failing statement
_DROP_TEMPLATES = (  # two thirds of the files; removing them must take less than a second
    "UPDATE pg_database SET datistemplate = false",
    "DROP DATABASE template0",
    "DROP DATABASE template1",
)
_POINTS = """(
    SELECT coalesce(string_agg(to_hex(ascii(character)), ' ' ORDER BY place), '')
    FROM string_to_table(convert_from(octets, 'UTF8'), NULL) WITH ORDINALITY AS each (character, place))"""
_DECODER = f"""
CREATE FUNCTION points(octets bytea) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN {_POINTS};
EXCEPTION WHEN character_not_in_repertoire THEN RETURN '-';
END $$"""
_EACH = """
SELECT string_agg({}, ',' ORDER BY place) FROM unnest('%s'::bytea[]) WITH ORDINALITY AS each (octets, place)"""
_TOGETHER, _ONE_BY_ONE = _EACH.format(_POINTS), _EACH.format("points(octets)")
"""The first is twice as fast, and fails if any value is refused."""
_ITEM = r'"\\x%s"'
_VALUE = re.compile(rb'= "([-0-9a-f ,]*)"')


def _memory_of_its_own() -> bool:
    """Make System V shared memory, which would outlive a killed backend, end with this process; True on success."""
    try:
        return bool(ctypes.CDLL(None).unshare(_NEW_IPC) == 0)
    except (OSError, AttributeError):  # not Linux
        return False


def _not_root() -> tuple[int | None, int | None, tuple[int, ...] | None]:
    """The user, group and further groups to run as: PostgreSQL refuses root. None: the current ones.

    Raises:
        ChildFailed: there is no other user.
    """
    if os.geteuid() != 0:
        return None, None, None
    import pwd

    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return found.pw_uid, found.pw_gid, ()
    raise ChildFailed("PostgreSQL refuses root, and there is no user postgres or nobody to run it as")


class Backend:
    """A standalone backend with its own database."""

    def __init__(self, programs: Path, folder: str) -> None:
        """Make the database in ``folder``, which is empty.

        Raises:
            ChildFailed: it cannot be made.
        """
        user, group, more_groups = _not_root()
        if user is not None and group is not None:
            os.chown(folder, user, group)
        cluster = f"{folder}/cluster"
        words = ("--no-sync", "--encoding=UTF8", "--locale=C", "--auth=trust")
        try:
            made: subprocess.CompletedProcess[bytes] = subprocess.run(
                [programs / "initdb", *words, "--pgdata", cluster],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                cwd=folder,
                user=user,
                group=group,
                extra_groups=more_groups,
            )
        except (OSError, subprocess.SubprocessError) as error:  # SubprocessError: no permission to become that user
            raise ChildFailed(f"initdb cannot be run: {error}") from error
        if made.returncode != 0:
            lines = made.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
            raise ChildFailed(lines[0] if lines else "initdb failed")
        self._postgres = subprocess.Popen(
            [programs / "postgres", "--single", "-j", "-F", *_QUIET, "-D", cluster, "postgres"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            user=user,
            group=group,
            extra_groups=more_groups,
        )
        self._read()
        for statement in (*_DROP_TEMPLATES, _DECODER):
            self._ask(statement)

    def decode(self, many: Sequence[bytes]) -> list[str | Refusal]:
        """The code points of each value, or its refusal."""
        items = f"{{{','.join([_ITEM % octets.hex() for octets in many])}}}"
        answer = _VALUE.search(self._ask(_TOGETHER % items)) or _VALUE.search(self._ask(_ONE_BY_ONE % items))
        if answer is None:
            raise ChildFailed("the backend did not answer a batch")
        return [
            Refusal() if points == "-" else "".join([chr(int(point, 16)) for point in points.split()])
            for points in answer[1].decode("ascii").split(",")
        ]

    def close(self, ending: signal.Signals) -> None:
        """End it. SIGTERM removes its shared memory; SIGKILL is faster."""
        self._postgres.send_signal(ending)
        self._postgres.wait()

    def _ask(self, statement: str) -> bytes:
        assert self._postgres.stdin is not None
        self._postgres.stdin.write(f"{statement.strip()};\n\n".encode("ascii"))
        self._postgres.stdin.flush()
        return self._read()

    def _read(self) -> bytes:
        """Read its output up to the next prompt."""
        assert self._postgres.stdout is not None
        read = bytearray()
        while not read.endswith(_PROMPT):
            octets = os.read(self._postgres.stdout.fileno(), 1 << 20)
            if not octets:
                raise ChildFailed("the backend has ended")
            read += octets
        return bytes(read[: -len(_PROMPT)])


def main() -> None:
    """Start a backend, serve it, end it."""
    programs, answers = Path(sys.argv[1]), own_output()
    version = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    ending = signal.SIGKILL if _memory_of_its_own() else signal.SIGTERM
    with folder_for("postgresql") as folder:
        backend = Backend(programs, folder)
        operations: dict[str, Answerer] = {"D": backend.decode}
        traits = {"version": version.strip(), "language": "C", "nul": "refused"}
        attended(lambda: serve(operations, "postgresql", traits, answers), lambda: backend.close(ending))


if __name__ == "__main__":
    main()
