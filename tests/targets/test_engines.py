"""Which engine runs what, and the sentence for each setting that does not apply."""

from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("torch")

import foredraft
from foredraft.core.errors import ForedraftError
from foredraft.targets import engines
from foredraft.targets.engines import LLAMA, TORCH, Placement
from tests.targets import tiny_gguf

INSTALLED = find_spec("llama_cpp") is not None
needs_llama = pytest.mark.skipif(not INSTALLED, reason="llama-cpp-python is not installed")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    """What is remembered about this build goes to a folder of this run's own."""
    monkeypatch.setenv("FOREDRAFT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def installed(monkeypatch):
    """Say whether llama-cpp-python is there."""

    def say(there):
        monkeypatch.setattr(engines, "find_spec", lambda name: object() if there else None)

    say(True)
    return say


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    return str(tiny_gguf.write(path, "llama", tiny_gguf.model("llama")))


@pytest.mark.parametrize(
    ("settings", "engine"),
    [
        ({}, LLAMA),
        ({"threads": 1}, LLAMA),
        ({"kv_type": "q8_0"}, LLAMA),
        ({"dtype": "float32"}, TORCH),
        ({"device": "cuda"}, TORCH),
    ],
)
def test_a_gguf_goes_to_llama_cpp_unless_a_setting_asks_for_torch(
    file, installed, settings, engine
):
    assert Placement(**settings).engine(file) == engine
    assert Placement(**settings).engine(file, TORCH) == TORCH
    assert Placement(**settings).engine(file, LLAMA) == LLAMA


@pytest.mark.parametrize("name", ["smollm2", "org/name/file.gguf"])
def test_known_names_and_repositories_files_are_ggufs(installed, name):
    assert Placement().engine(name) == LLAMA
    installed(False)
    assert Placement().engine(name) == TORCH


def test_all_else_goes_to_torch(installed, tmp_path):
    assert Placement().engine("org/name") == TORCH
    assert Placement().engine(str(tmp_path)) == TORCH
    with pytest.raises(ForedraftError, match="is no GGUF file"):
        Placement().engine("org/name", LLAMA)


def test_without_llama_cpp_its_settings_say_how_to_get_it(file, installed):
    installed(False)
    placement = Placement(context=64)
    engine = placement.engine(file)
    assert engine == LLAMA, "--context asks for it"
    with pytest.raises(ForedraftError, match=r"pip install 'foredraft\[gguf\]'"):
        placement.load(file, engine)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"engine": "vllm"}, "Unknown engine 'vllm'; choose one of auto, torch, llama.cpp"),
        ({"draft_engine": "torch"}, "--draft-engine needs --draft-model"),
        ({"engine": "torch", "context": 64}, "--context is a setting of llama.cpp, and torch"),
        ({"engine": "torch", "gpu_layers": 1}, "--gpu-layers is a setting of llama.cpp"),
        ({"engine": "torch", "kv_type": "f16"}, "--kv-type is a setting of llama.cpp"),
        ({"engine": "llama.cpp", "dtype": "float32"}, "--dtype is a setting of torch, and"),
        ({"engine": "llama.cpp", "device": "cpu"}, "--device is a setting of torch"),
        ({"kv_type": "q9"}, "Unknown kv_type 'q9'; choose one of f16, "),
        ({"context": 0}, "context is 0; it must be 1 or more"),
        ({"gpu_layers": -1}, "gpu_layers is -1; it must be 0 or more"),
        ({"threads": 0}, "threads is 0; it must be 1 or more"),
    ],
)
def test_settings_that_do_not_apply_are_refused(file, installed, settings, says):
    with pytest.raises(ForedraftError, match=says.replace("(", r"\(")):
        foredraft.load(file, **settings)


@needs_llama
def test_settings_reach_the_target(file):
    generator = foredraft.load(file, drafter="none", threads=1, context=100, kv_type="f32")
    target = generator.target
    assert (target.engine, target.context) == (LLAMA, 100)
    assert target.signature.endswith("f32, 1 threads")
    result = generator.generate([1, 2, 3], foredraft.Request(max_new_tokens=200, ignore_eos=True))
    assert (len(result.tokens), result.finish_reason) == (97, "context")
    torch = foredraft.load(file, drafter="none", engine="torch", dtype="float32").target
    assert (torch.engine, torch.context) == (TORCH, 256)


@needs_llama
def test_the_context_is_the_models_own_but_bounded(file):
    assert foredraft.load(file, drafter="none").target.context == 256
    placement = Placement(longest=128)
    assert placement.load(file, LLAMA).context == 128
    with pytest.raises(ForedraftError, match="more than the 256 tokens"):
        foredraft.load(file, context=257)


@needs_llama
@pytest.mark.parametrize(
    ("engine", "draft_engine"), [(LLAMA, TORCH), (TORCH, LLAMA), (LLAMA, LLAMA)]
)
def test_model_and_draft_may_run_on_different_engines(file, engine, draft_engine):
    generator = foredraft.load(
        file, drafter="model", draft_model=file, engine=engine, draft_engine=draft_engine, threads=1
    )
    assert generator.target.engine == engine
    plain = foredraft.load(file, drafter="none", engine=engine, threads=1)
    request = foredraft.Request(max_new_tokens=20, seed=0, draft_len=3, ignore_eos=True)
    drafted = generator.generate([1, 2, 3], request)
    answer = plain.generate(
        [1, 2, 3], foredraft.Request(max_new_tokens=20, seed=0, ignore_eos=True)
    )
    assert [t.id for t in drafted.tokens] == [t.id for t in answer.tokens]
    assert drafted.stats.accepted > 0


@needs_llama
def test_a_draft_with_less_context_than_was_asked_for_still_loads(file, tmp_path):
    short = tiny_gguf.model("llama", max_position_embeddings=64)
    draft = str(tiny_gguf.write(tmp_path / "short.gguf", "llama", short))
    generator = foredraft.load(file, drafter="model", draft_model=draft, context=200, threads=1)
    result = generator.generate(
        [1, 2, 3], foredraft.Request(max_new_tokens=150, seed=0, draft_len=3, ignore_eos=True)
    )
    assert len(result.tokens) == 150


@needs_llama
def test_gpu_layers_on_a_build_without_gpus(file, monkeypatch):
    monkeypatch.setattr("foredraft.targets.gguf_load.offloads", lambda: False)
    with pytest.raises(ForedraftError, match="built for the processor only"):
        foredraft.load(file, gpu_layers=3)
    assert foredraft.load(file, gpu_layers=0, drafter="none").target.engine == LLAMA


@needs_llama
@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_a_file_cut_short_is_one_sentence(file, tmp_path, keep):
    whole = Path(file).read_bytes()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(ForedraftError, match="cut short") as raised:
        foredraft.load(str(cut), engine=LLAMA)
    assert "\n" not in str(raised.value)


@needs_llama
def test_what_llama_cpp_cannot_load_is_one_sentence(tmp_path, capfd):
    made = tiny_gguf.model("llama")
    bad = tiny_gguf.write(tmp_path / "bad.gguf", "llama", made, drop="ffn_up")
    with pytest.raises(ForedraftError, match=r"cannot be loaded by llama.cpp \(.*ffn_up") as raised:
        foredraft.load(str(bad), engine=LLAMA)
    assert "\n" not in str(raised.value)
    assert capfd.readouterr().err == "", "its log is kept to itself"
