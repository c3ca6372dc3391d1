"""Grammars of strangers are compiled first where they can be stopped: in a process of their own.

llguidance's limits bound most of what a grammar can do, but not all: the intersection of forty
short patterns takes it minutes, in a thread that cannot be ended.
"""

import json
import subprocess
import sys

from foredraft.core.errors import ForedraftError
from foredraft.grammar.grammar import Grammar
from foredraft.grammar.vocabulary import LIMITS, refused

_COMPILE = """
import json, sys
from llguidance import LLMatcher, LLParserLimits
ask = json.load(sys.stdin)
limits = LLParserLimits(**ask["limits"], verbose_errors=False)
print(json.dumps(LLMatcher.validate_grammar(ask["source"], limits=limits)))
"""


def try_compile(grammar: Grammar, seconds: float) -> None:
    """Raise ForedraftError if `grammar` cannot be compiled within that time."""
    ask = json.dumps({"source": grammar.source, "limits": LIMITS})
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _COMPILE],
            input=ask.encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ForedraftError(
            f"The {grammar.kind} takes more than {seconds:g} s to compile; make it simpler: fewer "
            "patterns at one place, smaller repetitions."
        ) from None
    if done.returncode != 0:  # it ran out of memory or stack
        raise ForedraftError(f"The {grammar.kind} cannot be compiled; make it simpler.")
    why = json.loads(done.stdout)
    if why:
        raise refused(grammar, why)
