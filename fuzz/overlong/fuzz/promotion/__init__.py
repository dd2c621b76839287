"""Turn a finding into a regression test in the decoder's language, or into a vector of this project.

From any finding it makes a file that does not need overlong. Nothing here knows campaigns' stores.
"""
