"""A ``Report`` in, text out: terminal, Markdown, HTML with its pictures, JUnit, SARIF, badges.

Nothing here may read a file of results, start a target or decide what is right.
"""
