"""Pictures of what was measured: SVG text with classes, made from a report's data and nothing else.

Colours stand in ``pictures.css`` and are those of the page; what colours say, hatching, glyphs or words say, too. Every
picture is an image with a name (``role="img"``, ``aria-label``). All text from reports is hostile and goes through
``printable`` and XML's escaping.
"""
