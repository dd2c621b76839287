"""Decoders of Ruby."""

from __future__ import annotations

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said


def _ruby(name: str, mode: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Ruby",
        what,
        lambda: not_on_path("ruby", "Ruby 2.7 or later (Debian: apt install ruby)"),
        # Gems are not needed, and loading their machinery takes most of the start.
        lambda: [found("ruby"), "--disable=gems", str(ADAPTERS / "ruby_utf8.rb"), mode],
        lambda: " ".join(said(found("ruby"), "--version").split()[:2]),
    )


RUBY_DECODERS = (
    _ruby("ruby", "string", "String#valid_encoding?, #codepoints, #scrub; Integer#chr"),
    _ruby("ruby-encode", "encode", "String#encode, Encoding::Converter in chunks"),
    _ruby("ruby-unpack", "unpack", "String#unpack and Array#pack with U"),
)
