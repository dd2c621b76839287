"""The HTML page: what stands in it, what can never stand in it, and how large it gets."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overlong.conformance.models.pair_maps import reference_maps
from overlong.conformance.protocol.observation import CLAIMS, KINDS
from overlong.conformance.report.html.page import LARGEST, page
from overlong.conformance.report.html.shown import cells_of
from overlong.conformance.report.html.svg import ATTRIBUTES, ELEMENTS, safe_picture
from overlong.conformance.report.html.verdict import STATES, verdict_of
from overlong.conformance.report.wording import section_links, web_address
from overlong.conformance.results.difference import since
from overlong.conformance.results.model import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    SENTENCE,
    Cause,
    Drawing,
    Map,
    Moment,
    Report,
    ReportKind,
    ReportPart,
    Standing,
    State,
    Subject,
)
from overlong.conformance.results.reading import as_json
from overlong.conformance.support.printable import printable
from overlong.reference import DEFECTS, encode, is_well_formed
from overlong.reference.dialect import dialect

HOSTILE = "<script>alert(1)</script>\x1b]0;x\x07\u202e\"'--></style></title>{{ 7*7 }}&lt;"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><title>learned</title><path d="M0 0L9 9"/></svg>'
PAGE = frozenset(
    ("html", "head", "meta", "title", "style", "body", "a", "header", "p", "b", "h1", "h2", "h3", "h4", "h5", "h6",
     "main", "section", "div", "span", "ul", "ol", "li", "dl", "dt", "dd", "nav", "table", "thead", "tbody", "tr",
     "th", "td", "br", "article", "details", "summary", "pre", "code", "figure", "figcaption", "footer", "script",
     "use")
)  # fmt: skip
PLAIN = frozenset(
    ("lang", "charset", "http-equiv", "content", "name", "open", "href", "id", "class", "aria-label", "aria-labelledby",
     "aria-hidden", "tabindex", "role", "scope", "rel", "title", "colspan", "viewbox", "data-item", "data-filters",
     "data-what", "data-state", "data-language", "data-fails", "data-standing", "data-code", "data-claim", "data-sort",
     "data-sortable", "data-group")
)  # fmt: skip
VOID = {"meta", "br"}


class Page(HTMLParser):
    """What a page says to a parser that is not ours."""

    def __init__(self, text):
        super().__init__()
        self.elements = Counter[str]()
        self.attributes, self.texts, self.inlined = [], [], {}
        self._open = list[str]()
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.elements[tag] += 1
        self.attributes += [(tag, *each) for each in attributes]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements[tag] += 1
        self.attributes += [(tag, *each) for each in attributes]

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open and self._open[-1] in ("style", "script"):
            self.inlined[self._open[-1]] = self.inlined.get(self._open[-1], "") + data
        else:
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts).replace("\N{NO-BREAK SPACE}", " ")

    def values(self, name):
        return [value for _, key, value in self.attributes if key == name]


def cause(code="OV202", octets=b"\xed\xa0\x80", said="", **other):
    """A bucket; ``said`` is in every text of it."""
    texts = dict.fromkeys(("title", "section", "place", "vector", "expected", "observed", "comment", "reproduce"), said)
    texts |= {"claim": said or "verdict", "id": said or "D-12345678", "reason": said, "link": said, "operation": "D"}
    return Cause(
        **({"code": code, "octets": octets, "count": 12345, "more": ((f"t{said}", f"m{said}"),)} | texts | other)
    )


def subject(name="decoder", state=State.DIVERGES, causes=(), said="", **other):
    given_ = {
        "why": said, "name": f"n{said}", "version": f"v{said}", "language": f"l{said}", "error_mode": f"e{said}",
        "operations": f"VDL{said}", "traits": {f"a{said}": f"b{said}"}, "digest": f"d{said}", "command": f"c{said}",
        "claims": dict(zip(CLAIMS, (FAILS, HOLDS) + (NOT_MEASURED,) * 9, strict=False))
        | ({said: said} if said else {}),
        "parts": (ReportPart(f"core{said}", f"shows{said}", 900, 1000, 7, set_aside=3, digest=f"f{said}"),),
        "not_covered": (f"uncovered{said}",), "notes": (f"note{said}",), "findings_digest": f"g{said}",
        "categories": {f"category{said}": (10, 2)}, "behaves_like": f"like{said}",
        "recorded": {f"seed{said}": f"value{said}"}, "automaton": Drawing(f"title{said}", SVG),
    }  # fmt: skip
    return Subject(name, state, causes=tuple(causes), **(given_ | other))


def report(kind=ReportKind.CERTIFY, subjects=(), said="", **other):
    return Report(kind, f"title{said}", f"overlong{said}", tuple(subjects), {f"system{said}": f"Linux{said}"},
                  f"2026{said}", notes=(f"whole{said}",), source=f"source{said}", **other)  # fmt: skip


def checked(text):
    """The parsed page; it holds nothing but what we know, and its policy allows nothing but what is in it."""
    parsed = Page(text)
    assert set(parsed.elements) <= PAGE | ELEMENTS
    assert {name for _, name, _ in parsed.attributes} <= PLAIN | {name.lower() for name in ATTRIBUTES}
    assert parsed.elements["script"] == parsed.elements["style"] == 1
    policy = parsed.values("content")[0]
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(parsed.inlined[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    ids = parsed.values("id")
    assert len(ids) == len(set(ids))
    for address in parsed.values("href"):
        if address.startswith("#"):
            assert address[1:] in ids
        else:
            assert re.match(r"https?://[^/]|(\.\./)*[\w/-]+\.html$", address)
    for tag, name, value in parsed.attributes:
        assert "url(" not in (value or "") or re.fullmatch(r"url\(#[\w.-]+\)", value), (tag, name)
    assert all(character.isprintable() or character in "\n\N{NO-BREAK SPACE}" for character in text)
    return parsed


def shown(said):
    return printable(said, 2000)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(said=st.text(max_size=60), kind=st.sampled_from(ReportKind), several=st.booleans())
@example(said=HOSTILE, kind=ReportKind.CERTIFY, several=False)
@example(said=HOSTILE, kind=ReportKind.MATRIX, several=True)
@example(said=HOSTILE, kind=ReportKind.DIFF, several=True)
@example(said="javascript:alert(1)", kind=ReportKind.SWEEP, several=False)
@example(said="\n\u2028]]>\ud800\x00\x9b31m", kind=ReportKind.FUZZ, several=True)
def test_hostile_text_stays_text(said, kind, several):
    causes = [cause(code, said=said) for code in ("OV202", said)] + [cause(said=said, standing=Standing.EXPECTED)]
    one = subject(said, causes=causes, stale=(cause(said=said),), said=said)
    sides = [dict.fromkeys(("id", "name", "version", "state", "why", "profile", "command", "digest"), said)]
    source = dict.fromkeys(("kind", "title", "source", "generator", "time"), said)
    claim = {"subject": said, "claim": said, "older": said, "newer": "holds", "standing": "fixed"}
    extra = {"older": sides * (1 + several), "newer": sides * (1 + several), "claims": [claim],
             "sources": {"older": source, "newer": source}, "index": said, "pages": {said: said}}  # fmt: skip
    whole = report(kind, [one] * (1 + several), said, extra=extra)
    text = page(whole)
    parsed = checked(text)
    assert page(whole) == text
    for prefix in ("", "v", "title", "note", "whole", "source", "Linux", "m", "t", "c"):
        assert shown(prefix + said) in parsed.text
    assert "alert" not in parsed.inlined["script"]


@pytest.mark.parametrize("several", [False, True])
def test_all_of_a_cause_is_shown(several):
    it = cause(
        octets=b"a\xe2\x82\xac\xff", chunks=(1, 4), earlier=(b"\xe2", b"\x82"), vector="core/x", expected="reject at 4",
        observed="accepted", comment="because", reproduce="overlong replay core/x it", place="a place",
        section="RFC 3629 §4; WHATWG", standing=Standing.EXPECTED, reason="known", link="https://example.org/1",
        title="a title", claim="verdict", id="D-0badcafe",
    )  # fmt: skip
    parsed = checked(page(report(ReportKind.CERTIFY, [subject(causes=[it]), subject("other")][: 1 + several])))
    for text in ("OV202", "a title", "a place", "D-0badcafe", "core/x", "reject at 4", "accepted", "because", "known",
                 "overlong replay core/x it", "1, 4", "E2 | 82", "11100010", "lead of 3", "12 345",
                 DEFECTS["OV202"].paragraph, DEFECTS["OV202"].effect, "CWE-176", "expected", "next chunk"):  # fmt: skip
        assert text in parsed.text, text
    addresses = parsed.values("href")
    assert {"https://example.org/1", "https://www.rfc-editor.org/rfc/rfc3629#section-4"} <= set(addresses)
    assert any(address.startswith("#") and address.endswith("D-0badcafe") for address in addresses)
    for claim, meaning in CLAIMS.items():
        assert claim in parsed.text
        assert several or claim == "verdict" or meaning in parsed.text  # it fails
    for text in ("uncovered", "900", "1 000", "set aside", "Not measured: "):
        assert text in parsed.text


def test_every_code_is_explained():
    causes = [cause(code) for code in (*DEFECTS, *KINDS)]
    text = page(report(ReportKind.CERTIFY, [subject(causes=causes[:30]), subject("b", causes=causes[30:])]))
    parsed = checked(text)
    assert {f"code-{code}" for code in (*DEFECTS, *KINDS)} <= set(parsed.values("id"))
    for paragraph in [known.paragraph for known in DEFECTS.values()] + [known.paragraph for known in KINDS.values()]:
        assert parsed.text.count(paragraph) == 1


def test_verdicts_are_not_misread():
    words = {
        State.CONFORMS: "CONFORMANT (not swept)", State.EXCEPT: "CONFORMANT EXCEPT error mode (not swept)",
        State.DIVERGES: "NOT CONFORMANT", State.INCOMPLETE: "INCOMPLETE",
        State.NOT_MEASURED: "NOT MEASURED", State.NOTHING: "NOTHING TO JUDGE",
        State.EXPECTED: "0 unexpected (2 buckets as expected)",
    }  # fmt: skip
    expected = [replace(cause(), standing=Standing.EXPECTED)] * 2
    for state, said in words.items():
        lenient = replace(cause("OV401"), claim="error mode")
        causes = {State.EXPECTED: expected, State.DIVERGES: [cause()], State.EXCEPT: [lenient]}.get(state, ())
        claims = {"verdict": HOLDS, "error mode": FAILS}
        whole = report(ReportKind.CERTIFY, [subject(state=state, causes=causes, claims=claims)])
        assert verdict_of(whole).words == said
        text = page(whole)
        assert (f"{STATES[state][1]} {said}" in Page(text).text) == (state in STATES)
        assert "certified" not in Page(text).text.lower()
        assert verdict_of(replace(whole, incomplete="cut")).words == "INCOMPLETE"
    for kind, one, other in product((ReportKind.MATRIX, ReportKind.FUZZ), State, State):
        verdict = verdict_of(report(kind, [subject(state=one), subject("b", state=other)]))
        assert (verdict.tone == "good") == (one is other is State.CONFORMS)
        assert (verdict.words == "INCOMPLETE") == (State.INCOMPLETE in (one, other))
        assert kind is ReportKind.MATRIX or "CONFORMANT" not in verdict.words or State.DIVERGES in (one, other)


def test_a_diff_tells_what_is_worse_first():
    standings = (
        *(Standing.SAME, Standing.FIXED, Standing.NOT_COMPARABLE),
        *(Standing.CHANGED, Standing.NEW, Standing.REGRESSED),
    )
    sides = {"older": [{}], "newer": [{}], "claims": [], "sources": {"older": {}, "newer": {}}}
    told = []
    for number in range(len(standings) + 1):
        one = subject(causes=[cause(standing=standing) for standing in standings[:number]])
        whole = report(ReportKind.DIFF, [one], extra=sides)
        told.append(verdict_of(whole).words)
        checked(page(whole))
    nothing = "NOTHING REGRESSED"
    assert told == [nothing, nothing, nothing, "1 NOT COMPARABLE", "1 CHANGED", "1 NEW", "1 REGRESSED"]


def test_bits_are_those_of_the_layout():
    for octet in range(256):
        ((cell,), _, _) = cells_of(bytes([octet]), None, dialect())
        assert cell.marker + cell.free == f"{octet:08b}"
        assert cell.ill_formed == (not is_well_formed(bytes([octet])))
    for scalar in (0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF):
        octets = encode(chr(scalar))
        cells, _, _ = cells_of(octets, None, dialect())
        assert int("".join(cell.free for cell in cells), 2) == scalar
        lead = "alone" if len(octets) == 1 else f"lead of {len(octets)}"
        assert [cell.role for cell in cells] == [lead] + ["tail"] * (len(octets) - 1)
        assert not any(cell.ill_formed for cell in cells)


def test_of_a_long_input_the_ill_formed_octets_are_shown():
    for place in (0, 1, 500, 998, 999):
        octets = b"a" * place + b"\xff" + b"a" * (999 - place)
        cells, before, after = cells_of(octets, (300, 700), dialect())
        assert [cell.offset for cell in cells if cell.ill_formed] == [place]
        assert before + len(cells) + after == 1000
        assert cells[0].offset == before


@pytest.mark.parametrize(
    "inner",
    [
        "<script>alert(1)</script>",
        '<a href="javascript:alert(1)"><text>x</text></a>',
        '<image href="https://example.org/x.png"/>',
        '<rect onload="alert(1)" style="fill:red" fill="url(https://example.org/)" width="1"/>',
        '<use href="https://example.org/#x"/>',
        '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><b/></body></foreignObject>',
        '<animate attributeName="href" values="javascript:alert(1)"/>',
        '<path d="M0 0" fill="url(&#x6a;avascript:alert(1))" filter="url(#x)"/>',
        '<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>',
        '<html:script xmlns:html="http://www.w3.org/1999/xhtml">alert(1)</html:script>',
        "<style>@import 'https://example.org'</style>",
        '<text id="&quot;&gt;&lt;b&gt;">&lt;script&gt;\u202e</text>',
    ],
)
def test_a_hostile_picture_does_nothing(inner):
    picture = SVG.replace("<path", f"{inner}<path")
    text = page(report(ReportKind.CERTIFY, [subject(automaton=Drawing("learned", picture))]))
    parsed = checked(text)
    svg = text[text.index("<svg") : text.index("</svg>")]
    assert 'd="M0 0L9 9"' in svg
    for word in ("example.org", "alert", "onload", "style=", "filter", "href", "<b>", "foreign", "html"):
        assert word not in svg
    assert parsed.elements["svg"] == 1


@pytest.mark.parametrize(
    "broken",
    ["", "no picture", "<svg", "<svg>" * 99, "<html/>", f'<!DOCTYPE svg [<!ENTITY a "b">]>{SVG}', f"<?x?>{SVG}",
     SVG * 2,
     f'<svg xmlns="http://www.w3.org/2000/svg">{"<g>" * 99}{"</g>" * 99}</svg>',
     SVG.replace("<path", "x" * 700_000 + "<path")],
)  # fmt: skip
def test_what_is_no_picture_is_left_out(broken):
    assert safe_picture(broken, "x") is None
    assert Page(page(report(ReportKind.CERTIFY, [subject(automaton=Drawing("t", broken))]))).elements["svg"] == 0


def test_only_addresses_of_the_web_are_links():
    for text in ("javascript:alert(1)", "data:text/html,x", "//example.org", "http://", "https:///x", "http://[",
                 "file:///x",
                 " https://example.org", "https://example.org/\n", "ftp://example.org", "https://exam ple.org",
                 "HTTPS"):  # fmt: skip
        assert web_address(text) == ""
    assert web_address("https://example.org/a?b=c#d")
    sections = {known.section for known in DEFECTS.values()} | {known.section for known in KINDS.values()}
    linked = {section for section in sections if all(address for _, address in section_links(section))}
    assert sections - linked == {"", "the dialect's grammar"}


def decoders(number, maps=()):
    """Decoders that diverge as much as the worst do."""
    codes = [*DEFECTS, *KINDS]
    for each in range(number):
        causes = [
            cause(codes[(each + place) % len(codes)], bytes([0xC0 + place % 30, 0x80 + place]) * 3,
                  place=f"place {place}",
                  reproduce=f"overlong replay a-vector/of-some-length-{place} decoder-{each}", id=f"D-{place:08x}",
                  expected="reject at 0, 1 octet", observed="accepted U+0000 U+0000", comment="a comment " * 6)
            for place in range(40)
        ]  # fmt: skip
        yield subject(f"decoder-{each}", causes=causes, maps=maps, claims=dict.fromkeys(CLAIMS, FAILS))


@pytest.mark.long
def test_many_decoders_are_a_page_of_bearable_size():
    spoilt = tuple(
        Map(each.name, bytes(answer ^ (place % 257 == 3) for place, answer in enumerate(each.answers)))
        for each in reference_maps("rfc3629@1")
    )
    whole = report(ReportKind.MATRIX, decoders(40, spoilt))
    text = page(whole)
    assert len(text.encode()) < LARGEST
    parsed = checked(text)
    assert parsed.elements["details"] >= 40
    assert "more buckets" in parsed.text
    for each in range(40):
        assert f"decoder-{each}" in parsed.text


def test_a_run_with_millions_of_divergences_is_a_page_of_bearable_size():
    causes = [cause(place="p" * 2000 + str(number), comment="c" * 5000, count=2000) for number in range(5000)]
    whole = report(ReportKind.CERTIFY, [subject(causes=causes)])
    text = page(whole)
    assert len(text.encode()) < LARGEST
    parsed = checked(text)
    assert "10 000 000 divergences" in parsed.text
    assert "4 970 more buckets (9 940 000 divergences)" in parsed.text


def test_a_campaign_shows_how_findings_came():
    moments = tuple(Moment(second, second * 1000, second // 2, second) for second in range(1, 20))
    whole = report(ReportKind.FUZZ, [subject(state=State.CONFORMS)], discovery=moments)
    parsed = checked(page(whole))
    assert "NOTHING FOUND" in parsed.text
    assert "CONFORMANT" not in parsed.text
    assert "Divergences over time" in parsed.text
    assert parsed.elements["svg"] == 2  # and what was learned


def test_a_conforming_decoder_has_its_automaton_and_maps_that_say_they_do_not_differ():
    part = ReportPart("complete-0", "", 5, 5, 0)
    maps = reference_maps("rfc3629@1")
    whole = subject(state=State.CONFORMS, claims={"verdict": HOLDS}, parts=(part,), maps=maps, automaton=None)
    text = page(report(subjects=(whole,)))
    assert text.count("they differ nowhere</figcaption>") == len(maps)
    assert "Its automaton equals that of the reference</figcaption>" in text
    assert "No maps were recorded" in page(report(subjects=(replace(whole, maps=()),)))


def test_a_picture_that_is_there_again_is_as_large_as_before():
    for drawing, frame in (
        (SVG.replace(">", ' width="9" height="9">', 1), ' width="9" height="9">'),
        (SVG, ">"),
    ):
        picture = safe_picture(drawing, "p1")
        assert picture is not None
        assert f'viewBox="0 0 9 9"{frame}<use href="#p1"/>' in picture[1]


def test_several_conform_and_one_conforms():
    def told(conforming, kind=ReportKind.MATRIX):
        states = [State.CONFORMS] * conforming + [State.NOT_MEASURED]
        return page(report(kind, tuple(subject(f"d{at}", state) for at, state in enumerate(states))))

    def counts(conforming):
        (shown,) = re.findall(r'<ul class="counts">(.*?)</ul>', told(conforming), re.DOTALL)
        return " ".join(re.sub(r"<[^>]*>", " ", shown).split())

    assert counts(2) == "2 ✓ conform 1 – not measured"  # noqa: RUF001
    assert counts(1) == "1 ✓ conforms 1 – not measured"  # noqa: RUF001
    assert "nothing found in 2" in told(2, ReportKind.FUZZ)
    assert '<td class="number" data-sort="-1">–</td>' in told(1)  # noqa: RUF001 - not 0: not measured


def test_a_page_says_what_changed_since_an_older_run():
    """It says what a diff of the same reports says; JSON has nothing of it, for a diff is made for programs."""
    right = dict.fromkeys(("verdict", "scalars"), HOLDS)
    part = ReportPart("core", "shows", 9, 9, 0, operations="D", digest="0" * 64)
    named = {"operations": "D", "parts": (part,), "profile": "rfc3629@1", "error_mode": "", "traits": {}}
    good = subject("d", State.CONFORMS, claims=right, **named)
    bad = subject("d", State.DIVERGES, [cause()], claims=right | {"verdict": FAILS}, **named)
    old, new = (report(subjects=[each]) for each in (good, bad))
    for older, newer, words in ((old, new, "broke"), (new, old, "fixed")):
        marked = since(older, newer)
        standings = {each["claim"]: each["standing"] for each in marked.extra["since"]["claims"]}
        assert standings == {"verdict": {"broke": "regressed"}.get(words, words), "scalars": "same"}
        text = checked(page(marked)).text
        assert re.search(rf"1 claim [↑↓] {words} · 1 = unchanged", " ".join(text.split()))
        assert "Since source, 2026" in text
        assert ("Gone since" in text) == (words == "fixed")
        assert "Since " not in checked(page(newer)).text
        assert as_json(marked) == as_json(newer)


def test_many_decoders_stand_by_language():
    many = [subject(f"d{place}", language=("Rust", "C", "Go")[place % 3]) for place in range(9)]
    text = page(report(ReportKind.MATRIX, many))
    checked(text)
    rows = re.findall(r'data-group="(\w+)"|<th scope="row"><a [^>]*>(\w+)<', text)
    assert " ".join(group or name for group, name in rows) == "C d1 d4 d7 Go d2 d5 d8 Rust d0 d3 d6"


def test_a_page_of_a_failing_validator_contradicts_nothing():
    """A failed claim is not told as a fact, a finding is no gap, and no error mode is named without replacing."""
    swept = ReportPart("pairs", "", 90, 1000, 13, is_sweep=True)
    it = cause(count=4, claim="verdict", more=((SENTENCE, "accepts ED A0-BF 80-BF"),))
    one = subject(causes=[it], parts=(swept,), operations="PBV", notes=("pairs: accepts ED A0 80",))
    text = page(report(subjects=[one]))
    parsed = checked(text)
    (failing,) = re.findall(r'<li class="bad">(.*?)</li>', text)
    assert "accepts ED A0-BF 80-BF" in failing
    assert CLAIMS["verdict"] not in parsed.text
    assert CLAIMS["scalars"] in parsed.text
    assert "divergences in all" not in parsed.text
    assert "<dt>error mode</dt>" not in text
    assert "ED A0 80" not in text.partition('<section id="untested"')[2].partition("</section>")[0]
