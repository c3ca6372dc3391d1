"""The file that earlier answers are kept in, read as the server would after a crash."""

from pathlib import Path
from typing import Any

import numpy as np

END = -1


def stored(path: Path) -> dict[str, Any]:
    """How many answers and tokens it holds; `whole` is False for a file that is damaged."""
    if not path.exists():
        return {"whole": True, "answers": 0, "tokens": 0}
    try:
        with np.load(path, allow_pickle=False) as saved:
            tokens = saved["tokens"]
    except Exception as error:  # whatever a damaged file makes of a reader
        return {"whole": False, "error": f"{type(error).__name__}: {error}"}
    ends = int((tokens == END).sum())
    whole = tokens.size == 0 or int(tokens[-1]) == END
    return {"whole": whole, "answers": ends, "tokens": int(tokens.size) - ends}
