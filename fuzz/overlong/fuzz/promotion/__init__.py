"""A finding becomes a regression test: in the language of the decoder's author, or a vector of this project.

In comes a finding of any kind; out goes a file that needs nothing of ours. Nothing here knows campaigns' stores.
"""
