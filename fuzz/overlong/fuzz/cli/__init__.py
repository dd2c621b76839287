"""The commands for campaigns and findings, and the screen of a running campaign.

This package turns command-line words into texts and exit codes. No lower package imports it.
"""
