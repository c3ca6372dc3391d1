#!/usr/bin/env bash
# Makes the models that OpenVINO GenAI, a rival of benchmarks/rivals.py, runs: the same dequantized
# weights as everybody's, exported to OpenVINO's format in int8 and int4.
#
#   benchmarks/openvino_models.sh FOLDER [MODEL ...]
#
# Run it where foredraft is installed. MODEL is any name foredraft.load takes (the Qwen2.5-Coder pair
# if left out). OpenVINO and its converters get an environment of their own, FOLDER/venv, so that
# they cannot disturb yours; pass FOLDER to `rivals.py --openvino`. Leaves FOLDER/MODEL-int8 and
# FOLDER/MODEL-int4. A GGUF file is not given to OpenVINO directly: its reader knows only some of
# the formats (it refuses the Q5_0 tensors of the 0.5B).
set -euo pipefail

if [ $# -lt 1 ]; then
    echo "Name the folder to write to: benchmarks/openvino_models.sh FOLDER [MODEL ...]" >&2
    exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- qwen2.5-coder-1.5b qwen2.5-coder-0.5b

if [ ! -x "$folder/venv/bin/optimum-cli" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet openvino-genai "optimum-intel[openvino]" torch==2.13.0
    # Only images need it, and one that does not fit torch breaks the converter.
    "$folder/venv/bin/pip" uninstall --quiet --yes torchvision
fi
for model in "$@"; do
    if [ ! -d "$folder/$model" ]; then
        python3 - "$model" "$folder/$model" <<'PY'
import sys

import torch

from foredraft.targets.weights import load

name, folder = sys.argv[1:]
loaded = load(name, torch.bfloat16, torch.device("cpu"))
loaded.model.save_pretrained(folder)
loaded.tokenizer._hf.save_pretrained(folder)
PY
    fi
    for format in int8 int4; do
        [ -d "$folder/$model-$format" ] || "$folder/venv/bin/optimum-cli" export openvino \
            --model "$folder/$model" --task text-generation-with-past \
            --weight-format "$format" "$folder/$model-$format"
    done
    rm -rf "${folder:?}/$model"
done
