"""Runs one OpenVINO GenAI pipeline: a JSON line in, a JSON line out.

Started by engines/ov.py with the Python that has openvino-genai; imports nothing of ours.

    python ov_worker.py MODEL_FOLDER plain|lookup|draft [DRAFT_FOLDER] THREADS
"""

import json
import sys
import time
from typing import Any

import numpy as np
import openvino
import openvino_genai


class Clock(openvino_genai.StreamerBase):
    """Notes when each step's tokens arrive, and how many."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = time.perf_counter()
        self.rounds: list[tuple[float, int]] = []

    def write(self, tokens: int | list[int]) -> Any:
        count = 1 if isinstance(tokens, int) else len(tokens)
        self.rounds.append((time.perf_counter() - self.begun, count))
        return openvino_genai.StreamingStatus.RUNNING

    def end(self) -> None:
        pass


def answer(pipeline: Any, ask: dict[str, Any]) -> dict[str, Any]:
    """One text, timed step by step; `sampled` is what the pipeline's own statistics say of it."""
    config = openvino_genai.GenerationConfig()
    config.max_new_tokens = ask["tokens"]
    config.set_eos_token_id(ask["eos"][0])
    config.stop_token_ids = set(ask["eos"])
    config.do_sample = ask["temperature"] > 0
    if config.do_sample:
        config.temperature, config.rng_seed = ask["temperature"], ask["seed"]
    if ask["draft_len"]:
        config.num_assistant_tokens = ask["draft_len"]
    if ask["ngram"]:
        config.max_ngram_size = ask["ngram"]
    clock = Clock()
    ids = np.array([ask["ids"]], dtype=np.int64)
    inputs = openvino_genai.TokenizedInputs(
        openvino.Tensor(ids), openvino.Tensor(np.ones_like(ids))
    )
    out = pipeline.generate(inputs, config, clock)
    metrics, counts = out.extended_perf_metrics, {}
    for name in ("draft", "accepted", "rejected"):
        if read := getattr(metrics, f"get_num_{name}_tokens", None):
            counts[name] = int(read())
    return {"ids": list(out.tokens[0]), "rounds": clock.rounds, "counts": counts}


def main() -> None:
    model, mode, *draft, threads = sys.argv[1:]
    options: dict[str, Any] = {"INFERENCE_NUM_THREADS": int(threads)}
    if mode == "lookup":
        options["prompt_lookup"] = True
    if mode == "draft":
        options["draft_model"] = openvino_genai.draft_model(draft[0], "CPU", **dict(options))
    pipeline = openvino_genai.LLMPipeline(model, "CPU", **options)
    print(json.dumps({"version": openvino_genai.__version__}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(pipeline, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
