"""What is kept of a divergence: its place, a less input that shows it, how often it shows again, and its record.

Conditions come from the examiner (``conformance/examination``); what that cannot explain is made less here.
"""
