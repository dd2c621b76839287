"""Files of a newer version, or damaged ones, have codes and operations that nobody knows here: they are shown as is."""

import pytest

from overlong.conformance.report.formats import FORMATS
from overlong.conformance.results.model import Cause, Report, ReportKind, State, Subject


def report(code, operation):
    cause = Cause(
        code=code, title="a new title", section="", place="somewhere", claim="verdict", count=1, id="D-00000000",
        vector="input/c0af41", octets=b"\xc0\xaf\x41", operation=operation, expected="reject at 0", observed="accepted",
    )  # fmt: skip
    subject = Subject(id="x", state=State.DIVERGES, profile="rfc3629@1", claims={"verdict": "fails"}, causes=(cause,))
    return Report(kind=ReportKind.CERTIFY, title="x", generator="overlong 9", subjects=(subject,))


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_unknown_is_shown_as_it_is(name):
    text = FORMATS[name].render(report("OV999", "D"))
    assert name == "badge" or "OV999" in text
    assert "KeyError" not in text
    for operation in ("", "E", "F", "Z", "Q"):  # of an encoder, three octets are no number of anything
        assert FORMATS[name].render(report("OV101", operation))
