"""What an answer must look like: a JSON schema, or a grammar."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from foredraft.core.errors import ForedraftError

MOST_BYTES = 64 * 1024
"""The longest schema or grammar that is read."""

_SPACE = r"( |\n[ \t]{0,32})"
"""JSON's whitespace, once where it may be: without a bound, small models write nothing else."""
_GBNF = re.compile(r"(?m)^\s*[\w-]+\s*::=")
_COUNTING = re.compile(r"(?m)^\s*[\w.-]+\[[^\]\n]*\b(temperature|max_tokens|stop)\s*=")


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language, in the form that llguidance compiles; `kind` names it in messages.

    Made by one of the class methods, which raise ForedraftError for text that is too long or not
    of its kind. Whether it can be compiled is found out by Vocabulary.compile.
    """

    kind: str
    source: str

    @classmethod
    def schema(cls, schema: str | Mapping[str, Any]) -> Self:
        """JSON that a schema (draft 2020-12) describes; what cannot be enforced is an error."""
        try:
            text = schema if isinstance(schema, str) else json.dumps(dict(schema))
            _check_size("JSON schema", text)
            parsed = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise ForedraftError(f"The JSON schema cannot be read as JSON: {error}.") from error
        if not isinstance(parsed, dict):
            raise ForedraftError('The JSON schema must be an object, as in {"type": "object"}.')
        return cls("JSON schema", json.dumps({"grammars": [{"json_schema": cls.spaced(parsed)}]}))

    @staticmethod
    def spaced(schema: Mapping[str, Any]) -> dict[str, Any]:
        """A schema that bounds the space between tokens, for %json in a Lark grammar."""
        return {"x-guidance": {"whitespace_pattern": _SPACE}, **schema}

    @classmethod
    def json_object(cls) -> Self:
        """Any JSON object."""
        return cls.schema({"type": "object"})

    @classmethod
    def lark(cls, text: str) -> Self:
        """A grammar in llguidance's dialect of Lark, whose rule `start` is the answer.

        A regular expression is the grammar `start: /…/`.
        """
        _check_size("grammar", text)
        if _GBNF.search(text):
            raise ForedraftError(
                "The grammar looks like GBNF (::=), but must be Lark (start: …); convert it with "
                "python -m llguidance.gbnf_to_lark."
            )
        if found := _COUNTING.search(text):
            raise ForedraftError(
                f"The grammar sets {found[1]}=, which depends on more than the text so far; leave "
                "it out (a regular expression can count, suffix= and lazy can end a match)."
            )
        return cls("grammar", json.dumps({"grammars": [{"lark_grammar": text}]}))


def _check_size(kind: str, text: str) -> None:
    size = len(text.encode("utf-8", errors="replace"))
    if size > MOST_BYTES:
        raise ForedraftError(
            f"The {kind} has {size:,} bytes, more than the {MOST_BYTES:,} that are read; say what "
            "repeats once ($defs in a schema, rules in a grammar)."
        )
