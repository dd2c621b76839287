"""The decoders that ship with an adapter, a module for each language or place that they live in."""

from __future__ import annotations

from overlong.conformance.targets.builtins.c import C_LIBRARIES
from overlong.conformance.targets.builtins.go import GO_DECODERS
from overlong.conformance.targets.builtins.java import JAVA_DECODERS
from overlong.conformance.targets.builtins.node import NODE_DECODERS
from overlong.conformance.targets.builtins.perl import PERL_DECODERS
from overlong.conformance.targets.builtins.python import PYTHON_DECODERS
from overlong.conformance.targets.builtins.rust import RUST_DECODERS

BUILTINS = {
    builtin.name: builtin
    for builtin in (
        *PYTHON_DECODERS,
        *NODE_DECODERS,
        *C_LIBRARIES,
        *GO_DECODERS,
        *RUST_DECODERS,
        *JAVA_DECODERS,
        *PERL_DECODERS,
    )
}

__all__ = ["BUILTINS"]
