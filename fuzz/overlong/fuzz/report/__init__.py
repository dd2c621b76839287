"""Campaigns and findings as text: lines for a terminal, issues, commands that show a finding again.

It turns a campaign's status and findings into lines. Nothing here asks a target.
"""
