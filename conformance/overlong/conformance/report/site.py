"""A matrix as a folder for a web server or a browser: an index, and a page for each target.

``index.html`` links to ``targets/NAME.html``, which links back; links are relative. Other formats are beside it under
their usual names.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.report.formats import FORMATS, write
from overlong.conformance.results.model import ReportKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from overlong.conformance.results.model import Report

INDEX, PAGES = "index.html", "targets"


def write_site(report: Report, folders: Sequence[str], names: Sequence[str], output: Path) -> list[Path]:
    """Write a matrix in these formats. Returns the paths of the files, without the targets' own pages.

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
