"""Adapter for programs that need a clean-up: ``attended.py postgresql FOLDER`` and ``attended.py chromium PROGRAM``.

A child process does the work, and its parent cleans up afterwards: it ends the program, and removes its folder.

PostgreSQL's ``convert_from(bytea, 'UTF8')``; FOLDER has initdb and postgres. The adapter makes a database cluster in a
temporary folder, and a standalone backend serves it (``postgres --single``): no server, no socket, and no process
except this one's child. ``ascii`` gives each character's code point, as the database reads it.

TextDecoder in a headless Chromium: the adapter drives the browser through a pipe (``--remote-debugging-pipe``). The
browser listens to no network, and its profile is a temporary folder. ``chromium_textdecoder.js``, in an empty page,
answers.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import contextlib
import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING, Any

from overlong.conformance.support.files import TemporaryFolder
from overlong.conformance.targets.adapters.serving import Refusal, answer_frames, own_output, serve, unbatched

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from io import FileIO

    from overlong.conformance.targets.adapters.serving import Answerer

if sys.platform == "win32":
    raise ImportError("what is attended is forked, which needs POSIX")

_TRIES = 50
_PAUSE = 0.02

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

SCRIPT = Path(__file__).with_name("chromium_textdecoder.js")
_FLAGS = (
    *("--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    *("--disable-breakpad", "--disable-crash-reporter"),
)
_FREE = 10  # descriptors from this one on are free
_READ = 1 << 20


@contextlib.contextmanager
def folder_for(program: str) -> Generator[str]:
    """A folder that is removed at the end, also if the worker ends because the program failed."""
    temporary = TemporaryFolder(program)
    folder = str(temporary.path)
    try:
        yield folder
    finally:
        remove(folder)
        temporary.close()


def remove(folder: str) -> None:
    """Remove a folder. Dying processes may still write into it for a moment."""
    for _ in range(_TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):  # noqa: PTH110 (a name is all there is)
            return
        time.sleep(_PAUSE)


def attended(work: Callable[[], None], clean: Callable[[], None]) -> None:
    """Do ``work`` in a child, then ``clean`` up, and end as the child did. Both processes are in one group."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (what the parent has to do must not be done here)
            words = str(error) if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
            os.write(2, f"{words}\n".encode("utf-8", "backslashreplace"))
            os._exit(1)
        os._exit(0)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        clean()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        os.kill(os.getpid(), -code)
    sys.exit(code)


def _memory_of_its_own() -> bool:
    """Make System V shared memory, which would outlive a killed backend, end with this process; True on success."""
    try:
        return bool(ctypes.CDLL(None).unshare(_NEW_IPC) == 0)
    except (OSError, AttributeError):  # not Linux
        return False


