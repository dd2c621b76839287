"""Decoders of Perl."""

from __future__ import annotations

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said


def _perl(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Perl",
        what,
        lambda: not_on_path("perl", "Perl 5 (Debian: apt install perl)"),
        lambda: [found("perl"), str(ADAPTERS / "perl_utf8.pl"), mode],
        lambda: said(found("perl"), "-MEncode", "-e", 'print "Perl $^V, Encode $Encode::VERSION"'),
    )


PERL_DECODERS = (
    _perl("perl-utf8", "utf8", "Encode's utf8, Perl's own lax form"),
    _perl("perl-utf-8-strict", "utf-8-strict", "Encode's UTF-8, the strict one"),
)
