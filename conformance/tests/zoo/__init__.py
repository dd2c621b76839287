"""What tests measure: right decoders, encoders and functions, and wrong ones with what they must be refused for.

| file | holds | its table |
|---|---|---|
| ``known_wrong.py`` | decoders, one fault each | ``WRONG``: the codes of each |
| ``named_faults.py`` | decoders that once got a certificate | ``CALLED``, ``COMPILED``: a plan that finds each |
| ``causes.py`` | decoders with one cause and many consequences, or two causes | |
| ``wrong_replacers.py`` | decoders that replace, and those of dialects | ``RIGHT``, ``WRONG``: error modes |
| ``wrong_encoders.py`` | encoders, one fault each | ``WRONG``: codes; ``RIGHT`` |
| ``wrong_on_long_text.py`` | encoders with a fault in long text | ``SAID``: code and sentence |
| ``functions.py`` | functions beside decoding | ``RIGHT``, ``WRONG``, ``BY_MODE`` |
| ``counters.py``, ``offset_sayers.py`` | units and places of refusals | |
| ``with_traits.py`` | limits that are declared, rightly or wrongly | |
| ``speakers.py`` | a decoder of each dialect and error mode | |
| ``batched_target.py``, ``hostile_target.py`` | programs that break the protocol | ``FAULTS`` |
| ``shared_libraries/`` | functions in C; ``right_functions.py`` has the ABIs of right ones | |

Each Python file is a target, ``py:known_wrong.py:surrogates`` for example, and loads nothing of the others.
"""

from pathlib import Path

ZOO = Path(__file__).parent
SHARED_LIBRARIES = ZOO / "shared_libraries"
