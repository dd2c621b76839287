"""Decoders of Erlang."""

from __future__ import annotations

from overlong.conformance.targets.builtin import ADAPTERS, ELSEWHERE, Builtin, found, not_on_path, said


def _erlang(name: str, decoder: str, what: str) -> Builtin:
    return Builtin(
        name,
        "Erlang",
        what,
        lambda: not_on_path(("escript", "erl"), "Erlang/OTP (Debian: apt install erlang-base)"),
        lambda: [found("escript"), str(ADAPTERS / "erlang_utf8.escript"), decoder],
        lambda: said(found("erl"), "-noshell", "-eval", _VERSION, folder=ELSEWHERE),
        ELSEWHERE,  # it looks for modules in its own folder first
    )


_VERSION = 'io:format("Erlang/OTP ~s", [erlang:system_info(otp_release)]), halt().'

ERLANG_DECODERS = (
    _erlang("erlang", "unicode", "unicode:characters_to_list and characters_to_binary, in chunks"),
    _erlang("erlang-bit-syntax", "bit-syntax", "<<Character/utf8, Rest/binary>>"),
)
