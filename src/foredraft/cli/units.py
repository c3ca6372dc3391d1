"""Times and sizes as people write them."""

import re

from foredraft.core.errors import ForedraftError

_TIMES = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES = {"K": 10, "M": 20, "G": 30, "T": 40}


def read_time(text: str, option: str) -> float:
    """Seconds, of 90s, 2m or 1h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip())
    if match is None or float(match[1]) == 0:
        raise ForedraftError(f"--{option} is {text!r}; write a time such as 90s, 2m or 1h.")
    return float(match[1]) * _TIMES[match[2]]


def read_size(text: str, option: str) -> int:
    """Bytes, of 800M or 4G."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT])i?B?", text.strip(), re.IGNORECASE)
    if match is None or float(match[1]) == 0:
        raise ForedraftError(f"--{option} is {text!r}; write a size such as 800M or 4G.")
    return int(float(match[1]) * (1 << _SIZES[match[2].upper()]))
