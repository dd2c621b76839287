"""Certifies many targets for one table: each in its own process, several at a time.

``row.py`` has the job and the result of one target, ``statement.py`` the file with all rows, ``running.py`` the
processes, each of which runs ``worker.py``. This module imports nothing: a worker must first listen for interruptions.
"""
