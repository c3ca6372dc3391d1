"""What each layer of a GGUF model keeps, by its header; numbers as llama.cpp allocates them."""

from typing import Any

from foredraft.core.errors import ForedraftError
from foredraft.planner.facts.cache import LayerCache
from foredraft.targets.gguf_header import GGUFHeader

_RECURRENT = {"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"}
_EVERY_FOURTH = {"qwen3next", "qwen35", "qwen35moe", "qwen4exp"}
"""Where one layer in `full_attention_interval` attends, by default the fourth."""
_WINDOWS = {
    "gemma2": 2,
    "gemma3": 6,
    "gemma3n": 5,
    "gpt-oss": 2,
    "cohere2": 4,
    "olmo2": 4,
    "exaone4": 4,
    "exaone-moe": 4,
    "plamo3": 8,
    "afmoe": 4,
}
"""Every n-th layer sees everything, where the file leaves the pattern to the engine."""


class Numbers:
    """The architecture's numbers in a header, each one for all layers or one a layer."""

    def __init__(self, header: GGUFHeader) -> None:
        self._header = header

    def one(self, name: str, default: int = 0) -> int:
        """A number, or the largest where it differs by layer."""
        return max(self.by_layer(name, 1, default), default=default)

    def by_layer(self, name: str, count: int, default: int = 0) -> list[int]:
        """As many numbers as there are layers, or as the file has."""
        value: Any = self._header.fields.get(f"{self._header.architecture}.{name}", default)
        values = value if isinstance(value, list) else [value] * count
        if not all(isinstance(number, int) for number in values):
            raise ForedraftError(
                f"The header's field {self._header.architecture}.{name} is {value!r} where a whole "
                "number belongs; convert the model again."
            )
        return [int(number) for number in values]

    def has(self, name: str) -> bool:
        return f"{self._header.architecture}.{name}" in self._header.fields


def layers(header: GGUFHeader) -> tuple[LayerCache, ...]:
    """One entry a layer; heads that only draft (MTP) are not among them."""
    numbers = Numbers(header)
    count = numbers.one("block_count") - numbers.one("nextn_predict_layers")
    attention, state = _attention(header, count), _state(numbers)
    both = header.architecture == "falcon-h1"
    return tuple(
        LayerCache(
            values=0 if recurrent and not both else values,
            window=window,
            state=state if recurrent else 0,
            recurrent=recurrent and not numbers.has("shortconv.l_cache"),
        )
        for (values, window), recurrent in zip(attention, _recurrent(header, count), strict=True)
    )


def _attention(header: GGUFHeader, count: int) -> list[tuple[int, int | None]]:
    """(numbers kept for a token, window) of each layer, were it an attention layer."""
    numbers = Numbers(header)
    heads = max(1, numbers.one("attention.head_count", 1))
    width = numbers.one("embedding_length") // heads
    latent = numbers.has("attention.key_length_mla")  # values are read out of the keys
    groups = numbers.by_layer("attention.head_count_kv", count, heads)
    windows = _windows(header, count)
    own = count - numbers.one("attention.shared_kv_layers")

    def kept(layer: int) -> int:
        if layer >= own or layer >= len(groups):
            return 0
        tail = "_swa" if windows[layer] and numbers.has("attention.key_length_swa") else ""
        key = numbers.one(f"attention.key_length{tail}", width)
        value = 0 if latent else numbers.one(f"attention.value_length{tail}", width)
        return groups[layer] * (key + value)

    return [(kept(layer), windows[layer]) for layer in range(count)]


def _windows(header: GGUFHeader, count: int) -> list[int | None]:
    numbers = Numbers(header)
    window, name = numbers.one("attention.sliding_window"), "attention.sliding_window_pattern"
    pattern = numbers.by_layer(name, 1, _WINDOWS.get(header.architecture, 0))
    if not window or header.architecture == "phi3":  # llama.cpp leaves Phi's window unused
        return [None] * count
    if len(pattern) > 1:
        slides = [bool(flag) for flag in (*pattern, *[0] * count)][:count]
    else:
        slides = [
            bool(pattern[0]) and layer % pattern[0] < pattern[0] - 1 for layer in range(count)
        ]
    return [window if flag else None for flag in slides]


def _recurrent(header: GGUFHeader, count: int) -> list[bool]:
    """Which layers keep a state instead of keys and values; falcon-h1's keep both."""
    numbers, arch = Numbers(header), header.architecture
    if arch in _RECURRENT or arch == "falcon-h1":
        return [True] * count
    if numbers.has("attention.recurrent_layers"):
        flags = numbers.by_layer("attention.recurrent_layers", count)
        return [bool(flag) for flag in (*flags, *[0] * count)][:count]
    if arch in _EVERY_FOURTH or numbers.has("full_attention_interval"):
        interval = max(1, numbers.one("full_attention_interval", 4))
        return [(layer + 1) % interval != 0 for layer in range(count)]
    if not _state(numbers):  # layers may also do without attention and keep nothing
        return [False] * count
    groups = numbers.by_layer("attention.head_count_kv", count, 1)
    feeds = numbers.by_layer("feed_forward_length", count, 0)
    only_feeds = len(set(feeds)) > 1  # layers of Nemotron-H either feed forward or mix tokens
    return [
        layer < len(groups) and not groups[layer] and not (only_feeds and feeds[layer])
        for layer in range(count)
    ]


def _state(numbers: Numbers) -> int:
    """Numbers a recurrent layer keeps: what its convolution saw last, and its memory."""
    width, heads = numbers.one("embedding_length"), numbers.one("attention.head_count")
    if shift := numbers.one("shortconv.l_cache"):
        return width * (shift - 1)
    if head := numbers.one("wkv.head_size"):
        return width * (numbers.one("token_shift_count", 2) + head)
    if head := numbers.one("kda.head_dim"):
        return heads * head * (3 * (numbers.one("ssm.conv_kernel", 4) - 1) + head)
    inner, memory = numbers.one("ssm.inner_size"), numbers.one("ssm.state_size")
    seen = max(0, numbers.one("ssm.conv_kernel") - 1)
    return seen * (inner + 2 * numbers.one("ssm.group_count") * memory) + inner * memory
