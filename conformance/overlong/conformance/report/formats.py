"""The formats of a report. Each has its own module, which is imported when the format is needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

from overlong.conformance.results.model import ReportKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from overlong.conformance.results.model import Report


@dataclass(frozen=True)
class Format:
    """A format of a report."""

    name: str
    file: str
    """The name of its file in a folder."""
    what: str
    """A short description, with its readers."""
    module: str
    function: str

    def render(self, report: Report) -> str:
        """The report in this format."""
        written = getattr(import_module(self.module), self.function)(report)
        assert isinstance(written, str)
        return written


INDEX, PAGES = "index.html", "targets"
"""A matrix in a folder for a web server or a browser: an index, and the folder with a page for each target."""
_HERE = "overlong.conformance.report"
FORMATS = {
    each.name: each
    for each in (
        Format("text", "report.txt", "what a terminal shows", f"{_HERE}.text", "text"),
        Format("json", "report.json", "all of it, for programs", "overlong.conformance.results.reading", "data"),
        Format("markdown", "report.md", "for an issue or a step summary", f"{_HERE}.markdown", "markdown"),
        Format(
            "issue",
            "issues.md",
            "a text for each divergence, to send to maintainers",
            f"{_HERE}.markdown",
            "issues",
        ),
        Format("html", "report.html", "one page with pictures, for a browser", f"{_HERE}.html.page", "page"),
        Format("junit", "junit.xml", "JUnit's XML, for CI servers", f"{_HERE}.ci", "junit"),
        Format("sarif", "overlong.sarif", "SARIF 2.1.0, for code scanning", f"{_HERE}.sarif", "sarif"),
        Format("badge", "badge.json", "the JSON of a shields.io badge", f"{_HERE}.ci", "badge"),
    )
}


def write_reports(report: Report, names: Sequence[str], folder: Path) -> list[Path]:
    """Write the report into a folder in each of these formats, and return the paths of the files.

    All formats are rendered before the first file is written. Each file appears whole or not at all.

    Raises:
        KeyError: there is no such format.
        OSError: a file cannot be written.
    """
    made = [(folder / _file_of(report, name), FORMATS[name].render(report)) for name in names]
    for path, text in made:
        write(text, path)
    return [path for path, _ in made]


def _file_of(report: Report, name: str) -> str:
    """The report's file name in a folder; the JSON of a diff is ``diff.json``."""
    return "diff.json" if report.kind is ReportKind.DIFF and name == "json" else FORMATS[name].file


def write(text: str, path: Path) -> None:
    """Write a report to a file, whole or not at all, as UTF-8.

    Raises:
        OSError: the file cannot be written; then no part of it is left.
    """
    from overlong.conformance.support.files import written_whole

    with written_whole(path, encoding="utf-8") as file:
        file.write(text)


def write_to(text: str, path: Path) -> None:
    """Write a report to the path that a user named.

    Raises:
        OSError: it cannot be written.
    """
    from overlong.conformance.support.files import written_to

    with written_to(path, encoding="utf-8") as file:
        file.write(text)


def write_site(report: Report, folders: Sequence[str], names: Sequence[str], output: Path) -> list[Path]:
    """Write a matrix in these formats. Returns the paths of the files, without the targets' own pages.

    ``index.html`` links to ``targets/NAME.html``, which links back; links are relative.

    Args:
        report: of a matrix.
        folders: the folder of each subject; its name is also that of the subject's page.
        names: of formats. ``json`` is ``matrix.json``, which exists already.
        output: the folder.

    Raises:
        KeyError: there is no such format.
        OSError: a file cannot be written.
    """
    written: list[Path] = []
    for name in names:
        if name == "html":
            _write_pages(report, folders, output)
            written.append(output / INDEX)
        elif name != "json":
            path = output / FORMATS[name].file
            write(FORMATS[name].render(report), path)
            written.append(path)
    return written


def _write_pages(report: Report, folders: Sequence[str], output: Path) -> None:
    html = FORMATS["html"]
    pages = {subject.id: f"{PAGES}/{folder}.html" for subject, folder in zip(report.subjects, folders, strict=True)}
    (output / PAGES).mkdir(exist_ok=True)
    for subject in report.subjects:
        page = replace(
            report,
            kind=ReportKind.CERTIFY,
            title=subject.id,
            subjects=(subject,),
            notes=(),
            incomplete="",
            extra={**report.extra, "index": f"../{INDEX}"},
        )
        write(html.render(page), output / pages[subject.id])
    write(html.render(replace(report, extra={**report.extra, "pages": pages})), output / INDEX)
