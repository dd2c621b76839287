"""The verbs of the command line, their progress and errors, and the pytest plugin.

This package turns command-line words and files into calls, and results into text, folders and exit codes. The work
itself is done by the other packages.
"""
