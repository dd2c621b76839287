"""The data of a run: runs, certificates, expected deviations, results files, and reports read from them.

This package turns measurements, or the files of earlier runs, into records and a ``Report``. It must not start a
target, and does not decide how a report looks.
"""
