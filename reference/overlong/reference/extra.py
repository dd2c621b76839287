"""How to install an extra of overlong. No other place in the code says it."""


def install(extra: str) -> str:
    """The remedy for a missing library; messages put it after the library's name.

    It names no package index: the name overlong is registered in none, so a stranger could take it.
    """
    return f"in a checkout of overlong: pip install '.[{extra}]'"
