"""Transformers: a script with generate()."""

import json

from foredraft.drafters.ngram import LONGEST
from foredraft.planner.export.models import original
from foredraft.planner.export.settings import Settings, advised, document
from foredraft.planner.plan import Plan

VERSIONS = "Transformers 5.24"


def export(plan: Plan) -> Settings:
    """A script that runs as it is; the draft length is set where generate() reads it."""
    choice, target = advised(plan), original(plan.target, "Transformers")
    notes, setup, arguments = list(target.notes), "", ""
    if choice is not None and choice.drafter == "model":
        draft = original(choice.draft or "", "Transformers")
        setup = _ASSISTANT.format(draft=json.dumps(draft.where), length=choice.draft_len)
        arguments = "    assistant_model=assistant,\n"
        notes += [*draft.notes, _ALONE]
    elif choice is not None:
        arguments = _LOOKUP.format(length=choice.draft_len, longest=LONGEST)
        notes += [_NEAREST[choice.drafter], _ALONE]
    name = json.dumps(target.where)
    text = _SCRIPT.format(target=name, setup=setup, arguments=arguments, sampling=_sampling(plan))
    return document(plan, choice, "transformers", VERSIONS, "generate.py", text, notes)


def _sampling(plan: Plan) -> str:
    if plan.temperature == 0:
        return "    do_sample=False,\n"
    return f"    do_sample=True,\n    temperature={plan.temperature!r},\n"


_SCRIPT = """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({target})
model = AutoModelForCausalLM.from_pretrained({target}, dtype="auto")
{setup}
inputs = tokenizer("Once upon a time", return_tensors="pt")
output = model.generate(
    **inputs,
{arguments}{sampling}    max_new_tokens=256,
)
print(tokenizer.decode(output[0], skip_special_tokens=True))
"""
_ASSISTANT = """\
assistant = AutoModelForCausalLM.from_pretrained({draft}, dtype="auto")
# generate() reads these from the assistant; as arguments of generate() they do nothing.
assistant.generation_config.num_assistant_tokens = {length}
assistant.generation_config.num_assistant_tokens_schedule = "constant"
assistant.generation_config.assistant_confidence_threshold = 0  # 0.4 would stop drafts early
"""
_LOOKUP = """\
    prompt_lookup_num_tokens={length},
    max_matching_ngram_size={longest},
"""
_ALONE = "Transformers speculates for one prompt at a time: no batches, no beams."
_NEAREST = {
    "ngram": "its lookup takes the first match where the plan's takes the latest, and matches of "
    "one token too.",
    "suffix": "Transformers has no suffix lookup; its prompt lookup, which takes the first match, "
    "is the nearest.",
}
