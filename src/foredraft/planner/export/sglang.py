"""SGLang's command."""

from foredraft.planner.export.models import original
from foredraft.planner.export.settings import (
    Settings,
    advised,
    command,
    document,
    drafts_greedily,
)
from foredraft.planner.plan import Choice, Plan

VERSIONS = "SGLang as documented in the autumn of 2026"
_HEADS = {
    "eagle": "EAGLE",
    "eagle3": "EAGLE3",
    "mtp": "NEXTN",
    "dflash": "DFLASH",
    "dspark": "DSPARK",
}
"""What its algorithms for trained heads are called."""


def export(plan: Plan) -> Settings:
    """`sglang.launch_server` with STANDALONE or NGRAM, drafting chains as the plan measured."""
    choice, target = advised(plan, _HEADS), original(plan.target, "SGLang")
    flags, notes = ([], []) if choice is None else _speculation(plan, choice)
    server = ("python3", "-m", "sglang.launch_server", "--model-path", target.where)
    text = command(server, *flags)
    return document(plan, choice, "sglang", VERSIONS, "sglang.sh", text, [*target.notes, *notes])


def _speculation(plan: Plan, choice: Choice) -> tuple[list[tuple[str, str]], list[str]]:
    # SGLang counts the token that is verified beside the drafts.
    rows = ("--speculative-num-draft-tokens", str(choice.draft_len + 1))
    if choice.drafter in ("model", *_HEADS):
        draft = original(choice.draft or "", "SGLang")
        flags = [
            ("--speculative-algorithm", _HEADS.get(choice.drafter, "STANDALONE")),
            ("--speculative-draft-model-path", draft.where),
            ("--speculative-num-steps", str(choice.draft_len)),
            ("--speculative-eagle-topk", "1"),
            rows,
        ]
        return flags, [*draft.notes, *drafts_greedily(plan, choice, "SGLang")]
    flags = [
        ("--speculative-algorithm", "NGRAM"),
        rows,
        ("--speculative-ngram-max-bfs-breadth", "1"),
        ("--speculative-ngram-match-type", "PROB" if choice.drafter == "suffix" else "BFS"),
    ]
    return flags, [_SHARED]


_SHARED = (
    "NGRAM needs CUDA, turns the overlap scheduler off, and keeps one cache for all requests, \
so one user's text may draft another's answer (never change it)."
)