def _not_root() -> tuple[int | None, int | None, tuple[int, ...] | None]:
    """The user, group and further groups to run as: PostgreSQL refuses root. None: the current ones.

    Raises:
        SystemExit: there is no other user.
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
    raise SystemExit("PostgreSQL refuses root, and there is no user postgres or nobody to run it as")


def _backend(programs: Path, folder: str) -> tuple[Answerer, Callable[[signal.Signals], None]]:
    """A decoder of values by a standalone backend, which gets its own database in ``folder``; and what ends it.

    SIGTERM removes its shared memory; SIGKILL is faster.

    Raises:
        SystemExit: it cannot be made.
    """
    user, group, more_groups = _not_root()
    if user is not None and group is not None:
        os.chown(folder, user, group)
    cluster = f"{folder}/cluster"
    words = ("--no-sync", "--encoding=UTF8", "--locale=C", "--auth=trust", "--pgdata", cluster)
    try:
        made = subprocess.run(
            [programs / "initdb", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            cwd=folder,
            user=user,
            group=group,
            extra_groups=more_groups,
        )
    except (OSError, subprocess.SubprocessError) as error:  # SubprocessError: no permission to become that user
        raise SystemExit(f"initdb cannot be run: {error}") from error
    if made.returncode != 0:
        lines = made.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
        raise SystemExit(lines[0] if lines else "initdb failed")
    process = subprocess.Popen(
        [programs / "postgres", "--single", "-j", "-F", *_QUIET, "-D", cluster, "postgres"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        user=user,
        group=group,
        extra_groups=more_groups,
    )
    asks, answers = process.stdin, process.stdout
    assert asks is not None
    assert answers is not None

    def read() -> bytes:
        """The output up to the next prompt."""
        said = bytearray()
        while not said.endswith(_PROMPT):
            octets = os.read(answers.fileno(), 1 << 20)
            if not octets:
                raise SystemExit("the backend has ended")
            said += octets
        return bytes(said[: -len(_PROMPT)])

    def ask(statement: str) -> bytes:
        asks.write(f"{statement.strip()};\n\n".encode("ascii"))
        asks.flush()
        return read()

    def decode(many: Sequence[bytes]) -> list[str | Refusal]:
        """The code points of each value, or its refusal."""
        items = f"{{{','.join([_ITEM % octets.hex() for octets in many])}}}"
        answer = _VALUE.search(ask(_TOGETHER % items)) or _VALUE.search(ask(_ONE_BY_ONE % items))
        if answer is None:
            raise SystemExit("the backend did not answer a batch")
        return [
            Refusal() if points == "-" else "".join([chr(int(point, 16)) for point in points.split()])
            for points in answer[1].decode("ascii").split(",")
        ]

    def close(ending: signal.Signals) -> None:
        process.send_signal(ending)
        process.wait()

    read()
    for statement in (*_DROP_TEMPLATES, _DECODER):
        ask(statement)
    return decode, close


def postgresql(folder_of_programs: str, answers: FileIO) -> None:
    """Start a backend, serve it, end it."""
    programs = Path(folder_of_programs)
    version = subprocess.run([programs / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    ending = signal.SIGKILL if _memory_of_its_own() else signal.SIGTERM
    with folder_for("postgresql") as folder:
        decode, close = _backend(programs, folder)
        traits = {"version": version.strip(), "language": "C", "nul": "refused"}
        attended(lambda: serve({"D": decode}, "postgresql", traits, answers), lambda: close(ending))


def _page(program: str, folder: str) -> tuple[int, str, Callable[[str], Any]]:
    """Start a browser with an empty page, and the script in it; its profile is in ``folder``.

    Returns:
        The browser's process, its version, and a function that gives the value of an expression in the page; it raises
        SystemExit if that throws, or if the browser has ended.

    Raises:
        SystemExit: it does not start.
    """
    told = Path(folder, "said")
    # The browser reads commands from its descriptor 3, and writes to 4.
    theirs, commands = map(_moved, os.pipe())
    messages, ours = map(_moved, os.pipe())
    # As root, the browser cannot use its own sandbox. It opens only the empty page.
    more = ["--no-sandbox"] if os.geteuid() == 0 else []
    browser = os.posix_spawn(
        program,
        [program, *_FLAGS, *more, f"--user-data-dir={folder}", "about:blank"],
        {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder, "TMPDIR": folder},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(told), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, theirs, 3),
            (os.POSIX_SPAWN_DUP2, ours, 4),
        ],
    )
    os.close(theirs)
    os.close(ours)
    unread, number, session = b"", 0, dict[str, str]()

    def ended() -> SystemExit:
        lines = told.read_text("utf-8", "backslashreplace").strip().splitlines()
        return SystemExit(f"the browser has ended; it said {lines[-1] if lines else 'nothing'}")

    def following() -> dict[str, Any]:
        """The next message."""
        nonlocal unread
        parts = [unread]
        while b"\0" not in parts[-1]:
            parts.append(os.read(messages, _READ))
            if not parts[-1]:
                raise ended()
        message, _, unread = b"".join(parts).partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def ask(method: str, **parameters: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        command = {"id": number, "method": method, "params": parameters, **session}
        octets = memoryview(json.dumps(command).encode("ascii") + b"\0")
        try:
            while octets:
                octets = octets[os.write(commands, octets) :]
        except BrokenPipeError as error:
            raise ended() from error
        while (message := following()).get("id") != number:
            pass  # events, which answer no command
        if "error" in message:
            raise SystemExit(f"{method}: {message['error'].get('message')}"[:200])
        result: dict[str, Any] = message["result"]
        return result

    def evaluate(expression: str) -> Any:
        answer = ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise SystemExit(str(answer["exceptionDetails"].get("exception", {}).get("description", "it throws"))[:200])
        return answer["result"]["value"]

    version: str = ask("Browser.getVersion")["product"]
    made = ask("Target.createTarget", url="about:blank")
    session["sessionId"] = ask("Target.attachToTarget", targetId=made["targetId"], flatten=True)["sessionId"]
    evaluate(f"{SCRIPT.read_text('utf-8')}; 0")
    return browser, version, evaluate


def _moved(descriptor: int) -> int:
    """The same pipe, moved away from the descriptors that the browser expects."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FREE)
    os.close(descriptor)
    return moved


def _unbatched(operation: str, response: bytes) -> bytes:
    """The response to a single request, from that to a batch of one."""
    number, output = response[2:6], response[8:]
    units = int.from_bytes(number, "big") * (1 if operation in "EF" else 2) if response[1:2] == b"A" else 0
    return unbatched((response[1:2], number, response[6:7], response[7:8], output[:units], output[units:]))


def chromium(program: str, answers: FileIO) -> None:
    """Start a browser, serve its page, end it."""
    with folder_for("chromium") as folder:
        browser, version, evaluate = _page(program, folder)

        def respond(operation: str, payload: bytes, batched: bool) -> list[bytes]:  # noqa: FBT001
            """The response to a request, in parts."""
            if not batched:
                payload = struct.pack(">II", 1, len(payload)) + payload
            asked = b2a_base64(operation.encode("ascii") + payload, newline=False).decode()
            response = a2b_base64(evaluate(f"respond('{asked}')"))
            return [response[:1], response[1:]] if batched else [_unbatched(operation, response)]

        def work() -> None:
            """Greet, then answer until the input ends."""
            offered: str = evaluate("offered")
            greeting = {
                "overlong": 1,
                "name": "chromium-textdecoder",
                "version": version,
                "language": "JavaScript",
                "operations": f"PB{offered}",
                "units": "utf-16",
                "error_mode": "replacement",
                "encode_errors": "replacement",
                "stream_refusals": "marked",
            }
            answer_frames(greeting, offered, respond, answers)

        def close() -> None:
            """End the browser; its children end soon after."""
            with contextlib.suppress(ProcessLookupError):
                os.kill(browser, signal.SIGKILL)
            os.waitpid(browser, 0)

        attended(work, close)


if __name__ == "__main__":
    {"postgresql": postgresql, "chromium": chromium}[sys.argv[1]](sys.argv[2], own_output())
