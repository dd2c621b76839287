"""What a user types: the commands of campaigns and findings, and the screen of a running one.

In come words; out come texts and exit codes. Nothing below imports anything from here.
"""
