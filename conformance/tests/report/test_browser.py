"""Reports as people see them: in a real browser, which lets nothing through that a page's own policy forbids."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from overlong.conformance.certification.certify import certify
from overlong.conformance.protocol.observation import CLAIMS, KINDS
from overlong.conformance.report.html.page import page
from overlong.conformance.results.model import (
    Cause,
    Map,
    Moment,
    Report,
    ReportKind,
    ReportPart,
    Standing,
    State,
    Subject,
)
from overlong.conformance.results.reading import read

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [pytest.mark.long, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH")]

HOSTILE = "<script>alert(1)</script>\x1b]0;x\u202e\n::error::"
PHONE = {"width": 360, "height": 740}
SHOWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Visit:
    """A page, and all that went wrong with it."""

    def __init__(self, browser, path, **context):
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        if context.get("java_script_enabled", True):
            self.page.evaluate(SHOWN)

    def _dismiss(self, dialog):
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    @property
    def text(self):
        return self.page.locator("body").inner_text()

    def serious(self):
        """The barriers to accessibility that axe-core reports."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [(each["id"], node["html"][:200]) for each in found for node in each["nodes"]
                if each["impact"] in ("serious", "critical")]  # fmt: skip


def cause(number=0, **changes):
    kinds = list(KINDS.values())
    kind = kinds[number % len(kinds)]
    made = Cause(
        code=kind.code, title=kind.title, section=kind.section, place=f"place {number}", claim=kind.claim,
        count=10 * number + 1, id=f"D-{number:08x}", vector=f"overlong/{number:06x}", octets=bytes.fromhex("e080af"),
        operation="D", expected="reject at 0, 1 octet", observed='accepted U+002F "/"', comment="why it is asked",
        reproduce=f"overlong replay overlong/{number:06x} it",
    )  # fmt: skip
    return replace(made, **changes)


def subject(number=0, causes=(), **changes):
    fails = {each.claim for each in causes}
    made = Subject(
        id=f"decoder-{number}", state=State.DIVERGES if causes else State.CONFORMS, name=f"decoder {number}",
        version=f"{number}.0", language=("C", "Rust", "Go", "Java")[number % 4], operations="PVDLSTEB",
        error_mode="replacement", digest="ab" * 32, command=f"overlong certify decoder-{number}",
        claims={claim: "fails" if claim in fails else "holds" for claim in CLAIMS},
        parts=(ReportPart("core", "each known kind of fault", 966, 966, len(causes), operations="VDL"),
               ReportPart("placed-64", "strings at every place", 10, 10, 0, is_sweep=True)),
        causes=tuple(causes), not_covered=("hidden state between calls, beyond the order of the suites",),
        categories={"overlong": (100, len(causes)), "surrogate": (50, 0)},
        maps=(Map("lead and second", bytes((a * number + b) % 4 for a in range(256) for b in range(256))),),
    )  # fmt: skip
    return replace(made, **changes)


def matrix(of=40, causes=12):
    subjects = tuple(subject(n, [cause(10 * n + k) for k in range(causes)] if n % 2 else ()) for n in range(of))
    return Report(ReportKind.MATRIX, f"{of} decoders", "overlong 0.1.0", subjects)


def hostile():
    causes = [
        cause(title=HOSTILE, place=HOSTILE, vector=HOSTILE, expected=HOSTILE, observed=HOSTILE, comment=HOSTILE,
              reproduce=HOSTILE, standing=Standing.EXPECTED, reason=HOSTILE, link="javascript:alert(1)",
              more=((HOSTILE, HOSTILE),)),
    ]  # fmt: skip
    it = subject(
        1, causes, id=HOSTILE, name=HOSTILE, version=HOSTILE, language=HOSTILE, error_mode=HOSTILE, why=HOSTILE,
        command=HOSTILE, behaves_like=HOSTILE, notes=(HOSTILE,), not_covered=(HOSTILE,), traits={HOSTILE: HOSTILE},
        recorded={HOSTILE: HOSTILE}, categories={HOSTILE: (3, 1)},
    )  # fmt: skip
    return Report(ReportKind.MATRIX, HOSTILE, HOSTILE, (it, replace(it, id=HOSTILE + "2")), notes=(HOSTILE,),
                  environment={HOSTILE: HOSTILE}, source=HOSTILE)  # fmt: skip


def sweep():
    plan = ReportPart("depth-1", "no decoder of up to 10 states passes", 10**6, 10**6, 10**5, is_sweep=True)
    return Report(ReportKind.SWEEP, "it", "overlong 0.1.0", (subject(2, [cause(3, more=(("strings", "every string"),))],
                  parts=(plan,)),))  # fmt: skip


