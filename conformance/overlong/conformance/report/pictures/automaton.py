"""The learned automaton beside that of the reference, as ``identify`` draws it: for decoders that are not at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.models.identify.picture import Drawing, drawn_in_svg
from overlong.reference import DIALECTS, dialect

if TYPE_CHECKING:
    from overlong.conformance.results.model import Subject


def automaton_picture(subject: Subject) -> str:
    """What was learned of a decoder; of one that passes the verdict, the automaton that complete-0 says it is.

    Returns:
        SVG; what was learned comes from a file and is as hostile as that. Nothing if nobody knows its automaton.
    """
    if subject.automaton is not None and subject.automaton.svg:
        return subject.automaton.svg
    speaks = subject.profile.partition("@")[0]
    whole = any(part.name == "complete-0" and not part.failing and part.asked == part.all for part in subject.parts)
    if subject.claims.get("verdict") != "holds" or speaks not in DIALECTS or not whole:
        return ""
    known = dialect(speaks).automaton
    return drawn_in_svg([Drawing(f"{speaks}, the reference; complete-0 shows that it is this", known, known)])
