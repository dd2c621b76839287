"""Record the answers of two states of the project, and compare them.

    python benchmarks/same_answers.py record FOLDER [--overlong COMMAND] [--only GLOB]
    python benchmarks/same_answers.py compare BEFORE AFTER [--common]

``record`` runs the command line of overlong, of any checkout, and keeps in ``FOLDER/answers.json``: digests of the
vectors of all suites and of every exported file; help, explanations and error messages; sweeps, campaigns and
identified decoders; quick certificates of every decoder that ships with an adapter; and full certificates of wrong
decoders, with their times. An interrupted record goes on where it stopped. A whole record takes about an hour of one
core.

``compare`` prints each difference with its path, and exits with 1 if there is one. It leaves out keys that change from
run to run (:data:`UNSTEADY`), shows times without comparing them, and treats old and new names of a suite as equal.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from planted.bugs import bugs
from planted.tables import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
ANSWERS = "answers.json"
UNSTEADY = frozenset({"time", "times", "generator", "environment", "version", "seconds", "isolation", "subject"})
"""Keys whose values belong to one run or machine, and digests of targets, which change with their adapters."""
DECODERS = ("known_wrong.py", "wrong_replacers.py", "wrong_encoders.py", "offset_sayers.py")
"""Decoders of the tests, copied to the working folder, so that names are the same in every checkout."""
SECONDS = re.compile(r"\b\d[\d ]*(?:\.\d+)? s\b")
PASSING = ("covered ",)
"""Beginnings of lines to drop: the occasional progress of ``score``."""


# Questions -----------------------------------------------------------------------------------------------------------

OF_OCTETS = (
    *("core", "complete-0", "complete-0-refusing", "complete-0-replacing", "scalars", "scalars-between"),
    *("runs", "streams", "chunking", "complete-0-in-chunks", "exhaustive-1", "exhaustive-2"),
)
LONG_LINES = frozenset({"chunking"})
"""Suites that are exported only as frames, because lines would take a minute."""
FORMATS = (
    *("json", "jsonl", "tsv", "c-header", "rust", "go", "javascript", "java"),
    *("text", "frames", "libfuzzer", "arrow", "parquet"),
)
VERBS = (
    *("certify", "identify", "matrix", "diff", "sweep", "report", "verify", "fuzz", "finding", "finding list"),
    *("finding show", "finding test", "replay", "explain", "vectors", "vectors check", "vectors export"),
    *("vectors list", "vectors show", "vectors score", "target", "target list", "target new", "target check"),
)
SAYINGS = (
    *("explain E0 80 AF", "explain ED A0 80", "explain F4 90 80 80", "explain 41 C3", "explain codes", "explain OV201"),
    *("explain OV301", "explain OV501", "explain --profile cesu-8 ED A0 80 ED B0 80", "explain overlong/e080af"),
    *("vectors list OV201", "vectors list --suite streams", "vectors list --format json surrogate"),
    *("vectors show overlong/e080af", "vectors list --suite nonsense", "vectors export --format nonsense"),
    *("certify nonsense", "certify --suite nonsense cpython", "certify --profile nonsense cpython", "certify"),
    *(
        "sweep --plan exhaustive-9 cpython",
        "fuzz --runs many cpython",
        "replay nonsense/00 cpython",
        "verify nothing.json",
    ),
    *("report nothing", "certify py:nothing.py:decode", "certify py:known_wrong.py:nothing", "diff nothing nothing"),
    "replay E080AF py:known_wrong.py:overlong_slash",
    "replay surrogate/eda080 py:known_wrong.py:surrogates",
    "replay chunking/e282.ac py:known_wrong.py:EachChunkByItself",
    "replay --profile mutf-8 C080 py:known_wrong.py:nul_in_two_octets",
    "target check py:known_wrong.py:surrogates",
    "target check py:wrong_encoders.py:right",
    "--self-test",
    "vectors score --fail-under 100 core.tsv",
    "vectors score --format json streams.tsv",
)
IDENTIFIED = ("surrogates", "five_octets", "one_for_each_octet", "LosesTwoOfFour", "always_true")
SMALL = (
    "--plan",
    "exhaustive-2",
    "--plan",
    "depth-0",
    "--plan",
    "placed-4",
    "--plan",
    "lengths-64",
    "--plan",
    "pairs",
    "--plan",
    "order",
)
LARGE = (
    "--plan",
    "exhaustive-3",
    "--plan",
    "depth-1",
    "--plan",
    "placed-16",
    "--plan",
    "lengths-128",
    "--plan",
    "pairs",
    "--plan",
    "order",
)
IN_FULL = ("--thorough", "--plan", "depth-0", "--plan", "placed-8")
BUILTINS = ("--quick", "--limit", "timeout=60")
IN_PART = ("--quick",)
KNOWN_WRONG = (
    *("nul_in_two_octets", "overlong_slash", "surrogates", "surrogate_pairs", "five_octets", "truncated_at_the_end"),
    *("lone_tails", "nothing_checked_after_64_octets", "no_more_than_three_octets", "strips_the_signature"),
    *("sixteen_bits", "remembers_the_last_error", "offset_is_one_too_large", "length_is_always_one"),
    *("more_input_always_helps", "one_for_each_octet", "drops_instead", "LosesTwoOfFour", "EachChunkByItself"),
)
"""Decoders of the tests: those that are certified in full, and those without the scalar values."""
ALSO_WRONG = (
    *("turned_round", "only_c1_slips_through", "up_to_13ffff", "lead_before_ascii", "skips_fe_and_ff", "no_nul"),
    *("one_character_is_another", "one_for_each_run", "ForgetsTheEnd", "SignatureInEachChunk"),
    *("KeepsStateAfterAnError", "WithholdsEverything", "RefusesLate", "OffsetsCountFromTheChunk"),
    "reads_past_the_end",
)
OTHERS_WRONG = (
    *("wrong_replacers.py:one_too_many_for_e0_80", "wrong_replacers.py:absorbs_any_tails"),
    *("wrong_replacers.py:runs_of_four", "wrong_replacers.py:question_marks", "wrong_replacers.py:speaks_cesu_8"),
    *("wrong_replacers.py:the_whole_as_windows_1252", "offset_sayers.py:off_by_one", "offset_sayers.py:quoted"),
    *("wrong_encoders.py:surrogatepass", "wrong_encoders.py:no_pairs", "wrong_encoders.py:wrong_mask"),
    "wrong_encoders.py:question_marks_for_replacements",
)
COMPILED = (
    *("surrogates", "three_across_64", "no_nul", "any_end", "signature_stripped", "low_half_first"),
    *("offset_of_offender", "cut_at_16_bits", "stream_loses_all", "stream_end_unseen", "aborts_on_f8"),
)
"""Planted bugs: functions of a shared library, which sweeps and campaigns call in a compiled loop."""
SWEPT = ("surrogates", "always_true", "offset_is_one_too_large", "one_for_each_run", "five_octets")
OTHER_PROFILES = {"surrogates": "wtf-8", "surrogate_pairs": "cesu-8", "nul_in_two_octets": "mutf-8"}
CAMPAIGNS = {
    "surrogates": "20k",
    "overlong_slash": "20k",
    "LosesTwoOfFour": "5k",
    "one_for_each_run": "5k",
    "always_false": "5k",
}
WHOLLY_WRONG = (
    *("right_validator", "right_decoder", "refuses_all", "accepts_all", "refuses_all_at_0", "latin_1"),
    *("refuses_all_but_ascii", "always_empty", "one_octet_late", "no_replacement_character", "EachChunkLatin1"),
)
"""Decoders of ``wrong_everywhere.py``; the others' times are compared with those of the right ones."""
WHOLLY_WRONG_IN_FULL = frozenset(WHOLLY_WRONG[:6])
REPORTED = ("surrogates", "offset_is_one_too_large")
REPORTS = ("text", "json", "markdown", "html", "junit", "sarif", "badge")


