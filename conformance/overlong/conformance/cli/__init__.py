"""The verbs of the command line, their progress and errors, and the pytest plugin.

In come words and files; out come text, folders and exit codes. What a verb does stands in other rooms: here it is only
asked for.
"""
