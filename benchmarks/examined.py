"""Explanations: how well the examiner's rule predicts a wrong decoder of which the true condition is known.

Families of wrong decoders are drawn by a seed (``causes.py``): validators in C, decoders with output, replacers,
streams and Python callables. Each has one fault, whose condition Python knows as a predicate on questions
(``truth.py``). First the benchmark checks that: predicate and compiled decoder must agree on thousands of questions.

Then ``certify`` asks each decoder as a user would, and the examiner gets one string with a wrong answer. Its condition
is compared with the truth on fresh questions: half inside the truth, half just outside, with one factor changed.

    python benchmarks/examined.py                          everything: half an hour on two cores
    python benchmarks/examined.py --only validator         one kind, or one symbol, as x07; may be repeated
    python benchmarks/examined.py --no-certify             only the examiner
    python benchmarks/examined.py --json after.json --before before.json
                                                           keep all; and show the buckets of an earlier run beside these
    python benchmarks/examined.py --check                  only the check of the predicates: seconds
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Protocol, cast

from mutants import truth
from mutants.causes import STREAM, VALIDATOR, Cause, drawn
from mutants.questions import Question, drawn_inside, fresh
from overlong.conformance.support.process import module
from runner import of_children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROOM = "overlong.conformance"
PREDICTED = 0.99
"""The share of fresh questions that a rule must predict."""
_CHECKED = 300
_OCTETS, _OCTETS_CHECKED = 6_000_000, 600_000
"""The most octets of all questions of one decoder: models in Python read a million in a second."""
_LONGEST = 900.0


class Condition(Protocol):
    """A rule that predicts a decoder."""

    def holds(self, question: Question, /) -> bool:
        """True if the decoder answers the question wrongly for this cause.

        The question has ``octets``, ``earlier``, ``address`` and ``chunks``. It is about the whole input: if a right
        refusal hides the fault, the answer is not wrong, and the condition does not hold.
        """
        ...


class Explanation(Protocol):
    """The outcome of an examination."""

    @property
    def condition(self) -> Condition | None:
        """The rule; None if there is none."""
        ...

    @property
    def sentence(self) -> str:
        """The rule in words."""
        ...

    @property
    def asked(self) -> int:
        """The number of questions that the target was asked."""
        ...


class Examine(Protocol):
    """The examiner: explains one wrong answer."""

    def __call__(
        self,
        target: str | Sequence[str],
        octets: bytes,
        *,
        chunks: tuple[int, ...] | None = None,
        earlier: tuple[bytes, ...] = (),
        address: int = 0,
    ) -> Explanation:
        """Examine a target, by its name on the command line or its command, of which this input gets a wrong answer."""
        ...


@dataclass
class Measured:
    """What was measured of one decoder."""

    symbol: str
    kind: str
    family: str
    truth: str
    buckets: list[dict[str, str]] | None = None
    """Those of ``certify``: code, claim, place, and the words about the example; None if it was not asked."""
    notes: list[str] = field(default_factory=list[str])
    """Its sentences about sweeps."""
    certified: float = 0.0
    """Processor seconds of ``certify``."""
    share: float | None = None
    """The share of fresh questions that the examiner's rule predicts; None if there is no examiner."""
    fresh: int = 0
    asked: int = 0
    seconds: float = 0.0
    """Seconds of the examination, by the clock."""
    sentence: str = ""

    @property
    def says(self) -> str:
        """The sentence of the examiner; without it, what ``certify`` says."""
        if self.share is not None:
            return self.sentence
        words = dict.fromkeys([*self.notes, *(each["words"] for each in self.buckets or ())])
        return " · ".join(each for each in words if each) or "(none)"


def examiner() -> Examine | None:
    """The function of the room, if it is there."""
    try:
        return cast("Examine", importlib.import_module(ROOM).examine)
    except ModuleNotFoundError as error:
        if error.name != ROOM:
            raise
        return None


