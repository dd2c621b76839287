"""The module for Go: the JSON documents embedded, and types for what they hold."""

from __future__ import annotations

from corpora.packages.contents import NAME, VERSION, readme, source, tarball

_MAJOR = VERSION.partition(".")[0]
MODULE = "overlong.invalid/vectors" + (f"/v{_MAJOR}" if int(_MAJOR) > 1 else "")
"""A path that cannot be fetched, until it is published at a real one."""
EXAMPLE = f"""package main

import (
	"fmt"
	"unicode/utf8"

	"{MODULE}"
)

func main() {{
	wrong := vectors.Failing(func(octets []byte) (string, bool) {{ return string(octets), utf8.Valid(octets) }})
	fmt.Println(len(wrong), "wrong", wrong)
}}
"""
FIELDS = """`Octets` is the input. `Expect.Strict` says whether it is well-formed, `Expect.Replacement` the output of a\
 decoder that replaces a maximal subpart at a time; Go itself replaces each octet."""


def module(held: dict[str, bytes], homepage: str | None) -> dict[str, bytes]:
    """The module's folder."""
    top = f"{NAME}-go-{VERSION}"
    install = f"tar xzf {top}.tar.gz\n    go mod edit -require={MODULE}@v{VERSION} -replace={MODULE}=./{top}"
    files = held | {
        "go.mod": f"module {MODULE}\n\ngo 1.16\n".encode("ascii"),
        "vectors.go": source("vectors.go").encode("ascii"),
        "README.md": readme(homepage, install, "go", EXAMPLE, FIELDS),
    }
    return {f"{top}.tar.gz": tarball(top, files)}
