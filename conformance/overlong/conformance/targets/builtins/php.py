"""Decoders of PHP: the language's own and those of its extensions."""

from __future__ import annotations

from overlong.conformance.targets.builtin import ADAPTERS, Builtin, found, not_on_path, said

# Standard output is for answers alone.
_QUIET = ("-d", "display_errors=stderr", "-d", "display_startup_errors=0", "-d", "log_errors=0")
_UNLIMITED = ("-d", "memory_limit=-1")


def _asked(code: str) -> str:
    return said(found("php"), *_QUIET, "-r", code)


def _missing(extension: str, package: str) -> str:
    if why := not_on_path("php", "PHP 8.1 or later (Debian: apt install php-cli)"):
        return why
    if not extension or _asked(f'echo extension_loaded("{extension}") ? "yes" : "no";') == "yes":
        return ""
    return f"php has no extension {extension}; install it (Debian: apt install {package})"


def _php(name: str, what: str, *, extension: str = "", package: str = "") -> Builtin:
    return Builtin(
        f"php-{name}",
        "PHP",
        what,
        lambda: _missing(extension, package),
        lambda: [found("php"), *_QUIET, *_UNLIMITED, str(ADAPTERS / "php_utf8.php"), name],
        lambda: _asked('echo "PHP ", PHP_VERSION;'),
    )


PHP_DECODERS = (
    _php(
        "mbstring",
        "mb_check_encoding, mb_convert_encoding, mb_chr",
        extension="mbstring",
        package="php-mbstring",
    ),
    _php("mb-scrub", "mb_scrub", extension="mbstring", package="php-mbstring"),
    _php("iconv", "iconv", extension="iconv", package="php-common"),
    _php("iconv-filter", "the stream filter convert.iconv, in chunks", extension="iconv", package="php-common"),
    _php("preg", "preg_match with the modifier u"),
    _php("json", "json_decode of a string, strict and substituting"),
    _php("json-ignore", "json_decode with JSON_INVALID_UTF8_IGNORE"),
    _php("htmlspecialchars", "htmlspecialchars, strict and ENT_SUBSTITUTE"),
)
