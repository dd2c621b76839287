"""The ways to call a function of a shared library or of a WebAssembly module, from the code that calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.abi import ABIS, QUESTION_ABIS, question_abi
from overlong.conformance.targets.commands import OFFERED_TO_WASM
from printing.markdown import NOTICE, code, table

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> Iterator[str]:
    """The page."""
    yield from (NOTICE, "", "# ABIs", "")
    yield "What to write after `?abi=` of a function in a [shared library or WebAssembly module](shared-libraries.md)."
    yield "Units are in the machine's byte order. A function that decodes gets room for `4 * length + 16` units if it"
    yield "gets the size. If the output has more units than had room, it may return any number; that is no refusal."
    yield ""
    yield from table(
        ("`abi=`", "the function", "what it answers"),
        ((code(abi.name), code(abi.prototype), abi.says) for abi in ABIS.values()),
    )
    yield ""
    yield from ("## Questions", "")
    yield "For a function that does not decode, but [answers a question about a text](functions.md). Its mode for"
    yield "ill-formed text may follow: `&ill_formed=tails`; of an encoder, what it does with what is no text:"
    yield "`&encode_errors=fatal`. WebAssembly does not have these."
    yield ""
    yield from table(
        ("`abi=`", "the function", "what it answers"),
        ((code(abi.name), code(abi.prototype), abi.says) for abi in map(question_abi, QUESTION_ABIS)),
    )
    yield ""
    yield from ("## WebAssembly", "")
    yield f"WebAssembly has all but {', '.join(code(name) for name in ABIS if name not in OFFERED_TO_WASM)}."
