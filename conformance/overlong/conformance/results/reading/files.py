"""Any file that overlong leaves behind, read into a report: results, a certificate, a matrix, a sweep, a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.results.model import Report, ReportKind
from overlong.conformance.results.reading.campaign import report_of_campaign
from overlong.conformance.results.reading.data import SCHEMA, of_data
from overlong.conformance.results.reading.documents import ReportError, document, not_of, regular
from overlong.conformance.results.reading.matrix import report_of_matrix
from overlong.conformance.results.reading.results import report_of_results
from overlong.conformance.results.reading.statements import report_of_certificate, report_of_sweep
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_READERS: dict[str, Callable[[dict[str, Any], Path], Report]] = {
    "overlong/matrix-1": report_of_matrix,
    "overlong/results-1": report_of_sweep,
    "overlong/campaign-1": report_of_campaign,
    SCHEMA: of_data,
}
_IN_FOLDERS = (
    "matrix.json", "diff.json", "campaign.json", "sweep.json", "results.jsonl", "results.jsonl.part",
    "certificate.json", "report.json",
)  # fmt: skip
"""What a folder is read by: the first of these that is in it."""


def read(paths: Sequence[Path]) -> Report:
    """The report that these files give; several of single targets make a matrix.

    Args:
        paths: files, or folders that hold them.

    Raises:
        ReportError: one of them is no file of results, is damaged, or several do not go together.
        OSError: one cannot be read.
    """
    reports = [_read(path) for path in paths]
    if len(reports) == 1:
        return reports[0]
    if not reports:
        raise ReportError("no file of results; name one, or the folder of a run")
    for path, report in zip(paths, reports, strict=True):
        if report.kind in (ReportKind.FUZZ, ReportKind.DIFF):
            raise ReportError(
                f"{printable(str(path))}: a {report.kind.value} is a report of its own; name it without others"
            )
    return _together(reports, paths)


def _together(reports: Sequence[Report], paths: Sequence[Path]) -> Report:
    """One table of all their targets."""
    subjects = tuple(subject for report in reports for subject in report.subjects)
    first = reports[0].environment
    return Report(
        kind=ReportKind.MATRIX,
        title=f"{len(subjects)} decoders",
        generator=", ".join(dict.fromkeys(report.generator for report in reports)),
        subjects=subjects,
        environment=first if all(report.environment == first for report in reports) else {},
        time=max(report.time for report in reports),
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        incomplete="; ".join(f"{report.title}: {report.incomplete}" for report in reports if report.incomplete),
        source=", ".join(str(path) for path in paths),
    )


def _read(path: Path) -> Report:
    if path.is_dir():
        found = next((path / name for name in _IN_FOLDERS if (path / name).is_file()), None)
        if found is None:
            raise ReportError(
                f"{printable(str(path))}: no results in this folder; name one that certify, matrix, sweep or fuzz wrote"
            )
        return replace(_read_file(found), source=found.name)
    return _read_file(path)


def _read_file(path: Path) -> Report:
    regular(path)
    with path.open("rb") as file:
        start = file.read(64)
    if path.suffix == ".jsonl" or path.name.endswith(".jsonl.part") or start.startswith(b'{"record"'):
        return report_of_results(path)
    data = document(path)
    if not isinstance(data, dict):
        raise ReportError(f"{printable(str(path))}:1: no file of results; name one that overlong wrote")
    read_from = cast("dict[str, Any]", data)
    schema = read_from.get("schema")
    reader = _READERS.get(schema) if isinstance(schema, str) else None
    if "_type" in read_from:
        reader = report_of_certificate
    if reader is None:
        nearest = next((each for each in _READERS if str(schema).startswith(each.rstrip("0123456789"))), SCHEMA)
        raise not_of(read_from, nearest, path)
    if reader is of_data and "kind" not in read_from:
        raise ReportError(f"{printable(str(path))}:1: what a verb printed is no report; name a file of results")
    try:
        return reader(read_from, path)
    except ReportError:
        raise
    except ValueError as error:  # of the right form, and still not what it should be
        raise ReportError(f"{printable(str(path))}: {printable(str(error))}; measure again") from None
