"""The decoders of the survey's records, for overlong: ``OVERLONG_DECODERS=corpora/survey/offered.py``."""

import sys
from pathlib import Path

if (_root := str(Path(__file__).resolve().parents[2])) not in sys.path:
    sys.path.append(_root)

from corpora.survey.records import surveyed as decoders

__all__ = ["decoders"]
