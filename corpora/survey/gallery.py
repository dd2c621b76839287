"""The pages of the newest survey, made while the site is built: all decoders, each of them, each fault, error modes.

Words of decoders are hostile: the code that puts them into Markdown or HTML escapes each.
"""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape
from importlib.resources import files as resources
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from printing.markdown import code, plain, rows_of, table
from printing.pages import written

from corpora.survey import findings
from corpora.survey.filing import REPORTS, TOLD_WORDS, Files, withdrawn_in, withheld_in
from corpora.survey.kept import HERE as THIS_SYSTEM
from corpora.survey.kept import INTENT, OBTAINED, REPLACES, WHAT, announced
from overlong.conformance.models.pair_maps import reference_maps
from overlong.conformance.protocol.observation import KINDS
from overlong.conformance.report import html
from overlong.conformance.report.html.maps import DIFFERENCE, map_picture
from overlong.conformance.report.wording import given, observed, verdict
from overlong.conformance.results.model import NOT_MEASURED, State
from overlong.conformance.results.reading import read
from overlong.conformance.support.printable import thousands
from overlong.reference import DEFECTS, ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.results.model import Cause, Report, Subject

HERE = Path(__file__).parent
SURVEYS = HERE

_WORDS = {
    State.CONFORMS: "conforms",
    State.EXCEPT: "conforms, but for its error mode or the like",
    State.DIVERGES: "diverges",
}
_COLOURS = """.survey-picture { --text: var(--color-foreground-primary); --quiet: var(--color-foreground-secondary);
--ground: var(--color-background-primary); --line: var(--color-background-border);
--accent: #4078c0; --good: #2e8b57; --bad: #d64545; --warn: #b8860b; }"""
"""The colours of pictures, from the site's theme."""
_UNLISTED = ("---", "orphan: true", "---", "")
"""No list of the site has these hundreds of pages: the tables lead to them."""
TOLD = "divergences.md"
"""The page on the divergences of decoders with an adapter, each shown by its own program."""
_BACK = "[All decoders](index.md)"
_HEADS = ("decoder", "language", "verdict", "faults", "version")
_CODES = 3
"""The most codes of a decoder in the table of all."""
_SHOWN = 12
"""The most causes of a decoder to show."""


def surveys() -> dict[str, Report]:
    """The kept surveys by date, the oldest first."""
    paths = sorted(SURVEYS.glob("*/report.json"))
    return {path.parent.name: read([path]) for path in paths}


def filed(date: str) -> Files:
    """The files beside the survey of a date, and the decoders whose divergences are on another page."""
    folder = SURVEYS / date
    told = {row["decoder"] for row in rows_of("divergences.tsv")}
    texts = {path.stem for path in (folder / REPORTS).glob("*.md")}
    return Files(texts, withheld_in(folder), told, withdrawn_in(folder))


def write(folder: Path) -> None:
    """Write the pages."""
    kept = surveys()
    written(folder, _written(kept) if kept else {})


def _written(kept: Mapping[str, Report]) -> dict[str, Iterable[str]]:
    """All pages: of the data, of the texts for maintainers, and of the findings."""
    date = max(kept)
    texts = SURVEYS / date / REPORTS
    pages = _pages(kept, filed(date))
    for path in sorted(texts.glob("*.md")):
        pages[f"r-{path.stem.lower()}"] = (*_UNLISTED, *_text(path, pages))
    reasons = withdrawn_in(SURVEYS / date)
    return pages | {"findings": findings.page(texts), "withdrawn": _withdrawn(reasons, pages)}


def _text(path: Path, pages: Collection[str]) -> Iterator[str]:
    """A text for maintainers, with ways back before it, and its codes as links."""
    decoder = path.stem.rpartition("-")[0]
    yield from (f"{_BACK} / {_link(decoder, f'd-{decoder}', pages)}", "")
    *lines, codes = path.read_text("utf-8").rstrip().splitlines()
    yield from lines
    yield re.sub(r"OV\d{3}", lambda found: _link(found[0], f"c-{found[0].lower()}", pages), codes)


def _link(words: str, page: str, pages: Collection[str]) -> str:
    """A link to a page, if there is one."""
    return f"[{plain(words)}]({page}.md)" if page in pages else plain(words)


