"""The survey: ``python corpora/survey install``, ``run``, ``issues``; and every verb of overlong, with the records.

``python corpora/survey certify --quick yajl`` certifies the decoder of a record; ``target list`` lists them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from overlong.__main__ import main
from overlong.conformance.cli.verbs import VERBS
from overlong.conformance.targets.shipped import VARIABLE

HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parents[1]), *(entry for entry in sys.path if entry != str(HERE))]  # corpora.survey.kept
os.environ.setdefault(VARIABLE, str(HERE / "offered.py"))
VERBS.update({verb: f"corpora.survey.{verb}" for verb in ("install", "run", "issues")})

if __name__ == "__main__":
    main("python corpora/survey")