def check(causes: Iterable[Cause], models: truth.Models, compiled: truth.Compiled) -> None:
    """Compare predicates with the compiled decoders.

    Raises:
        SystemExit: one contradicts its decoder.
    """
    for cause in causes:
        random = Random(0)  # noqa: S311 (no secret)
        asked = [
            question
            for question, _ in _within(fresh(random, cause.draw, models.wrong(cause), _CHECKED), _OCTETS_CHECKED)
        ]
        some = [random.randbytes(random.randrange(12)) for _ in range(_CHECKED)]
        asked += [Question(each, chunks=(len(each),) if cause.kind == STREAM else None) for each in some]
        if found := truth.differences(cause, asked, models, compiled):
            raise SystemExit(f"{cause.symbol} ({cause.words}): the predicate contradicts the decoder about {found[0]}")


def _within(questions: Iterable[tuple[Question, bool]], most: int = _OCTETS) -> list[tuple[Question, bool]]:
    """The first questions, up to a number of octets."""
    found, octets = list[tuple[Question, bool]](), 0
    for each in questions:
        found.append(each)
        octets += len(each[0].octets)
        if octets > most:
            break
    return found


def certified(cause: Cause, measured: Measured) -> bytes | None:
    """Certify a decoder as a user would; return the input of its first bucket, if it was asked whole.

    Raises:
        SystemExit: there is no verdict, or the decoder is found right.
    """
    target, kept = truth.target(cause), Path("certified")
    words = [target] if isinstance(target, str) else ["--", *target]
    began = of_children()
    command = module("overlong", "certify", "-q", "-o", str(kept), *words)
    done = subprocess.run(command, capture_output=True, check=False, timeout=_LONGEST)
    measured.certified = of_children() - began
    if done.returncode not in {0, 1}:
        raise SystemExit(f"{cause.symbol}: {done.stderr.decode(errors='replace')}")
    records = [json.loads(line) for line in (kept / "results.jsonl").read_text("utf-8").splitlines()]
    found: list[dict[str, Any]] = [each for each in records if each["record"] == "bucket"]
    measured.buckets = [
        {
            "code": each["code"],
            "claim": each["claim"],
            "place": each["place"],
            "hex": each["example"]["hex"],
            "words": each["example"]["comment"],
        }
        for each in found
    ]
    measured.notes = records[-1]["notes"]
    whole = [each["example"] for each in found if not each["example"]["chunks"] and not each["example"]["earlier"]]
    return bytes.fromhex(whole[0]["hex"]) if whole else None


def examined(
    cause: Cause,
    wrong: Callable[[Question], bool],
    given: bytes | None,
    examine: Examine,
    count: int,
    measured: Measured,
) -> None:
    """Let the examiner explain one wrong answer, and compare its rule with the truth.

    Args:
        cause: the decoder.
        wrong: the truth.
        given: an input that ``certify`` found.
        examine: the examiner.
        count: the number of fresh questions.
        measured: gets the result.
    """
    random = Random(1)  # noqa: S311 (no secret)
    question = None if given is None or cause.kind == STREAM else Question(given)
    if question is None or not wrong(question):
        parts = drawn_inside(random, cause.draw, wrong)
        assert parts is not None, cause
        question = parts.question
    began = time.perf_counter()
    explanation = examine(
        truth.target(cause),
        question.octets,
        chunks=question.chunks,
        earlier=question.earlier,
        address=question.address,
    )
    measured.seconds = time.perf_counter() - began
    measured.asked, measured.sentence = explanation.asked, explanation.sentence
    questions = _within(fresh(random, cause.draw, wrong, count))
    condition = explanation.condition
    right = sum((condition is not None and condition.holds(each)) == answer for each, answer in questions)
    measured.fresh, measured.share = len(questions), right / len(questions)


def table(measured: Sequence[Measured], before: dict[str, Any]) -> str:
    """All decoders, in Markdown; ``before``: the buckets of an earlier run, by the truth in words."""
    text = "| | kind | truth | buckets before | buckets | predicted, % | fresh | questions | s | it says |\n"
    text += "|---|---|---|---:|---:|---:|---:|---:|---:|---|\n"
    for each in measured:
        earlier = before.get(each.truth, {}).get("buckets")
        cells = (
            each.symbol,
            each.kind,
            each.truth,
            "" if earlier is None else str(len(earlier)),
            "" if each.buckets is None else str(len(each.buckets)),
            "" if each.share is None else f"{100 * each.share:.1f}",
            *("" if each.share is None else word for word in (str(each.fresh), str(each.asked), f"{each.seconds:.2f}")),
            each.says.replace("|", "\\|"),
        )
        text += "| " + " | ".join(cells) + " |\n"
    return text


