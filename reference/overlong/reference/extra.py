"""How an extra of overlong is installed: said here, and nowhere else in the code."""


def install(extra: str) -> str:
    """The remedy for a library that is missing, to stand after what is missing.

    It names no package index: the name overlong is not registered in any, so a stranger could take it.
    """
    return f"in a checkout of overlong: pip install '.[{extra}]'"
