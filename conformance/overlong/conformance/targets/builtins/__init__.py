"""The decoders that ship with an adapter, a module for each language or place that they live in."""

from __future__ import annotations

from overlong.conformance.targets.builtins.browser import BROWSERS
from overlong.conformance.targets.builtins.c import LIBC_DECODERS
from overlong.conformance.targets.builtins.c_libraries import C_LIBRARIES
from overlong.conformance.targets.builtins.databases import DATABASES
from overlong.conformance.targets.builtins.erlang import ERLANG_DECODERS
from overlong.conformance.targets.builtins.go import GO_DECODERS
from overlong.conformance.targets.builtins.guile import GUILE_DECODERS
from overlong.conformance.targets.builtins.java import JAVA_DECODERS
from overlong.conformance.targets.builtins.lua import LUA_DECODERS
from overlong.conformance.targets.builtins.node import NODE_DECODERS
from overlong.conformance.targets.builtins.ocaml import OCAML_DECODERS
from overlong.conformance.targets.builtins.perl import PERL_DECODERS
from overlong.conformance.targets.builtins.php import PHP_DECODERS
from overlong.conformance.targets.builtins.programs import PROGRAMS
from overlong.conformance.targets.builtins.python import PYTHON_DECODERS
from overlong.conformance.targets.builtins.python_packages import PYTHON_PACKAGES
from overlong.conformance.targets.builtins.ruby import RUBY_DECODERS
from overlong.conformance.targets.builtins.rust import RUST_DECODERS
from overlong.conformance.targets.builtins.tcl import TCL_DECODERS

BUILTINS = {
    builtin.name: builtin
    for builtin in (
        *PYTHON_DECODERS,
        *PYTHON_PACKAGES,
        *NODE_DECODERS,
        *LIBC_DECODERS,
        *C_LIBRARIES,
        *GO_DECODERS,
        *RUST_DECODERS,
        *JAVA_DECODERS,
        *PERL_DECODERS,
        *RUBY_DECODERS,
        *PHP_DECODERS,
        *LUA_DECODERS,
        *TCL_DECODERS,
        *ERLANG_DECODERS,
        *GUILE_DECODERS,
        *OCAML_DECODERS,
        *DATABASES,
        *PROGRAMS,
        *BROWSERS,
    )
}

__all__ = ["BUILTINS"]
