"""The data of a run: runs, certificates, expected deviations, results files, and reports read from them.

In come what was measured, or files of earlier runs; out come records and a ``Report``. Nothing here may start a
target or decide how anything looks.
"""
