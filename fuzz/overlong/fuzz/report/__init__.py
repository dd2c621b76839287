"""Campaigns and findings as text: lines for a terminal, issues, commands that show a finding again.

In come a campaign's status and its findings; out come lines. Nothing here asks a target.
"""