def _withdrawn(reasons: Mapping[str, str], pages: Collection[str]) -> Iterator[str]:
    """The decoders whose texts were withdrawn, with the codes and the reason."""
    yield from ("# What was withdrawn", "")
    yield f"{len(reasons)} divergences have no text for maintainers any more. All were true of a version surveyed."
    yield ""
    codes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, why in reasons.items():
        decoder, _, fault = name.rpartition("-")
        codes[decoder, why].append(_link(fault, f"c-{fault.lower()}", pages))
    rows = (
        (_link(decoder, f"d-{decoder}", pages), " ".join(found), plain(why)) for (decoder, why), found in codes.items()
    )
    yield from table(("decoder", "codes", "why"), rows)


def _pages(kept: Mapping[str, Report], files: Files) -> dict[str, Iterable[str]]:
    date, report = list(kept.items())[-1]
    subjects = [subject for subject in report.subjects if subject.state is not State.NOT_MEASURED]
    by_code: dict[str, list[tuple[Subject, Cause]]] = defaultdict(list)
    by_mode: dict[str, list[Subject]] = defaultdict(list)
    for subject in subjects:
        for cause in {cause.code: cause for cause in reversed(subject.causes)}.values():
            by_code[cause.code].append((subject, cause))
        if mode := _mode(subject):
            by_mode[mode.partition(",")[0]].append(subject)
    pages: dict[str, Iterable[str]] = {"index": _index(date, subjects, by_code, by_mode)}
    pages |= {f"d-{subject.id}": chain(_UNLISTED, _decoder(subject, kept, files)) for subject in subjects}
    pages |= {f"c-{name.lower()}": chain(_UNLISTED, _fault(name, found)) for name, found in by_code.items()}
    pages |= {"error-modes": _modes(by_mode), "streams": _streams(subjects), "history": _history(kept)}
    return pages


def _mode(subject: Subject) -> str:
    """A decoder's error mode; empty if it does not replace."""
    if "L" not in subject.operations:
        return ""
    return subject.recorded.get(REPLACES, "") or subject.error_mode


def _title(name: str) -> str:
    """The meaning of a code."""
    if name in DEFECTS:
        return f"{DEFECTS[name].title} accepted"
    return KINDS[name].title if name in KINDS else name


def _index(
    date: str,
    subjects: Sequence[Subject],
    by_code: Mapping[str, Sequence[object]],
    by_mode: Mapping[str, Sequence[Subject]],
) -> Iterator[str]:
    languages = {subject.language for subject in subjects if subject.language}
    right = sum(subject.state is State.CONFORMS for subject in subjects)
    wrong = sum(subject.state is State.DIVERGES for subject in subjects)
    yield from ("# Survey of decoders", "")
    yield f"{len(subjects)} decoders in {len(languages)} languages, tested on {date}: {right} conform, {wrong} diverge"
    yield f"from RFC 3629, and {len(subjects) - right - wrong} conform but for their error mode or another claim beside"
    yield "the verdict. A decoder that diverges may mean to: its page says what its documentation announces."
    yield "[How it was made](../survey.md) tells how to repeat it."
    yield from ("", "```{raw} html", *_filtered(subjects), "```", "", "## What matters most", "")
    for number, finding in enumerate(findings.findings(), 1):
        yield f"{number}. [{finding['what']}](findings.md#finding-{number}): {finding['seen']}."
    yield from ("", "## By fault", "")
    codes = sorted(by_code)
    rows = ((f"[{name}](c-{name.lower()}.md)", plain(_title(name)), str(len(by_code[name]))) for name in codes)
    yield from table(("code", "fault", "decoders"), rows)
    yield from ("", "## More", "")
    yield f"[Error modes](error-modes.md): {len(by_mode)} ways to replace. [Streams](streams.md)."
    yield "[History](history.md). [What was withdrawn](withdrawn.md)."
    listed = ("findings", "error-modes", "streams", "history", "withdrawn")
    yield from ("", "```{toctree}", ":hidden:", "", *listed, "```")


