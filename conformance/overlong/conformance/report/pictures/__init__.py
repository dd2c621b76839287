"""Pictures of results: SVG text with classes, made only from a report's data.

``pictures.css`` has the colours, which are those of the page; hatching, glyphs or words repeat their meaning. Every
picture is an image with a name (``role="img"``, ``aria-label``). All text from reports is hostile and goes through
``printable`` and XML's escaping.
"""
