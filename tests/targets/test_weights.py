"""Whatever a user names loads with the original's numbers, or fails with one clear sentence."""

import json
from types import SimpleNamespace

import gguf
import huggingface_hub
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType
from huggingface_hub import errors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from foredraft.core.errors import ForedraftError
from foredraft.targets import hub
from foredraft.targets.packed import HalfLinear, has_half
from foredraft.targets.source import Kind, Source, resolve
from foredraft.targets.torch_hf import load_target
from foredraft.targets.weights import load
from tests.targets import tiny_gguf

CPU = torch.device("cpu")
PROMPT = torch.tensor([[5, 90, 17, 200, 33, 8, 150, 61, 77, 12]])


def logits(model):
    with torch.no_grad():
        return model(PROMPT).logits


def sentence(name, dtype=torch.float32):
    """The sentence that loading `name` fails with."""
    with pytest.raises(ForedraftError) as caught:
        load(str(name), dtype, CPU)
    said = str(caught.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3", "gemma3"])
@pytest.mark.parametrize(
    ("store", "tied"), [("F32", True), ("F16", True), ("Q8_0", True), ("Q8_0", False)]
)
def test_gguf_gives_the_originals_logits(kind, store, tied, tmp_path):
    original = tiny_gguf.model(kind, tie_word_embeddings=tied)
    path = tiny_gguf.write(tmp_path / "m.gguf", kind, original, GGMLQuantizationType[store])
    loaded = load(str(path), torch.float32, CPU)
    torch.testing.assert_close(logits(loaded.model), logits(original), rtol=1e-5, atol=1e-5)
    assert loaded.name == str(path)
    assert not loaded.model.training
    assert not any(weight.requires_grad for weight in loaded.model.parameters())
    assert loaded.model.config._attn_implementation == "sdpa"
    assert loaded.model.generation_config.eos_token_id == sorted(loaded.tokenizer.eos_ids)


def test_biases_of_a_llama_are_read(tmp_path):
    original = tiny_gguf.model("llama", attention_bias=True)
    original.model.layers[0].self_attn.o_proj.bias.data.zero_()
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", original)
    torch.testing.assert_close(logits(load(str(path), torch.float32, CPU).model), logits(original))


def test_half_precision_is_rounded_once(tmp_path):
    """A Gemma norm is shifted before it is rounded, or small weights would lose their digits."""
    original = tiny_gguf.model("gemma3")
    path = tiny_gguf.write(tmp_path / "m.gguf", "gemma3", original)
    loaded = load(str(path), torch.bfloat16, CPU).model.state_dict()
    wrong = [
        n for n, w in original.bfloat16().state_dict().items() if (w - loaded[n]).abs().max() > 1e-3
    ]
    assert loaded["model.norm.weight"].dtype == torch.bfloat16
    assert not wrong


def test_llama_3_rope_factors(tmp_path):
    scaling = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    }
    original = tiny_gguf.model("llama", rope_scaling=scaling)
    plain = tiny_gguf.model("llama").model.rotary_emb.inv_freq
    factors = (plain / original.model.rotary_emb.inv_freq).numpy()
    assert factors.max() == pytest.approx(8)
    path = tiny_gguf.write(
        tmp_path / "m.gguf", "llama", original, extra={"rope_freqs.weight": factors}
    )
    torch.testing.assert_close(logits(load(str(path), torch.float32, CPU).model), logits(original))


def test_loading_reports_progress(tmp_path):
    path = tiny_gguf.write(tmp_path / "m.gguf", "qwen2", tiny_gguf.model("qwen2"))
    news = []
    load(str(path), torch.float32, CPU, lambda *now: news.append(now))
    assert {what for what, _, _ in news} == {f"Loading {path}"}
    assert news[-1][1] == news[-1][2]


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("llama", {"drop": "blk.1.ffn_up"}, "lacks the tensor blk.1.ffn_up.weight, which a llama"),
        ("llama", {"drop": "token_embd"}, "has no token_embd.weight, so it is not a whole"),
        (
            "qwen2",
            {"extra": {"blk.0.odd": np.ones(3)}},
            "1 tensors that a plain qwen2 model has no",
        ),
        (
            "llama",
            {"drop": "output_norm", "extra": {"output_norm.weight": np.ones(3)}},
            "as (3,) where",
        ),
    ],
)
def test_gguf_with_other_tensors(tmp_path, kind, options, said):
    assert said in sentence(
        tiny_gguf.write(tmp_path / "m.gguf", kind, tiny_gguf.model(kind), **options)
    )


