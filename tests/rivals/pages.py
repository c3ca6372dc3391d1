"""What the engines send, as recorded or as their documentation shows it."""

LLAMA_TIMINGS = {
    "cache_n": 0,
    "prompt_n": 51,
    "prompt_ms": 1469.268,
    "predicted_n": 24,
    "predicted_ms": 1338.038,
    "predicted_per_second": 17.18934738774235,
    "draft_n": 26,
    "draft_n_accepted": 16,
}

VLLM_METRICS = {
    "speculative_decoding": {
        "mean_acceptance_length": 1.2325581395348837,
        "draft_acceptance_rate": 0.07751937984496124,
        "acceptance_histogram": [39, 1, 0, 3],
        "acceptance_histogram_by_draft_length": {"3": [39, 1, 0, 3]},
        "num_spec_steps": 43,
        "num_accepted_draft_tokens": 10,
        "num_draft_tokens": 129,
        "num_spec_tokens": 3,
    }
}

LM_STUDIO_STATS = {
    "total_draft_tokens_count": 20,
    "accepted_draft_tokens_count": 17,
    "rejected_draft_tokens_count": 3,
}


def llama_page(generated, seconds, drafted, accepted, drafts, positions=(), running=0):
    lines = [
        "# HELP llamacpp:tokens_predicted_total Number of generation tokens processed",
        "# TYPE llamacpp:tokens_predicted_total counter",
        f"llamacpp:tokens_predicted_total {generated}",
        "# TYPE llamacpp:tokens_predicted_seconds_total counter",
        f"llamacpp:tokens_predicted_seconds_total {seconds}",
        f"llamacpp:spec_decode_num_draft_tokens_total {drafted}",
        f"llamacpp:spec_decode_num_accepted_tokens_total {accepted}",
        f"llamacpp:spec_decode_num_drafts_total {drafts}",
        "# TYPE llamacpp:requests_processing gauge",
        f"llamacpp:requests_processing {running}",
    ]
    lines += [
        f'llamacpp:spec_decode_num_accepted_tokens_per_pos_total{{position="{i}"}} {count}'
        for i, count in enumerate(positions)
    ]
    return "\n".join(lines) + "\n"


def vllm_page(generated, drafted, accepted, drafts, positions, engines=("0",), running=1):
    """The counts are those of each of the `engines`."""
    lines = ["# TYPE vllm:generation_tokens_total counter"]
    for engine in engines:
        labels = f'engine="{engine}",model_name="facebook/opt-125m"'
        lines += [
            f"vllm:generation_tokens_total{{{labels}}} {generated:.1f}",
            f"vllm:generation_tokens_created{{{labels}}} 1.79e+09",
            f"vllm:num_requests_running{{{labels}}} {running:.1f}",
        ]
        if drafts is None:
            continue
        lines += [
            f"vllm:spec_decode_num_drafts_total{{{labels}}} {drafts:.1f}",
            f"vllm:spec_decode_num_drafts_created{{{labels}}} 1.79e+09",
            f"vllm:spec_decode_num_draft_tokens_total{{{labels}}} {drafted:.1f}",
            f"vllm:spec_decode_num_accepted_tokens_total{{{labels}}} {accepted:.1f}",
        ]
        lines += [
            f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{labels},position="{i}"}} {n:.1f}'
            for i, n in enumerate(positions)
        ]
    return "\n".join(lines) + "\n"


def foredraft_page(generated, seconds, drafted, accepted, rejected, drafts, positions, running=0):
    """Half of the drafts are each of two drafters'."""
    lines = [
        "# TYPE foredraft_generated_tokens_total counter",
        f"foredraft_generated_tokens_total {generated:.1f}",
        f"foredraft_requests_running {running:.1f}",
        f"foredraft_request_decode_seconds_sum {seconds}",
        'foredraft_server_info{engine="llama.cpp",model="smollm2",version="0.1.0"} 1.0',
    ]
    counts = {
        "drafts": drafts,
        "drafted_tokens": drafted,
        "accepted_tokens": accepted,
        "rejected_tokens": rejected,
    }
    lines += [
        f'foredraft_{name}_total{{drafter="{drafter}"}} {count / 2}'
        for name, count in counts.items()
        for drafter in ("model", "suffix")
    ]
    lines += [
        f'foredraft_accepted_at_position_total{{position="{i}"}} {count:.1f}'
        for i, count in enumerate(positions)
    ]
    return "\n".join(lines) + "\n"


FOREDRAFT_SPECULATION = {
    "mode": "auto",
    "exactness": "coupled",
    "target_passes": 14,
    "drafted": 26,
    "accepted": 16,
    "rejected": 4,
    "ignored": 6,
    "per_position": [0.9, 0.8],
    "drafters": {"suffix": [6, 20, 12], "ngram": [2, 6, 4]},
}


def metrics(page):
    """A page for `serving`."""
    return 200, "text/plain; version=0.0.4", page
