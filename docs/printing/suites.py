"""The suites and tiers of ``certify``, from the code that runs them; the plans of sweeps, from ``docs/plans.tsv``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.certification.tiers import TIERS
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import RFC3629
from printing.markdown import NOTICE, code, rows_of, table

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> Iterator[str]:
    """The page."""
    yield from (NOTICE, "", "# Suites, tiers and plans", "")
    yield "What [`certify`](command-line.md#certify) runs, in this order. [Power](power.md) says what each part finds."
    yield from ("", "## Suites", "")
    yield "A target gets every suite of which it offers an operation ([the letters](protocol-constants.md)). The"
    yield "numbers are those of `rfc3629`; that of `complete-0-replacing` depends on the target's error mode."
    yield ""
    yield from table(
        ("suite", "vectors", "shows", "operations"),
        (
            (code(suite.name), thousands(suite.size), suite.shows, " ".join(map(code, suite.asks)))
            for suite in SUITES.values()
        ),
    )
    yield from ("", "## Tiers", "")
    yield "Lists of [plans](#plans), the most thorough first. Decoders of other speeds get lists between and below"
    yield "these, whose plans the report names."
    yield ""
    yield from table(
        ("tier", "plans", "strings", "for"),
        (
            (code(tier.name), ", ".join(map(code, tier.plans)), thousands(tier.size(RFC3629)), tier.bears)
            for tier in TIERS.values()
        ),
    )
    yield from ("", "## Plans", "")
    yield "What a [sweep](sweeps.md) tests: `overlong sweep --plan exhaustive-4 TARGET`; so does `certify`. For a"
    yield "capital letter in a name write a number. The counts are those of `rfc3629`."
    yield ""
    yield from table(("plan", "strings", "what it shows"), (tuple(row.values()) for row in rows_of("plans.tsv")))