def _filtered(subjects: Sequence[Subject]) -> Iterator[str]:
    """A table with filters above it, in HTML."""
    modes = sorted({_mode(subject).partition(",")[0] for subject in subjects} - {""})
    yield f"<style>{(HERE / 'gallery.css').read_text('ascii')}</style>"
    yield '<div class="survey-filters">'
    yield '<input type="search" name="search" placeholder="name or version" aria-label="Search">'
    yield from _select("language", "every language", sorted({subject.language for subject in subjects} - {""}))
    yield from _select("state", "every verdict", [state.value for state in _WORDS])
    yield from _select("mode", "every error mode", modes)
    yield '<span class="survey-shown" role="status"></span></div>'
    heads = "".join(f"<th><button>{head}</button></th>" for head in _HEADS)
    yield f'<div class="survey-scroll"><table class="survey"><thead><tr>{heads}</tr></thead><tbody>'
    for subject in subjects:
        names = list(dict.fromkeys(cause.code for cause in subject.causes))
        links = [f'<a href="c-{_html(name.lower())}.html">{_html(name)}</a>' for name in names[:_CODES]]
        codes = " ".join((*links, f"+{len(names) - _CODES}") if len(names) > _CODES else links)
        kind = "good" if subject.state is State.CONFORMS else "bad" if subject.state is State.DIVERGES else ""
        mode, state = _mode(subject).partition(",")[0], subject.state.value.removeprefix("conforms ")
        yield (
            f'<tr data-language="{_html(subject.language)}" data-state="{_html(subject.state.value)}" '
            f'data-mode="{_html(mode)}"><td><a href="d-{_html(subject.id)}.html">{_html(subject.id)}</a></td>'
            f'<td>{_html(subject.language)}</td><td class="{kind}">{_html(state)}</td>'
            f"<td>{codes}</td><td>{_html(subject.version)}</td></tr>"
        )
    script = (HERE / "gallery.js").read_text("ascii")
    yield f"</tbody></table></div><script>{script}</script>"


def _select(name: str, every: str, words: Iterable[str]) -> Iterator[str]:
    yield f'<select name="{name}" aria-label="{name}"><option value="">{every}</option>'
    yield from (f"<option>{_html(word)}</option>" for word in words)
    yield "</select>"


def _html(words: str) -> str:
    """Words as HTML text on one line: a separate line might end the fence around the HTML."""
    return escape(" ".join(words.split()))


def _decoder(subject: Subject, kept: Mapping[str, Report], files: Files) -> Iterator[str]:
    facts = subject.recorded
    yield from (_BACK, "", f"# {plain(subject.id)}", "", f"**{plain(verdict(subject))}**", "")
    rows = [
        ("what", facts.get(WHAT, "")),
        ("version", subject.version),
        ("language", subject.language),
        ("obtained from", facts.get(OBTAINED, "").removeprefix(THIS_SYSTEM)),
        ("its documentation says", facts.get(INTENT, "")),
        ("accepts what this dialect does", subject.behaves_like),
        ("replaces", _mode(subject)),
        ("set aside", subject.set_aside.replace(" set aside", "")),
        ("ended by a fault", f"{subject.restarts} times" if subject.restarts else ""),
        ("not whole", subject.why if subject.state is State.INCOMPLETE else ""),
    ]
    measured = ", ".join(f"{claim} {state}" for claim, state in subject.claims.items() if state != NOT_MEASURED)
    yield from (f"- {title}: {plain(words)}" for title, words in (*rows, ("claims", measured)) if words)
    if subject.causes:
        yield from ("", "## What goes wrong", "")
        causes = subject.causes[:_SHOWN]
        yield from table(
            ("code", "input", "expected", "observed", "inputs", "filed as"),
            (
                (
                    f"[{cause.code}](c-{cause.code.lower()}.md) {plain(cause.title)}",
                    code(given(cause)),
                    plain(cause.expected),
                    plain(observed(cause)),
                    thousands(cause.count),
                    _where(subject, cause, files),
                )
                for cause in causes
            ),
        )
        if more := len(subject.causes) - len(causes):
            yield from ("", f"And {more} more places.")
    yield from _pictured(subject)
    yield from ("", "## To repeat it", "", "```sh", f"python corpora/survey certify --quick {subject.id}", "```")
    seen = [(date, old) for date, report in kept.items() for old in report.subjects if old.id == subject.id]
    if len(seen) > 1:
        yield from ("", "## Versions seen", "")
        yield from table(("survey", "version", "verdict"), [(d, plain(s.version), plain(verdict(s))) for d, s in seen])


