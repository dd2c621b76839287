"""Templates of adapters, one for each language: ``overlong target new`` writes them out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class AdapterTemplate:
    """An adapter that runs unchanged, with a decoder of its language inside."""

    language: str
    file: str
    """The file's name; in Java it must be that of its class."""
    build: str
    """The command that builds it in its folder; empty if it needs none."""
    run: str
    """The command that starts it, to follow ``overlong certify --``."""
    decoder: str
    """The decoder inside, until the user's decoder replaces it."""
    others: tuple[str, ...] = ()
    """Other names of the language."""

    @property
    def source(self) -> bytes:
        """The adapter, in ASCII."""
        return (Path(__file__).parent / self.file).read_bytes()


TEMPLATES = {
    template.language: template
    for template in (
        AdapterTemplate("c", "adapter.c", "cc -O2 -o adapter adapter.c", "./adapter", "POSIX iconv"),
        AdapterTemplate(
            "c++",
            "adapter.cpp",
            "c++ -std=c++17 -O2 -o adapter adapter.cpp",
            "./adapter",
            "std::codecvt",
            ("cpp", "cxx"),
        ),
        AdapterTemplate(
            "rust", "adapter.rs", "rustc -O --edition 2021 adapter.rs", "./adapter", "std::str::from_utf8", ("rs",)
        ),
        AdapterTemplate("go", "adapter.go", "go build -o adapter adapter.go", "./adapter", "unicode/utf8", ("golang",)),
        AdapterTemplate("java", "Adapter.java", "javac -d . Adapter.java", "java -cp . Adapter", "CharsetDecoder"),
        AdapterTemplate("javascript", "adapter.js", "", "node adapter.js", "TextDecoder", ("js", "node", "nodejs")),
        AdapterTemplate("python", "adapter.py", "", "python3 adapter.py", "bytes.decode", ("py", "python3")),
        AdapterTemplate("ruby", "adapter.rb", "", "ruby adapter.rb", "String#valid_encoding? and #codepoints", ("rb",)),
        AdapterTemplate("php", "adapter.php", "", "php adapter.php", "mbstring"),
        AdapterTemplate("perl", "adapter.pl", "", "perl adapter.pl", "Encode", ("pl",)),
        AdapterTemplate("lua", "adapter.lua", "", "lua5.4 adapter.lua", "utf8.len and utf8.codes"),
        AdapterTemplate(
            "ocaml",
            "adapter.ml",
            "ocamlopt -I +uutf uutf.cmxa adapter.ml -o adapter",
            "./adapter",
            "Uutf",
            ("ml",),
        ),
        AdapterTemplate("erlang", "adapter.erl", "", "escript adapter.erl", "unicode:characters_to_binary", ("erl",)),
    )
}


def template_for(name: str) -> AdapterTemplate | None:
    """The template of a language, by any of its names in any case; None if there is none."""
    folded = name.casefold()
    return next((each for each in TEMPLATES.values() if folded in (each.language, *each.others)), None)
