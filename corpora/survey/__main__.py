"""The survey: ``python corpora/survey install``, ``run``, ``issues``; and every verb of overlong, with the records.

``python corpora/survey certify --quick yajl`` certifies the decoder of a record; ``target list`` lists them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from overlong.__main__ import main
from overlong.conformance.cli.verbs import VERBS
from overlong.conformance.targets.builtins import VARIABLE

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:] = [str(ROOT), str(ROOT / "docs"), *(each for each in sys.path if each != str(HERE))]
os.environ[VARIABLE] = str(HERE / "offered.py")
VERBS.update({verb: f"corpora.survey.{verb}" for verb in ("install", "run", "issues")})

if __name__ == "__main__":
    main("python corpora/survey")