def _where(subject: Subject, cause: Cause, files: Files) -> str:
    """The place where a divergence is filed, with a link."""
    words, text = files.words(subject, cause), files.text(subject, cause)
    if text:
        return f"[{words}](r-{text.lower()}.md)"
    return f"[{words}](../{TOLD})" if words == TOLD_WORDS else plain(words)


def _pictured(subject: Subject) -> Iterator[str]:
    """The map of its wrong answers to two octets, if there is one and they differ."""
    known = {each.name: each for each in reference_maps(subject.profile)}
    for seen in subject.maps[:1]:
        if seen.name in known and seen.answers != known[seen.name].answers:
            yield from (
                "",
                "## First two octets, against RFC 3629",
                "",
                "```{raw} html",
                '<div class="survey-picture">',
            )
            yield f"<style>{_COLOURS} {(resources(html) / 'pictures.css').read_text('ascii')}</style>"
            yield map_picture(seen, known[seen.name], DIFFERENCE)
            yield from ("</div>", "```")


def _fault(name: str, found: Sequence[tuple[Subject, Cause]]) -> Iterator[str]:
    yield from (_BACK, "", f"# {name} {plain(_title(name))}", "")
    if name in DEFECTS:
        yield plain(DEFECTS[name].paragraph)
        yield from ("", f"What it enables: {plain(DEFECTS[name].effect)}. [All codes](../codes.md).", "")
    elif name in KINDS:
        yield from (plain(KINDS[name].paragraph), "", "[All codes](../codes.md).", "")
    yield from table(
        ("decoder", "language", "least input", "observed", "documented"),
        (
            (
                f"[{plain(subject.id)}](d-{subject.id}.md)",
                plain(subject.language),
                code(given(cause)),
                plain(observed(cause)),
                plain(announced(subject, name)),
            )
            for subject, cause in found
        ),
    )


def _modes(by_mode: Mapping[str, Sequence[Subject]]) -> Iterator[str]:
    yield from ("# Error modes: how decoders replace", "")
    yield "What a decoder that does not refuse outputs for ill-formed octets. The modes with a name are described in"
    yield "[error modes](../error-modes.md); the others were learned, and three examples tell them from the nearest."
    for mode in sorted(by_mode, key=lambda mode: (mode not in ERROR_MODES, mode)):
        yield from ("", f"## {plain(mode)}", "")
        rows = ((f"[{plain(s.id)}](d-{s.id}.md)", plain(s.language), plain(_mode(s))) for s in by_mode[mode])
        yield from table(("decoder", "language", "how"), rows)


def _streams(subjects: Sequence[Subject]) -> Iterator[str]:
    yield from ("# Streams", "")
    yield "Decoders that take their input in chunks: whether the result is that of the whole, and whether it comes as"
    yield from ("early as it is certain.", "")
    claims = ("streaming", "earliest detection")
    asked = [s for s in subjects if any(s.claims.get(claim, NOT_MEASURED) != NOT_MEASURED for claim in claims)]
    rows = (
        (f"[{plain(s.id)}](d-{s.id}.md)", plain(s.language), *(plain(s.claims.get(claim, "")) for claim in claims))
        for s in asked
    )
    yield from table(("decoder", "language", *claims), rows)


def _history(kept: Mapping[str, Report]) -> Iterator[str]:
    """What became of verdicts from one survey to the next, and in which version."""
    yield from ("# History", "")
    if len(kept) == 1:
        yield f"The survey of {next(iter(kept))} is the first. The next one will say here which verdicts changed, and"
        yield "in which version; `overlong diff` says it of each fault in a terminal."
    for (older, before), (newer, now) in reversed(list(pairwise(kept.items()))):
        yield from ("", f"## {older} to {newer}", "")
        were, are = ({subject.id: subject for subject in side.subjects} for side in (before, now))
        both = [(were[name], are[name]) for name in are if name in were]
        changed = [(was, became) for was, became in both if was.state is not became.state]
        yield f"{len(both)} decoders were in both surveys: {len(both) - len(changed)} with the same verdict, and"
        yield f"{len(changed)} with another. {len(are) - len(both)} came, and {len(were) - len(both)} went."
        rows = [
            (
                f"[{plain(became.id)}](d-{became.id}.md)",
                f"{was.state.value} → {became.state.value}",
                plain(" → ".join(dict.fromkeys((was.version, became.version)))),
            )
            for was, became in changed
        ]
        if rows:
            yield from ("", *table(("decoder", "verdict", "version"), rows))