@dataclass
class Commands:
    """Runs the command line of a checkout in a folder of its own."""

    overlong: list[str]
    folder: Path

    def run(self, words: Iterable[str], *, standard_input: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run it on some words."""
        environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
        return subprocess.run(
            [*self.overlong, *words],
            cwd=self.folder,
            env=environment,
            input=standard_input,
            stdin=subprocess.DEVNULL if standard_input is None else None,
            capture_output=True,
            check=False,
        )

    def said(self, words: Iterable[str]) -> dict[str, Any]:
        """Exit code, text and errors."""
        done = self.run(words)
        return {"exit": done.returncode, "says": paragraphs(done.stdout), "notes": paragraphs(done.stderr)}

    def digest(self, words: Iterable[str]) -> dict[str, Any]:
        """Exit code, and the digest of the output."""
        digest, octets = hashlib.sha256(), 0
        with subprocess.Popen(
            [*self.overlong, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            while block := process.stdout.read(1 << 20):
                digest.update(block)
                octets += len(block)
        return {"exit": process.returncode, "octets": octets, "sha256": digest.hexdigest()}

    def fresh(self, name: str) -> Path:
        """The path of a new folder for a command's output."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return self.folder / name


def pieces(commands: Commands) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything to record: its path, and the function that asks for it."""
    for suite in OF_OCTETS:
        for shape in ("frames",) if suite in LONG_LINES else ("frames", "jsonl"):
            words = ("vectors", "export", "--suite", suite, "--format", shape)
            yield f"vectors/{suite}/{shape}", partial(commands.digest, words)
    for shape in FORMATS:
        yield f"files/{shape}", partial(exported, commands, shape)
    for verb in ("", *VERBS):
        yield f"help/{verb or 'overlong'}", partial(commands.said, (*verb.split(), "--help"))
    for line in SAYINGS:
        yield f"says/{line}", partial(commands.said, line.split())
    for name in IDENTIFIED:
        yield f"identify/{name}", partial(identified, commands, py(name))
    yield from swept_pieces(commands)
    for name, runs in CAMPAIGNS.items():
        yield f"campaigns/{name}", partial(campaign, commands, runs, py(name))
    for name in ("surrogates", "three_after_16", "cut_at_16_bits", "offset_of_offender", "stream_loses_all"):
        yield f"campaigns/compiled {name}", partial(campaign, commands, "100k", compiled(name))
    yield "campaigns/two", partial(campaign, commands, "5k", py("one_for_each_run"), "cpython")
    yield from certified_pieces(commands)


def swept_pieces(commands: Commands) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Sweeps, through frames and by calls in this process."""
    for name in SWEPT:
        yield f"sweeps/{name}", partial(swept, commands, py(name), SMALL)
    for name, profile in OTHER_PROFILES.items():
        options = ("--profile", profile, "--plan", "exhaustive-2", "--plan", "depth-0", "--plan", "pairs")
        yield f"sweeps/{name} as {profile}", partial(swept, commands, py(name), options)
    for name in COMPILED:
        if name.startswith("stream_"):
            continue
        yield f"sweeps/compiled {name}", partial(swept, commands, compiled(name), LARGE)


def certified_pieces(commands: Commands) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Full certificates of wrong decoders, their reports, and quick certificates of decoders that ship."""
    for name in KNOWN_WRONG:
        reports = REPORTS if name in REPORTED else ()
        yield f"wrong/{name}", partial(certified, commands, py(name), IN_FULL, reports)
    for name in ("surrogates", "cut_at_16_bits", "offset_of_offender"):
        yield f"wrong/compiled {name}", partial(certified, commands, compiled(name), IN_FULL)
    yield "wrong/surrogates, usual sweeps", partial(certified, commands, py("surrogates"), ("--thorough",))
    for target in (*map(py, ALSO_WRONG), *(f"py:{name}" for name in OTHERS_WRONG), *map(compiled, COMPILED)):
        yield f"in part/{target.partition('?')[0]}", partial(certified, commands, target, IN_PART)
    for name in WHOLLY_WRONG:
        target = f"py:wrong_everywhere.py:{name}"
        yield f"in part/{target}", partial(certified, commands, target, IN_PART)
        if name in WHOLLY_WRONG_IN_FULL:
            yield f"wrong/wholly {name}", partial(certified, commands, target, IN_FULL)
    for name in builtins(commands):
        yield f"built-ins/{name}", partial(certified, commands, name, BUILTINS)
    yield "differences", partial(differences, commands)


def py(name: str) -> str:
    """A decoder of the tests, as a target."""
    return f"py:known_wrong.py:{name}"


def compiled(name: str) -> str:
    """A planted bug, as a target."""
    return next(bug.target for bug in bugs() if bug.name == name)


def builtins(commands: Commands) -> list[str]:
    """The decoders that ship with an adapter and can be used here."""
    lines = commands.run(("target", "list")).stdout.decode().splitlines()
    return [line.split()[1] for line in lines if line.startswith("ready ")]


# Kept parts of answers -----------------------------------------------------------------------------------------------


def paragraphs(text: bytes) -> list[str]:
    """Text without times, and without line breaks, which move with the digits of a time."""
    blocks = re.split(r"\n\s*\n", text.decode("utf-8", "backslashreplace").strip())
    return [SECONDS.sub("… s", " ".join(block.split())) for block in blocks if block]


def steady(value: Any) -> Any:
    """A value without the parts that change from run to run."""
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        target = ("operations" in table and "units" in table) or "executions" in table
        return {
            key: steady(each) for key, each in table.items() if key not in UNSTEADY and not (target and key == "digest")
        }
    if isinstance(value, list):
        return [steady(each) for each in cast("list[Any]", value)]  # type: ignore[redundant-cast]
    return SECONDS.sub("… s", value) if isinstance(value, str) else value


def sha256(value: Any) -> str:
    """The digest of octets, or of a value in JSON."""
    octets = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
    return hashlib.sha256(octets).hexdigest()


def exported(commands: Commands, shape: str) -> dict[str, Any]:
    """The octets of every file of a format."""
    folder = commands.fresh("exported")
    done = commands.run(("vectors", "export", "--format", shape, "-o", "exported/"))
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    kept: dict[str, Any] = {name: sha256(path.read_bytes()) for name, path in files.items() if "/" not in name}
    kept.pop("manifest.json", None)  # it names its generator
    seeds = {name: sha256(path.read_bytes()) for name, path in files.items() if "/" in name}
    manifest = json.loads((folder / "manifest.json").read_bytes())
    return {"exit": done.returncode, "files": kept, "seeds": [len(seeds), sha256(seeds)], "manifest": steady(manifest)}


def identified(commands: Commands, target: str) -> dict[str, Any]:
    """The findings of ``identify``."""
    done = commands.run(("identify", "--format", "json", target))
    return {
        "exit": done.returncode,
        "found": steady(json.loads(done.stdout)),
        **commands.said(["identify", target]),
    }


def swept(commands: Commands, target: str, options: Iterable[str]) -> dict[str, Any]:
    """A sweep's summary, and its seconds."""
    commands.fresh("swept")
    began = time.monotonic()
    said = commands.said(("sweep", "-q", "--jobs", "1", "-o", "swept", *options, target))
    seconds = time.monotonic() - began
    del said["says"][:1]  # the table shows the speed
    said["says"] = [text for text in said["says"] if not text.startswith("plan ")]
    return {**said, "summary": document(commands.folder / "swept" / "sweep.json"), "seconds": round(seconds, 1)}


def campaign(commands: Commands, runs: str, *targets: str) -> dict[str, Any]:
    """The findings of a campaign with a fixed seed."""
    commands.fresh("campaign")
    began = time.monotonic()
    said = commands.said(("fuzz", "-q", "--jobs", "1", "--seed", "1", "--runs", runs, "-o", "campaign", *targets))
    seconds = time.monotonic() - began
    corpus = sorted(path.name for path in (commands.folder / "campaign" / "corpus").glob("*"))
    if any(target.startswith("so:") for target in targets):
        corpus = corpus[:0]  # the kept inputs depend on the sizes of the work units, and these on the machine
    return {
        **said,
        "campaign": document(commands.folder / "campaign" / "campaign.json"),
        "corpus": [len(corpus), sha256(corpus)],
        "findings": {
            path.name: steady(json.loads(path.read_bytes())) if path.suffix == ".json" else sha256(path.read_bytes())
            for path in sorted((commands.folder / "campaign" / "findings").glob("*"))
        },
        "listed": commands.said(("finding", "list", "campaign")),
        "seconds": round(seconds, 1),
    }


def certified(commands: Commands, target: str, options: Iterable[str], reports: Iterable[str] = ()) -> dict[str, Any]:
    """A certificate, all records of the results, and the seconds."""
    folder = commands.fresh("results")
    began = time.monotonic()
    said = commands.said(("certify", "-q", "-o", "results", *options, target))
    seconds = time.monotonic() - began
    kept = {
        **said,
        "results": results(folder / "results.jsonl"),
        "certificate": document(folder / "certificate.json"),
        "seconds": round(seconds, 1),
    }
    if reports:
        one_time(folder / "results.jsonl")
        for each in ("old", "new"):
            shutil.copytree(folder, commands.fresh(f"{each} {target.rpartition(':')[2]}"))
        kept["reports"] = {
            shape: [
                commands.run(("report", "--format", shape, "results/results.jsonl")).returncode,
                *commands.run(("report", "--format", shape, "results/results.jsonl")).stdout.decode().splitlines(),
            ]
            for shape in reports
        }
    return kept


def differences(commands: Commands) -> dict[str, Any]:
    """The output of ``diff`` for the two decoders that the reports show."""
    before, after = (f"old {name}/results.jsonl" for name in REPORTED)
    if not (commands.folder / before).exists():
        return {}
    return {shape: commands.said(("diff", "--format", shape, before, after)) for shape in ("text", "json", "markdown")}


def one_time(path: Path) -> None:
    """Give results a fixed time, version of overlong and adapter, so that reports of them are the same."""
    first, _, rest = path.read_text("utf-8").partition("\n")
    header = json.loads(first)
    header |= {"time": "2026-01-01T00:00:00Z", "generator": "overlong"}
    header["target"]["digest"] = {"sha256": "0" * 64}
    path.write_text(json.dumps(header) + "\n" + rest, "utf-8")


def document(path: Path) -> Any:
    """A JSON file; nothing if there is none."""
    return steady(json.loads(path.read_bytes())) if path.exists() else None


def results(path: Path) -> dict[str, Any]:
    """The records of results, by kind and name. Divergences are many: a digest for each bucket."""
    if not path.exists():
        return {}
    kept: dict[str, Any] = {}
    divergences: dict[str, list[Any]] = {}
    for line in path.read_text("utf-8").splitlines():
        record = steady(json.loads(line))
        kind = record.pop("record")
        if kind == "divergence":
            divergences.setdefault(f"{record['code']} {record['place']}", []).append(record)
        elif kind in {"portrait", "automaton"}:
            kept.setdefault(kind, {})[record.get("name", "")] = sha256(record)
        elif kind in {"header", "footer"}:
            kept[kind] = record
        else:
            name = record.get("suite") or record.get("plan") or record.get("category")
            kept.setdefault(kind, {})[name or f"{record.get('code')} {record.get('place')}"] = record
    kept["divergences"] = {name: [len(each), sha256(each)] for name, each in divergences.items()}
    return kept


# Recording -----------------------------------------------------------------------------------------------------------


def record(folder: Path, overlong: list[str], only: list[str]) -> int:
    """Ask for everything that is not recorded yet, and save after each answer."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ANSWERS
    answers = known(path)
    with tempfile.TemporaryDirectory() as scratch:
        commands = Commands(overlong, Path(scratch))
        for name in DECODERS:
            found = min(ROOT.glob(f"conformance/tests/**/{name}"))
            answers[f"decoders/{name}"] = sha256(found.read_bytes())
            shutil.copy(found, scratch)
        shutil.copy(ROOT / "benchmarks" / "wrong_everywhere.py", scratch)
        build(commands.folder)
        for name in ("core", "streams"):
            done = commands.run(("vectors", "export", "--suite", name, "--format", "tsv"))
            (commands.folder / f"{name}.tsv").write_bytes(done.stdout)
        for name, ask in pieces(commands):
            if name in answers or not any(fnmatch(name, glob) for glob in only):
                continue
            began = time.monotonic()
            answer = ask()
            answers = {**known(path), name: answer}  # another process may have added answers
            print(f"{time.monotonic() - began:7.1f} s  {name}", flush=True)
            part = path.with_suffix(".part")
            part.write_text(json.dumps(answers, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
            part.replace(path)
    return 0


def known(path: Path) -> dict[str, Any]:
    """The answers recorded so far."""
    return json.loads(path.read_bytes()) if path.exists() else {}


# Comparing -----------------------------------------------------------------------------------------------------------


def unlike(path: str, before: Any, after: Any) -> Iterator[tuple[str, str, str]]:
    """Each difference: its path, the old value, the new value."""
    if isinstance(before, dict) and isinstance(after, dict):
        one, other = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        for key in sorted(one.keys() | other.keys()):
            if key not in UNSTEADY:
                yield from unlike(f"{path}/{key}", one.get(key, "(absent)"), other.get(key, "(absent)"))
    elif isinstance(before, list) and isinstance(after, list):
        yield from unlike_lists(path, cast("Any", before), cast("Any", after))
    elif isinstance(before, str) and isinstance(after, str):
        if before != after:
            yield path, before, after
    elif before != after:
        yield path, json.dumps(before, ensure_ascii=False), json.dumps(after, ensure_ascii=False)


def unlike_lists(path: str, before: Any, after: Any) -> Iterator[tuple[str, str, str]]:
    """The different items of lists of equal length; otherwise the lines that came and went."""
    before, after = ([each for each in many if not str(each).startswith(PASSING)] for many in (before, after))
    if len(before) == len(after):
        for place, pair in enumerate(zip(before, after, strict=True)):
            yield from unlike(f"{path}/{place}", *pair)
        return
    one, other = (
        [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in many]
        for many in (before, after)
    )
    for tag, start, end, begin, stop in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            yield f"{path}/{start}", "\n".join(one[start:end]), "\n".join(other[begin:stop])


def shown(text: str) -> str:
    """A value, shortened to a line or two."""
    return text if len(text) <= 400 else f"{text[:300]} … ({len(text)} characters)"


def compare(before: Path, after: Path, *, common: bool) -> int:
    """Print the differences and the times of both; return 1 if anything differs."""
    one, other = (json.loads((folder / ANSWERS).read_bytes()) for folder in (before, after))
    names = sorted(one.keys() & other.keys() if common else one.keys() | other.keys())
    found: Counter[str] = Counter()
    for name in names:
        for path, was, is_now in unlike(name, one.get(name, "(not recorded)"), other.get(name, "(not recorded)")):
            found[name] += 1
            print(f"{path}\n  before  {shown(was)}\n  after   {shown(is_now)}")
    times(one, other)
    print(f"\n{len(names)} answers compared, {len(found)} of them differ, in {found.total()} places")
    for name, count in found.items():
        print(f"  {count:6}  {name}")
    return 1 if found else 0


def times(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Seconds before and after, of answers that took a second or more."""
    print(f"\n{'seconds':52} before   after   ratio")
    for name in sorted(before.keys() & after.keys()):
        if isinstance(before[name], dict) and "seconds" in before[name] and not name.startswith("built-ins/"):
            was, is_now = before[name]["seconds"], after[name]["seconds"]
            if max(was, is_now) >= 1:
                print(f"  {name[:50]:50} {was:7.1f} {is_now:7.1f} {is_now / max(was, 0.1):7.2f}")


def main() -> int:
    """Record, or compare."""
    parser = argparse.ArgumentParser(description="Compare the answers of two states of the project.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record", help="ask for everything, and save the answers")
    recording.add_argument("folder", type=Path, help="the folder of answers.json; answers in it are not asked again")
    default = str(Path(sys.executable).with_name("overlong"))
    recording.add_argument("--overlong", default=default, metavar="COMMAND", help="the command line to ask")
    recording.add_argument("--only", action="append", metavar="GLOB", help="only answers with such names, as 'wrong/*'")
    comparing = verbs.add_parser("compare", help="print what differs; exit with 1 if anything does")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--common", action="store_true", help="only answers that both have recorded")
    options = parser.parse_args()
    if options.verb == "record":
        return record(options.folder, shlex.split(options.overlong), options.only or ["*"])
    return compare(options.before, options.after, common=options.common)


if __name__ == "__main__":
    sys.exit(main())
