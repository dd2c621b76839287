"""``identify``: real decoders, wrong ones, and decoders that no machine describes."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.models.identify import QUESTIONS, identify, identify_dialect
from overlong.conformance.protocol.wire import DECODE, REPLACE, STREAM_DECODE, STREAM_REPLACE, VALIDATE
from overlong.conformance.report.learned import model_as_json, model_lines
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.resolve import resolve
from overlong.reference import DIALECTS, ERROR_MODES
from zoo import ZOO

if TYPE_CHECKING:
    from pathlib import Path

    from overlong.conformance.models.identify import LearnedModel

SPEAKERS = ZOO / "speakers.py"


def names(model: LearnedModel) -> dict[str, tuple[str, bool]]:
    return {part.title: (part.name, part.exact) for part in model.parts}


@pytest.mark.long
@pytest.mark.parametrize("name", DIALECTS)
def test_each_dialect_is_told_by_itself(name: str) -> None:
    """The reference decoder of each dialect, as a target."""
    found = names(identify(f"py:{SPEAKERS}:{name.replace('-', '_')}"))
    assert found["dialect"] == (name, True)


KNOWN = [
    ("cpython", "dialect", "rfc3629", ""),
    ("cpython", "error position", "rfc3629", ""),
    ("cpython", "error mode", "replacement", ""),
    ("cpython-surrogateescape", "error mode", "utf-8b", ""),
    ("node-textdecoder", "dialect", "rfc3629", ""),
    ("node-textdecoder", "error mode", "replacement", ""),
    ("node-textdecoder", "withholding", "nothing held back", ""),
    ("go-utf8", "error mode", "replacement-per-octet", ""),
    ("go-tovalidutf8", "error mode", "replacement-per-run", ""),
    ("rust-std", "error position", "rfc3629", ""),
    ("glibc-iconv", "error position", "rfc3629", "F5-F7"),  # EINVAL for octets that nothing can complete
    ("java-charsetdecoder", "error position", "rfc3629", "ED A0-BF"),
    ("java-charsetdecoder", "error mode", "replacement-per-surrogate", ""),
    ("perl-utf-8-strict", "dialect", "rfc3629", "EF B7 90-AF"),  # noncharacters
    ("perl-utf-8-strict", "error position", "rfc3629", "EF B7 90-AF"),
]
"""Expected results. The page identify.md covers java-readutf, cpython-surrogatepass and cpython-incremental."""

SPOKEN = {like for _, title, like, _ in KNOWN if title == "error mode"}
"""The error modes of real decoders."""


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in ERROR_MODES if name not in ("fatal", *SPOKEN)])
def test_each_other_error_mode_is_told_by_itself(name: str) -> None:
    found = names(identify(f"py:{SPEAKERS}:{name.replace('-', '_')}?mode=replacement"))
    assert found == {"error mode": (name, True)}


SHOWN_BY = {"error mode": REPLACE, "withholding": STREAM_DECODE + STREAM_REPLACE}
"""The operations that show an aspect; others need a whole input and its verdict."""


@lru_cache(maxsize=1)  # the model of Perl takes half a gigabyte
def model_of(target: str) -> LearnedModel:
    """The model, of what the results above are about: all else takes as long again."""
    wanted = "".join(SHOWN_BY.get(title, "") for name, title, _, _ in KNOWN if name == target)
    return identify(target, operations=DECODE + VALIDATE + wanted)


@pytest.mark.long
@pytest.mark.parametrize(("target", "title", "like", "counterexample"), KNOWN)
def test_real_decoders_are_what_they_are_known_to_be(target: str, title: str, like: str, counterexample: str) -> None:
    if missing := BUILTINS[target].missing():
        pytest.skip(missing)
    part = model_of(target).part(title)
    assert part is not None
    assert part.name == like
    assert (str(part.counterexamples[0]) if part.counterexamples else "") == counterexample


@pytest.mark.long
def test_a_dialect_is_learned_alone() -> None:
    """Perl's own error mode takes twice as long, and is none that is known."""
    if missing := BUILTINS["perl-utf8"].missing():
        pytest.skip(missing)
    target = resolve("perl-utf8")
    target.open()
    try:
        (part,) = identify_dialect(target, QUESTIONS).parts
    finally:
        target.close()
    assert (part.name, str(part.counterexamples[0])) == ("rfc2279", "FE 82-BF 5(80-BF)")


@pytest.mark.long
def test_noncharacters_refused_are_named() -> None:
    if missing := BUILTINS["perl-utf-8-strict"].missing():
        pytest.skip(missing)
    lines = "\n".join(model_lines(model_of("perl-utf-8-strict"), 80))
    assert "refuses EF B7 90-AF" in lines
    assert "refuses EF BF BE-BF" in lines
    assert "refuses F1-F3 8F,9F,AF,BF BF BE-BF" in lines  # these pass through states of EF BF, too


@pytest.mark.long
def test_a_form_of_thirteen_octets_is_not_missed() -> None:
    part = identify(f"py:{SPEAKERS}:thirteen").part("dialect")
    assert part is not None
    assert [len(counterexample.classes) for counterexample in part.counterexamples] == [13]


