"""The limits of a target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of a target."""

    timeout: float = 5.0
    """The seconds for one request."""
    restarts: int = 100
    """The number of failures after which the run ends."""
    memory: int = 4 << 30
    """The octets that each of its processes may allocate, on Linux; 0 for no limit."""
    sandbox: bool = True
    """Contain its failures as well as this machine can."""
    threads: int = 0
    """Also call it in so many threads at once; 0: do not."""

    def as_words(self) -> list[str]:
        """Those that are not the usual ones, as words of a command line: ``--limit timeout=10``."""
        texts = {"timeout": f"{self.timeout:g}", "restarts": f"{self.restarts}", "memory": f"{self.memory}"}
        texts["sandbox"] = "on" if self.sandbox else "off"
        unusual = (f"{name}={text}" for name, text in texts.items() if getattr(self, name) != getattr(Limits, name))
        in_threads = ["--threads", str(self.threads)] if self.threads else []
        return [*(word for limit in unusual for word in ("--limit", limit)), *in_threads]
