"""Adapter for TextDecoder in a headless Chromium: ``chromium.py PROGRAM``.

The adapter drives the browser through a pipe (``--remote-debugging-pipe``): the browser listens to no network, and its
profile is a temporary folder. ``chromium_textdecoder.js``, in an empty page, answers.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import contextlib
import fcntl
import json
import os
import signal
import struct
from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.adapters.attended import ChildFailed, attended, folder_for
from overlong.conformance.targets.adapters.serving import answer_frames, own_output, unbatched

if TYPE_CHECKING:
    from io import FileIO

if sys.platform == "win32":
    raise ImportError("the browser is driven through its descriptors 3 and 4, which needs POSIX")

SCRIPT = Path(__file__).with_name("chromium_textdecoder.js")
_FLAGS = (
    *("--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    *("--disable-breakpad", "--disable-crash-reporter"),
)
_FREE = 10  # descriptors from this one on are free
_READ = 1 << 20


class Page:
    """An empty page in a browser, with the script in it."""

    def __init__(self, program: str, folder: str) -> None:
        """Start the browser, with its profile in ``folder``.

        Raises:
            Failed: it does not start.
        """
        self._said = Path(folder, "said")
        # The browser reads commands from its descriptor 3, and writes to 4.
        commands, self._commands = map(_moved, os.pipe())
        self._messages, messages = map(_moved, os.pipe())
        # As root, the browser cannot use its own sandbox. It opens only the empty page.
        more = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._browser = os.posix_spawn(
            program,
            [program, *_FLAGS, *more, f"--user-data-dir={folder}", "about:blank"],
            {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder, "TMPDIR": folder},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(self._said), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
                (os.POSIX_SPAWN_DUP2, commands, 3),
                (os.POSIX_SPAWN_DUP2, messages, 4),
            ],
        )
        os.close(commands)
        os.close(messages)
        self._unread = b""
        self._number = 0
        self._session: dict[str, str] = {}
        self.version: str = self._ask("Browser.getVersion")["product"]
        made = self._ask("Target.createTarget", url="about:blank")
        attached = self._ask("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        self.evaluate(f"{SCRIPT.read_text('utf-8')}; 0")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page.

        Raises:
            Failed: it throws, or the browser has ended.
        """
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ChildFailed(
                str(answer["exceptionDetails"].get("exception", {}).get("description", "it throws"))[:200]
            )
        return answer["result"]["value"]

    def respond(self, operation: str, payload: bytes, batched: bool) -> list[bytes]:  # noqa: FBT001
        """The response to a request, in parts."""
        if not batched:
            payload = struct.pack(">II", 1, len(payload)) + payload
        asked = b2a_base64(operation.encode("ascii") + payload, newline=False).decode()
        response = a2b_base64(self.evaluate(f"respond('{asked}')"))
        return [response[:1], response[1:]] if batched else [_unbatched(operation, response)]

    @property
    def offered(self) -> str:
        """The operations that the script offers."""
        if not hasattr(self, "_offered"):
            self._offered: str = self.evaluate("offered")
        return self._offered

    def close(self) -> None:
        """End the browser; its children end soon after."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._browser, signal.SIGKILL)
        os.waitpid(self._browser, 0)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters, **self._session}
        octets = memoryview(json.dumps(command).encode("ascii") + b"\0")
        try:
            while octets:
                octets = octets[os.write(self._commands, octets) :]
        except BrokenPipeError as error:
            raise self._ended() from error
        while (message := self._next()).get("id") != self._number:
            pass  # events, which answer no command
        if "error" in message:
            raise ChildFailed(f"{method}: {message['error'].get('message')}"[:200])
        result: dict[str, Any] = message["result"]
        return result

    def _next(self) -> dict[str, Any]:
        """The next message."""
        parts = [self._unread]
        while b"\0" not in parts[-1]:
            parts.append(os.read(self._messages, _READ))
            if not parts[-1]:
                raise self._ended()
        message, _, self._unread = b"".join(parts).partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def _ended(self) -> ChildFailed:
        lines = self._said.read_text("utf-8", "backslashreplace").strip().splitlines()
        return ChildFailed(f"the browser has ended; it said {lines[-1] if lines else 'nothing'}")


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


def _serve(page: Page, answers: FileIO) -> None:
    """Greet, then answer until the input ends."""
    greeting = {
        "overlong": 1,
        "name": "chromium-textdecoder",
        "version": page.version,
        "language": "JavaScript",
        "operations": f"PB{page.offered}",
        "units": "utf-16",
        "error_mode": "replacement",
        "encode_errors": "replacement",
        "stream_refusals": "marked",
    }
    answer_frames(greeting, page.offered, page.respond, answers)


def main() -> None:
    """Start a browser, serve its page, end it."""
    answers = own_output()
    with folder_for("chromium") as folder:
        page = Page(sys.argv[1], folder)
        attended(lambda: _serve(page, answers), page.close)


if __name__ == "__main__":
    main()
