"""Turn a finding into a regression test in the decoder's language, for its author to keep.

A test does not need overlong. It calls the author's own function, in one place marked ``ADAPT``; for a target
``py:...`` or ``so:...`` the function is known. Unchanged, it tests a decoder of the language, except in C, which has
none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.support.printable import did_you_mean, printable
from overlong.fuzz.promotion.case import case_of
from overlong.fuzz.promotion.languages import LANGUAGES, TestLanguage
from overlong.fuzz.promotion.promote import PromotionError

if TYPE_CHECKING:
    from overlong.fuzz.report.findings import Found

__all__ = ["LANGUAGES", "file_name", "how_to_run", "language_for", "language_named", "source"]


def source(stored: Found, language: str, *, folder: str = "campaign") -> str:
    """The test of a finding.

    Args:
        stored: the finding.
        language: one of :data:`LANGUAGES`.
        folder: the run's folder, for the command that explains the finding.

    Raises:
        PromotionError: there is no such language, or no test can show the fault.
    """
    return language_named(language).write(case_of(stored, folder))


def file_name(stored: Found, language: str) -> str:
    """What the file of that test is called; of Java it must be.

    Raises:
        PromotionError: as :func:`source`.
    """
    return _filled(language_named(language).file, stored)


def how_to_run(stored: Found, language: str) -> str:
    """The command that runs the test, or what to do, in a line.

    Raises:
        PromotionError: as :func:`source`.
    """
    return _filled(language_named(language).run, stored, file=file_name(stored, language))


def language_named(name: str) -> TestLanguage:
    """The language of that name.

    Raises:
        PromotionError: there is none; the message lists those there are.
    """
    if name not in LANGUAGES:
        raise PromotionError(f"no tests are written in {printable(name, 40)}; {did_you_mean(name, LANGUAGES)}")
    return LANGUAGES[name]


def language_for(target: str, said: str = "") -> str:
    """The language that fits a target: that of a decoder which ships with an adapter, or of its form.

    Args:
        target: its name.
        said: the language that its greeting names, if that is known.
    """
    from overlong.conformance.targets.builtins import shipped

    kind, colon, rest = target.partition(":")
    name = rest if kind == "builtin" else target
    if colon and kind in ("py", "so", "wasm"):
        return "pytest" if kind == "py" else "c"
    known = shipped(name)
    spoken = said or (known.language if known else "")
    return next((each.name for each in LANGUAGES.values() if spoken in each.of), next(iter(LANGUAGES)))


def _filled(text: str, stored: Found, **more: str) -> str:
    case = case_of(stored, "")
    return text.format(name=case.name, Name=case.title_name, **more)
