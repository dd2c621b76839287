"""Why a finding cannot be handed on."""

from __future__ import annotations


class PromotionError(Exception):
    """A finding cannot become that. The message is one line that names it and says what can be done instead."""
