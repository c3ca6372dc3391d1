"""`check` and `load_head` say the same of a head."""

import pytest
import torch
from safetensors.torch import load_file

from foredraft.core.errors import ForedraftError
from foredraft.heads.load import load_head
from foredraft.planner.facts.read import read
from foredraft.planner.pairing.compat import judge
from foredraft.planner.pairing.ruling import Verdict
from tests import tiny
from tests.heads import folders
from tests.planner.facts.models import folder_facts, vocabulary

LOSSY = {"proposal_methods": [{"proposal_type": "greedy", "verifier_accept_k": 2}]}
EAGLE3 = {"draft_vocab_size": folders.DRAFTED}


@pytest.mark.parametrize(
    ("config", "tensors", "fits"),
    [
        (folders.llama(), folders.eagle(), True),
        (folders.llama(**EAGLE3), folders.eagle3(), True),
        (folders.llama(vocab_size=99, **EAGLE3), folders.eagle3(), False),
        (folders.llama(target_hidden_size=64, **EAGLE3), folders.eagle3(), False),
        (folders.llama(size=64), folders.eagle(), False),
        (folders.llama(speculators_config=LOSSY, **EAGLE3), folders.eagle3(), False),
        (folders.llama(**EAGLE3), None, False),
    ],
)
def test_they_agree(tmp_path, config, tensors, fits):
    folder = folders.write(tmp_path / "h", config, tensors or folders.eagle3())
    if tensors is None:
        torch.save(load_file(folder / "m.safetensors"), folder / "pytorch_model.bin")
        (folder / "m.safetensors").unlink()
    entries = vocabulary([f"t{n}" for n in range(folders.VOCAB)])
    facts = folder_facts(tokens=entries, hidden_size=folders.HIDDEN)
    ruling = judge(facts, read(str(folder), lambda *_: None)).engines["foredraft"]
    assert (ruling.verdict is not Verdict.NO) == fits
    target = tiny.target(num_hidden_layers=6)
    if fits:
        assert load_head(str(folder), target)
    else:
        with pytest.raises(ForedraftError):
            load_head(str(folder), target)
