"""What a user can mend about a campaign's folder."""

from __future__ import annotations


class CampaignError(Exception):
    """A folder cannot be used, or not for this campaign. The message is one line that names it and the remedy."""
