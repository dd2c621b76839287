"""Many targets, one table: each is certified in a process of its own, several at a time.

``row.py`` is what became of one target, ``statement.py`` the file with all rows, ``running.py`` has the processes, each
of which runs ``worker.py``. Nothing is imported here: a worker has to listen for interruptions first.
"""
