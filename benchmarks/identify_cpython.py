"""The cost of identifying: ``overlong identify`` of decoders in this machine's Python, with the start of the worker.

Beside the seconds stands the ratio to a bare loop that decodes as many strings, in the same run.
Bound: 5 seconds.

    python benchmarks/identify_cpython.py [ROUNDS]
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from overlong.conformance.models.identify import identify
from runner import arguments, bare_loop, figure

BOUND = 5.0
VALIDATOR = """
def valid(octets):
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True
"""


def main() -> None:
    """Print seconds and ratios."""
    rounds = arguments(__doc__, rounds=5).rounds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "validator.py"
        path.write_text(VALIDATOR, "ascii")
        for name, target in (("a validator", f"py:{path}:valid"), ("bytes.decode, strict and replacing", "cpython")):
            seconds, ratios, asked = list[float](), list[float](), 0
            for _ in range(rounds):
                started = time.perf_counter()
                model = identify(target)
                seconds.append(time.perf_counter() - started)
                assert all(part.exact for part in model.parts)
                asked = model.questions
                ratios.append(seconds[-1] / bare_loop([number.to_bytes(3, "big") for number in range(asked)]))
            print(f"{name}: {asked:,} strings asked")
            figure(f"identify {name}", seconds, "s", at_most=BOUND)
            figure(f"identify {name} / bare loop", ratios)


if __name__ == "__main__":
    main()