def test_gguf_of_another_architecture(tmp_path):
    path = tiny_gguf.write(tmp_path / "m.gguf", "phi3", tiny_gguf.model("llama"))
    said = sentence(path)
    assert "architecture 'phi3', which is not supported as GGUF" in said
    assert "llama, qwen2, qwen3, gemma3" in said


def test_gguf_without_a_field(tmp_path):
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", tiny_gguf.model("llama"))
    path.write_bytes(
        path.read_bytes().replace(b"llama.embedding_length", b"llama.embedding_lengtx")
    )
    assert "its field llama.embedding_length is missing" in sentence(path)


def test_gguf_with_unknown_rope_scaling(tmp_path, monkeypatch):
    add = gguf.GGUFWriter.add_key_length
    monkeypatch.setattr(
        gguf.GGUFWriter,
        "add_key_length",
        lambda self, n: (add(self, n), self.add_string("llama.rope.scaling.type", "longrope")),
    )
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", tiny_gguf.model("llama"))
    assert "rope scaling 'longrope', which is not supported" in sentence(path)


def test_truncated_gguf(tmp_path):
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", tiny_gguf.model("llama"))
    path.write_bytes(path.read_bytes()[:-5000])
    assert "is cut short" in sentence(path)


@pytest.fixture
def folder(tmp_path):
    """A Transformers folder with safetensors, a tokenizer and a generation config."""
    model, folder = tiny_gguf.model("llama"), tmp_path / "folder"
    model.generation_config.eos_token_id = [2, 0]
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tiny_gguf.tokenizer(),
        eos_token="<|im_end|>",
        chat_template=tiny_gguf.TEMPLATE,
    ).save_pretrained(folder)
    return folder


def change(folder, **values):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values))


def test_folder(folder):
    loaded = load(str(folder), torch.float32, CPU)
    torch.testing.assert_close(logits(loaded.model), logits(tiny_gguf.model("llama")))
    assert loaded.tokenizer.eos_ids == {0, 2}
    assert loaded.model.config._attn_implementation == "sdpa"


@pytest.mark.skipif(not has_half(), reason="needs x86 with AVX2")
def test_float16_on_a_cpu_is_the_format_of_the_weights(folder):
    target, full = (load_target(str(folder), dtype, "cpu") for dtype in ("float16", "float32"))
    assert HalfLinear in {type(module) for module in target.model.modules()}
    assert (target.weights, target.model.dtype) == (torch.float16, torch.float32)
    assert target.signature != full.signature
    torch.testing.assert_close(logits(target.model), logits(full.model), atol=2e-2, rtol=0)


def test_folder_without_config(folder):
    (folder / "config.json").unlink()
    assert "has no config.json, so it is not a Transformers model folder" in sentence(folder)


def test_folder_with_broken_config(folder):
    (folder / "config.json").write_text("{")
    assert "config.json cannot be used" in sentence(folder)


def test_folder_of_an_unknown_type(folder):
    change(folder, model_type="hyena9")
    assert "is not supported" in sentence(folder)


def test_folder_without_weights(folder):
    (folder / "model.safetensors").unlink()
    assert "has a config.json and no .safetensors weights" in sentence(folder)


