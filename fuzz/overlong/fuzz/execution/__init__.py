"""Executors: give one target many generated inputs, in its own process, in columns or one by one.

They turn a job and numbers of inputs into divergences, and do not depend on the engine or the campaign.
"""