@pytest.mark.long
def test_what_no_machine_describes_is_said_to_be_that() -> None:
    part = identify(f"py:{SPEAKERS}:even_length").part("dialect")
    assert part is not None  # the machine has twice the states
    assert not part.exact
    model = identify(f"py:{SPEAKERS}:square_length", questions=50_000)
    part = model.part("dialect")
    assert part is not None
    assert part.machine is None
    assert "no machine" in part.why_not or "not settled" in part.why_not
    assert 0 < len(part.counterexamples) <= 3
    for found in part.counterexamples:  # each is a difference from the machine that is most like it
        assert found.words is not None
        assert found.words[0] != found.words[1]
    assert [each["witness"] for each in model_as_json(model)["traits"][0]["departures"]] == [
        found.witness.hex() for found in part.counterexamples
    ]


@pytest.mark.long
def test_nothing_is_exact_that_other_strings_tell_from_it() -> None:
    """No machine of few states has a threshold of length: the result names its offset."""
    model = identify(f"py:{SPEAKERS}:overlong_from_32")
    (part,) = model.parts
    assert (part.name, part.exact, part.counterexamples) == ("rfc3629", False, ())
    lines = "\n".join(model_lines(model, 80))
    assert "exactly" not in lines
    assert "rfc3629 except:\n" in lines
    assert "from offset 32 on C0 80 is accepted, not refused" in lines
    assert "machine" not in lines  # no bound on the states holds
    (against,) = part.against
    assert (len(against.octets), against.onwards, against.finding.code) == (34, True, "OV201")
    data = model_as_json(model)["traits"][0]
    assert not data["exact"]
    assert [(each["octets"], each["offset"], each["onwards"]) for each in data["against"]] == [("c080", 32, True)]


@pytest.mark.long
def test_strings_from_elsewhere_are_learned_from() -> None:
    """The decoder is wrong on one pair of 65 536, whose neighbours differ in one octet."""
    (part,) = identify(f"py:{SPEAKERS}:overlong_pair").parts
    assert [str(counterexample) for counterexample in part.counterexamples] == ["C1 A5"]
    assert not part.against


@pytest.mark.long
def test_a_limit_on_length_is_no_exact_dialect() -> None:
    part = model_of(f"py:{SPEAKERS}:short_only").part("dialect")
    assert part is not None
    assert part.against
    assert all(len(each.octets) > 4000 for each in part.against)
    assert not part.exact


@pytest.mark.long
def test_a_small_budget_asks_fewer_strings_from_elsewhere() -> None:
    few, many = (identify(f"py:{SPEAKERS}:rfc3629", questions=number) for number in (100_000, 110_000))
    assert few.questions + few.tried == 100_000
    assert few.tried < many.tried
    assert all(part.exact for part in (*few.parts, *many.parts))


def test_the_bound_on_questions_is_kept() -> None:
    model = identify("cpython", questions=5000)
    assert model.questions + model.tried <= 5000 * len(model.oracles)
    assert all(part.machine is None for part in model.parts)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with pictures, and the data, of a correct decoder and of a wrong one."""
    folder = tmp_path_factory.mktemp("pictures")
    for speaker in ("rfc3629", "unlike_anything"):
        wanted = ["--picture", str(folder / f"{speaker}.svg")]
        result = CliRunner().invoke(cli, ["identify", "--format", "json", f"py:{SPEAKERS}:{speaker}", *wanted])
        assert result.exit_code == 0, result.output
        (folder / f"{speaker}.json").write_text(result.stdout, encoding="utf-8")
    return folder


@pytest.mark.long
def test_pictures_mark_what_differs_and_nothing_else(pictures: Path) -> None:
    for speaker, differs in (("rfc3629", False), ("unlike_anything", True)):
        text = (pictures / f"{speaker}.svg").read_text("ascii")
        assert ('marker-end="url(#different)"' in text) == differs
        ET.fromstring(text)


@pytest.mark.long
def test_the_data_hold_the_machine(pictures: Path) -> None:
    model = json.loads((pictures / "rfc3629.json").read_text("utf-8"))
    dialect = model["traits"][0]
    assert dialect["exact"]
    assert len(dialect["machine"]["next"]) == 9
    assert len(dialect["machine"]["classes"]) == 12


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["identify", "nosuch"], 2, "no target"),
        (["identify", "cpython", "--picture", "a.png"], 2, ".svg"),
        (["identify", "cpython", "--picture", "/nosuch/a.svg"], 2, "/nosuch"),
        (["identify", "py:nosuch:f"], 3, "not measured"),
        (["identify", f"py:{SPEAKERS}:square_length", "--limit", "questions=50000"], 4, "not settled"),
        (["identify", f"py:{SPEAKERS}:crashes"], 4, "it fails on"),
        (["identify", f"py:{SPEAKERS}:fickle"], 4, "not settled"),
    ],
)
def test_what_goes_wrong_is_one_line(arguments: list[str], code: int, said: str) -> None:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    assert said in result.output + (result.stderr if result.stderr_bytes else "")
    assert "Traceback" not in result.output
