#!/bin/sh
# foredraft's models in the `llm` command (https://llm.datasette.io).
#
#     pip install 'foredraft[llm]'
#     sh examples/llm_plugin.sh [MODEL]
#
# MODEL is a name from `foredraft pull --list`, a .gguf file, a folder or a Hugging Face repository.
set -eu
model=${1:-smollm2}

# --usage says afterwards what speculation did.
llm --model foredraft -o model "$model" -o max_tokens 60 --usage \
    "Repeat this sentence three times, word for word: The tide comes in twice a day."

# The conversation goes on; a seed makes a sampled answer come again.
llm --continue -o model "$model" -o max_tokens 30 -o temperature 0.7 -o seed 1 \
    "And how often does it go out?"