def test_folder_with_pickled_weights_only(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "has only pickled weights, which can run code" in sentence(folder)


def test_folder_with_truncated_weights(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    assert "cannot be loaded" in sentence(folder)


def test_folder_with_another_models_weights(folder):
    change(folder, num_hidden_layers=3)
    assert "tensors are missing or have another shape, such as model.layers.2." in sentence(folder)
    change(folder, num_hidden_layers=2, intermediate_size=32)
    assert "6 tensors are missing or have another shape" in sentence(folder)


def test_folder_with_a_missing_shard(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index = {"metadata": {}, "weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "cannot be loaded" in sentence(folder)


def test_folder_without_tokenizer(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert "has no tokenizer that can be read" in sentence(folder)


def test_folder_of_an_encoder(folder):
    (folder / "model.safetensors").unlink()
    BertForMaskedLM(
        BertConfig(
            vocab_size=320,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
        )
    ).save_pretrained(folder)
    assert "holds a BertForMaskedLM, which does not continue text" in sentence(folder)


def test_folder_of_an_encoder_decoder(folder):
    change(folder, model_type="t5", architectures=["T5ForConditionalGeneration"])
    assert "holds a T5ForConditionalGeneration, which does not continue" in sentence(folder)


def test_a_device_that_is_too_small(folder, monkeypatch):
    def refuse(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("torch.nn.Module.to", refuse)
    said = sentence(folder)
    assert "GB and does not fit on cpu; use a smaller model" in said


def test_what_names_stand_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resolve("smollm2") == Source(Kind.NAMED, "smollm2")
    assert resolve("Qwen/Qwen3-0.6B") == Source(Kind.REPOSITORY, "Qwen/Qwen3-0.6B")
    whole = "Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf"
    assert resolve(whole) == Source(Kind.REPOSITORY, whole)
    (tmp_path / "smollm2").mkdir()
    assert resolve("smollm2") == Source(Kind.FOLDER, "smollm2"), "an existing path comes first"
    (tmp_path / "smollm2" / "only.gguf").write_bytes(b"GGUF")
    assert resolve("smollm2") == Source(Kind.GGUF, "smollm2/only.gguf")
    (tmp_path / "smollm2" / "two.gguf").write_bytes(b"GGUF")
    with pytest.raises(ForedraftError, match=r"holds 2 \.gguf files; name one, such as"):
        resolve("smollm2")


def test_names_that_stand_for_nothing():
    for name in ("./nope.gguf", "nope.gguf", "/no/such/folder", "~/nope", "a/b/c/d"):
        assert f"There is no file or folder {name}; check the path." in sentence(name)
    said = sentence("smolm2")
    assert "No model is called 'smolm2'; name one of smollm2, qwen2.5-coder-1.5b" in said
    assert "a Hugging Face repository such as" in said


def test_a_path_of_two_parts_with_a_mistake_is_no_repository():
    """`run --model nothing/here.gguf` said that Hugging Face cannot be reached."""
    for name in ("nothing/here.gguf", "nothing/here.safetensors"):
        assert f"There is no file or folder {name}; check the path." in sentence(name)
    assert resolve("some/gguf").kind is Kind.REPOSITORY


def test_a_known_name_is_pulled(tmp_path, monkeypatch):
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", tiny_gguf.model("llama"))
    monkeypatch.setattr(hub, "pull", lambda name, progress: progress(1, 1) or path)
    news = []
    assert load("smollm2", torch.float32, CPU, lambda *now: news.append(now)).name == "smollm2"
    assert news[0] == ("Downloading smollm2", 1, 1)


def test_a_repository_is_fetched_without_pickles(folder, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        huggingface_hub, "snapshot_download", lambda repo, **o: asked.update(o, repo=repo) or folder
    )
    load("some/repository", torch.float32, CPU)
    assert asked["repo"] == "some/repository"
    assert not any("bin" in pattern or "pt" in pattern for pattern in asked["allow_patterns"])


def test_a_gguf_file_of_a_repository(tmp_path, monkeypatch):
    path = tiny_gguf.write(tmp_path / "m.gguf", "llama", tiny_gguf.model("llama"))
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda repo, file: str(path))
    assert load("some/repo/m.gguf", torch.float32, CPU).name == "some/repo/m.gguf"


_ANSWER = SimpleNamespace(headers={}, request=None)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errors.GatedRepoError("no", response=_ANSWER), "is gated; accept its licence on https"),
        (errors.RepositoryNotFoundError("no", response=_ANSWER), "no public repository some/name"),
        (errors.LocalEntryNotFoundError("no"), "Hugging Face cannot be reached"),
        (errors.OfflineModeIsEnabled("no"), "Hugging Face cannot be reached"),
        (errors.EntryNotFoundError("no"), "has no file"),
        (OSError(28, "No space left on device"), "cannot be stored in Hugging Face's cache"),
        (ValueError("odd"), r"cannot be fetched from Hugging Face (odd)"),
    ],
)
def test_repositories_that_cannot_be_fetched(monkeypatch, error, said):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    assert said in sentence("some/name")


@pytest.mark.slow
def test_smollm2_answers():
    loaded = load("smollm2", torch.float32, CPU)
    prompt = loaded.tokenizer.chat([{"role": "user", "content": "What is the capital of France?"}])
    ids = loaded.model.generate(torch.tensor([prompt]), max_new_tokens=20, do_sample=False)
    answer = loaded.tokenizer.decode(ids[0, len(prompt) :].tolist())
    assert answer == "The capital of France is Paris."