def campaign():
    moments = tuple(Moment(2.0**n, 10**6 * n, n // 2, 90 + n) for n in range(12))
    faults = [cause(4, more=(("stable", "10 of 10"),)), cause(5, standing=Standing.DIFFERENCE)]
    return Report(
        ReportKind.FUZZ, "a, b", "overlong 0.1.0", (subject(3, faults, parts=()), subject(4)), discovery=moments
    )


def diff():
    standings = (Standing.FIXED, Standing.REGRESSED, Standing.NEW, Standing.CHANGED, Standing.NOT_COMPARABLE)
    causes = [cause(n, standing=standing) for n, standing in enumerate(standings)]
    sources = {name: {"source": f"{name}.json"} for name in ("older", "newer")}
    sides = {"older": [{"id": "it"}], "newer": [{"id": "it"}], "claims": [], "sources": sources}
    sides["counts"] = {str(each.standing): 1 for each in causes}
    return Report(ReportKind.DIFF, "old.json → new.json", "overlong 0.1.0", (subject(5, causes),), extra=sides)


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """The report of a real run, of a decoder that takes overlong forms."""
    folder = tmp_path_factory.mktemp("certified")
    decoder = folder / "lenient.py"
    decoder.write_text(
        "def decode(octets):\n"
        "    return octets.replace(b'\\xc0\\x80', b'\\0').decode('utf-8', 'surrogatepass')\n"
    )  # fmt: skip
    certify(f"py:{decoder}:decode", suites=["core"], output=folder / "results")
    return read([folder / "results"])


MADE = {"matrix": lambda: matrix(8), "hostile": hostile, "sweep": sweep, "campaign": campaign, "diff": diff}


@pytest.fixture(scope="module", params=["certified", *MADE])
def report(request, certified):
    return certified if request.param == "certified" else MADE[request.param]()


@pytest.fixture
def written(report, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page(report), encoding="utf-8")
    return path


def test_nothing_is_wrong_with_the_page(browser, written):
    with Visit(browser, written) as visit:
        assert visit.serious() == []
        visit.page.emulate_media(color_scheme="dark")
        assert visit.serious() == []
        visit.page.set_viewport_size(PHONE)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert visit.complaints == []
        assert [url for url in visit.asked if not url.startswith("data:")] == [written.as_uri()]


def test_the_verdict_and_the_buckets_need_no_scripts(browser, report, written):
    with Visit(browser, written, java_script_enabled=False) as visit:
        visible = visit.page.locator("h1").inner_text() + visit.text
        assert report.kind is ReportKind.MATRIX or any(
            word in visible.upper() for word in ("CONFORMANT", "FIXED", "FINDING", "DIVERGE")
        )
        for each in report.subjects[0].causes[:5]:
            assert each.code in visible


def test_forty_decoders_show_at_once(browser, tmp_path):
    """Chromium lays out what is not folded away, a few times while it reads the page, and not anew for each row."""
    of, path = 40, tmp_path / "matrix.html"
    path.write_text(page(matrix(of)), encoding="utf-8")
    assert path.stat().st_size < 2_000_000
    with Visit(browser, path) as visit:
        session = visit.context.new_cdp_session(visit.page)
        session.send("Performance.enable")
        visit.page.reload()
        visit.page.evaluate(SHOWN)
        counts = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        elements = visit.page.evaluate("document.querySelectorAll('*').length")
        assert 0 < counts["LayoutCount"] < of
        assert 0 < counts["LayoutObjects"] < elements / 2


def test_filters(browser, tmp_path):
    path = tmp_path / "matrix.html"
    path.write_text(page(matrix(8)), encoding="utf-8")
    with Visit(browser, path) as visit:
        rows = visit.page.locator("tr[data-item]")
        assert rows.count() == 8
        visible = "rows => rows.filter(each => each.offsetParent !== null).map(each => each.querySelector('a').text)"
        one_is = f"({visible})([...document.querySelectorAll('tr[data-item]')]).length == 1"
        visit.page.locator("input[type=search]").first.fill("decoder-3")
        visit.page.wait_for_function(one_is)
        assert rows.evaluate_all(visible) == ["decoder-3"]
        shared = visit.page.url
        assert shared != path.as_uri()
        visit.page.goto("about:blank")
        visit.page.goto(shared)  # opened from a shared address
        visit.page.wait_for_function(one_is)
        assert rows.evaluate_all(visible) == ["decoder-3"]
        heads = visit.page.locator("th button")
        visit.page.locator("button", has_text="show all").click()
        heads.filter(has_text="divergences").click()
        heads.filter(has_text="divergences").click()  # most first
        assert rows.evaluate_all(visible)[0] == "decoder-7"
        assert visit.complaints == []