def summary(measured: Sequence[Measured]) -> dict[str, Any]:
    """The figures of some decoders."""
    counts = [len(each.buckets) for each in measured if each.buckets is not None]
    shares = [each.share for each in measured if each.share is not None]
    return {
        "decoders": len(measured),
        "predicted": sum(share >= PREDICTED for share in shares) / len(shares) if shares else None,
        "buckets": {"mean": sum(counts) / len(counts), "most": max(counts)} if counts else None,
        "longest": max((each.seconds for each in measured), default=0.0) if shares else None,
        "most_questions": max((each.asked for each in measured), default=0) if shares else None,
    }


def groups(measured: Sequence[Measured]) -> dict[str, dict[str, Any]]:
    """The figures of validators, and those of all others."""
    return {
        "validators": summary([each for each in measured if each.kind == VALIDATOR]),
        "others": summary([each for each in measured if each.kind != VALIDATOR]),
    }


def as_json(seed: int, measured: Sequence[Measured]) -> str:
    """All that was measured."""
    report = {"seed": seed, "summary": groups(measured), "decoders": [asdict(each) for each in measured]}
    return json.dumps(report, ensure_ascii=False, indent=1) + "\n"


def in_words(name: str, figures: dict[str, Any]) -> str:
    """The figures in a line."""
    words = [f"{figures['decoders']} {name}"]
    if (share := figures["predicted"]) is not None:
        words += [f"{100 * share:.0f} % predicted to at least {PREDICTED:.0%}"]
        words += [f"longest examination {figures['longest']:.2f} s, {figures['most_questions']} questions at most"]
    if buckets := figures["buckets"]:
        words += [f"{buckets['mean']:.2f} buckets on average, {buckets['most']} at most"]
    return "; ".join(words)


def _options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", metavar="KIND_OR_SYMBOL", help="measure only these")
    parser.add_argument("--count", type=int, default=2000, help="fresh questions for each decoder")
    parser.add_argument("--no-certify", action="store_true", help="do not count the buckets of certify")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured")
    parser.add_argument("--before", type=Path, metavar="FILE", help="such a file, of an earlier run")
    parser.add_argument("--check", action="store_true", help="only compare predicates with decoders")
    return parser.parse_args()


def main() -> int:
    """Check, measure, print."""
    options = _options()
    earlier: list[dict[str, Any]] = json.loads(options.before.read_bytes())["decoders"] if options.before else []
    kept = options.json and options.json.resolve()
    causes = drawn(options.seed)
    examine, results = examiner(), list[Measured]()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(folder := Path(name))
        truth.build(folder, causes)
        models, compiled = truth.Models(causes), truth.Compiled(folder, causes)
        causes = [each for each in causes if not options.only or {each.kind, each.symbol}.intersection(options.only)]
        check(causes, models, compiled)
        print(f"{len(causes)} wrong decoders; their predicates agree with them", flush=True)
        if options.check:
            return 0
        if examine is None:
            print(f"there is no {ROOM} yet: only certify is measured", flush=True)
        for cause in causes:
            measured = Measured(cause.symbol, cause.kind, cause.family, cause.words)
            given = None if options.no_certify else certified(cause, measured)
            if examine is not None:
                examined(cause, models.wrong(cause), given, examine, options.count, measured)
            results.append(measured)
            print(table([measured], {}).splitlines()[-1], flush=True)
            if kept:
                kept.write_text(as_json(options.seed, results), "utf-8")
        os.chdir("/")
    print("\n" + table(results, {each["truth"]: each for each in earlier}))
    for group, figures in groups(results).items():
        if figures["decoders"]:
            print(in_words(group, figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
