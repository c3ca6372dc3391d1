"""Speculative decoding inside `model.generate`, for a model that is in memory already.

    python examples/transformers_generate.py MODEL [DRAFT]

MODEL and DRAFT are folders or Hugging Face repositories that share a tokenizer, for example
Qwen/Qwen2.5-1.5B-Instruct and Qwen/Qwen2.5-0.5B-Instruct. Without DRAFT, foredraft copies from the
text so far where that pays.
"""

import sys

from transformers import AutoModelForCausalLM, AutoTokenizer, TextStreamer

import foredraft

PROMPT = (
    "Repeat this sentence three times, word for word: "
    "The tide comes in twice a day, and twice a day the tide goes out."
)

name, *draft = sys.argv[1:]
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)
assistant = AutoModelForCausalLM.from_pretrained(draft[0]) if draft else None

prompt = tokenizer.apply_chat_template(
    [{"role": "user", "content": PROMPT}],
    add_generation_prompt=True,
    return_dict=True,
    return_tensors="pt",
)
answer = model.generate(
    **prompt,
    max_new_tokens=80,
    do_sample=False,
    streamer=TextStreamer(tokenizer, skip_prompt=True),
    assistant_model=assistant,
    custom_generate=foredraft.generate,  # the one line that is new
    return_dict_in_generate=True,
)

stats = answer.stats
print(
    f"{stats.generated_tokens} tokens in {stats.target_passes} passes, "
    f"{stats.accepted} of them from the draft"
)
