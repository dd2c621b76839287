"""Write a ``Report`` as text: for a terminal, Markdown, HTML with pictures, JUnit, SARIF or a badge.

This package must not read a file of results, start a target, or judge an answer.
"""
