"""Several sequences in one pass: each is answered as it is alone, whatever its neighbours are."""

from functools import cache, partial
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from foredraft.core.errors import ForedraftError
from foredraft.targets import torch_hf
from foredraft.targets.base import Rows
from foredraft.targets.torch_hf import PASS_ROWS, TorchTarget
from tests import tiny

KINDS = ["llama", "qwen2", "qwen3", "gemma3", "mistral"]
TREE = (-1, 0, 0, 1, 2, 4, 1)
SHAPES = {"row": (-1,), "chain": (-1, 0, 1, 2), "tree": TREE, "two roots": (-1, -1, 0)}


def text(seed, length):
    return [(7 * i + i * i + seed) % 31 for i in range(length)]


def batch_of(target, plan):
    """Rows of fresh sequences, for each (length of its text, shape of its rows) of a plan."""
    batch = []
    for seed, (length, shape) in enumerate(plan):
        sequence = target.open()
        target.prefill(sequence, text(seed, length))
        batch.append(Rows(sequence, text(seed + 5, len(SHAPES[shape])), SHAPES[shape]))
    return batch


def path_to(row, parents):
    path = []
    while row != -1:
        path.insert(0, row)
        row = parents[row]
    return path


def alone(target, held, rows):
    """The logits of the same rows after the same text, in a pass with nothing else."""
    sequence = target.open()
    target.prefill(sequence, held)
    return target.score([Rows(sequence, rows.tokens, rows.parents)])[0]


@pytest.fixture
def passes(monkeypatch):
    """How many sequences each pass of a PyTorch model held."""
    sizes = []

    def watch(model, parts, *others):
        sizes.append(len(parts))
        return run(model, parts, *others)

    run = torch_hf.run
    monkeypatch.setattr(torch_hf, "run", watch)
    return sizes


PLANS = [
    [(30, "row"), (3, "row"), (17, "row")],
    [(30, "row"), (0, "tree"), (7, "chain"), (12, "tree"), (1, "row")],
    [(9, "chain"), (9, "chain")],
    [(20, "two roots"), (6, "row"), (0, "row")],
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plan", PLANS)
def test_rows_are_answered_as_alone(kind, plan, passes):
    """Trees, chains, single rows, texts longer than windows (8 here) and none at all."""
    target = tiny.target(kind)
    batch = batch_of(target, plan)
    expected = [alone(target, list(rows.sequence.tokens), rows) for rows in batch]
    target.score(batch[:2])  # the trial is over
    passes.clear()
    answers = target.score(batch)
    assert passes == [len(plan)]
    for answer, wanted in zip(answers, expected, strict=True):
        np.testing.assert_allclose(answer, wanted, atol=2e-5)
        np.testing.assert_array_equal(answer.argmax(1), wanted.argmax(1))


TARGETS = [
    *(("torch", kind) for kind in (*KINDS, "qwen3_next")),
    *(("llama.cpp", kind) for kind in ("llama", "gemma3", "lfm2")),
]
NOISE = {"torch": 2e-4, "llama.cpp": 5e-4}


@cache
def made(engine, kind):
    if engine == "torch":
        return tiny.target(kind)
    from tests.targets import tiny_llama

    return tiny_llama.target(kind)


@pytest.mark.parametrize(("engine", "kind"), TARGETS)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    rounds=st.lists(
        st.lists(
            st.tuples(st.sampled_from(sorted(SHAPES)), st.integers(-1, 6)), min_size=3, max_size=3
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_rounds_of_three_sequences(engine, kind, rounds):
    """Each keeps a path of its rows, none of them, or sits the round out."""
    if engine == "llama.cpp" and find_spec("llama_cpp") is None:
        pytest.skip("llama-cpp-python is not installed")
    target = made(engine, kind)
    texts = [text(0, 20), text(1, 5), text(2, 9)]
    sequences = [target.open() for _ in texts]
    for turn, steps in enumerate(rounds):
        batch, kept = [], []
        for which, (shape, keep) in enumerate(steps):
            if keep == 6:
                continue
            target.prefill(sequences[which], texts[which])
            parents = SHAPES[shape] if target.capabilities.trees else SHAPES["chain"]
            batch.append(Rows(sequences[which], text(3 * turn + which, len(parents)), parents))
            kept.append((which, path_to(keep % len(parents) if keep >= 0 else -1, parents)))
        for rows, logits, (which, path) in zip(batch, target.score(batch), kept, strict=True):
            expected = alone(target, texts[which], rows)
            np.testing.assert_allclose(
                logits, expected, atol=NOISE[engine] * np.abs(expected).max()
            )
            target.commit(rows.sequence, path)
            texts[which] += [rows.tokens[row] for row in path]
    for sequence, held in zip(sequences, texts, strict=True):
        target.prefill(sequence, held)
        assert sequence.tokens == held


@pytest.mark.parametrize("kind", [*KINDS, "qwen3_next"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_failed_pass_leaves_every_sequence_usable(kind, error, monkeypatch):
    """It fails between two layers, so half of the keys are written; then every row is tried again,
    with and without the caller's looking after the caches first."""
    target = tiny.target(kind)
    plan = [(12, "chain"), (20, "row"), (5, "chain")]
    batch = batch_of(target, plan)
    texts = [list(rows.sequence.tokens) for rows in batch]
    expected = [alone(target, held, rows) for held, rows in zip(texts, batch, strict=True)]
    name = target.model.config._attn_implementation
    assert target._mixes is (kind != "qwen3_next"), "the trial is over"
    layer, calls = target.model.model.layers[1], []
    forward = layer.forward

    def fail(*args, **kwargs):
        calls.append(None)
        if kind != "qwen3_next" or len(calls) == 2:  # there each sequence has a pass of its own
            raise error
        return forward(*args, **kwargs)

    monkeypatch.setattr(layer, "forward", fail)
    with pytest.raises(error):
        target.score(batch)
    monkeypatch.undo()
    assert target.model.config._attn_implementation == name
    for again in range(2):
        for rows, held in zip(batch, texts, strict=True):
            assert rows.sequence.tokens == held[: len(rows.sequence.tokens)]
            if again or kind == "qwen3_next":  # whose state cannot be cut, so that it may be lost
                target.prefill(rows.sequence, held)
            assert rows.sequence.tokens == held
        for rows, answer, wanted in zip(batch, target.score(batch), expected, strict=True):
            np.testing.assert_allclose(answer, wanted, atol=2e-4)
            target.commit(rows.sequence, [])


def test_llama_cpp_interrupted(monkeypatch):
    """In the second of two passes, when the first one's rows were answered but went nowhere."""
    pytest.importorskip("llama_cpp")
    from foredraft.targets import llama

    target, decode, calls = made("llama.cpp", "llama"), llama.lib.llama_decode, []
    batch = batch_of(target, [(12, "chain"), (5, "tree")])
    batch.append(Rows(target.open(), text(9, llama.OUTPUTS)))
    texts = [list(rows.sequence.tokens) for rows in batch]
    expected = [alone(target, held, rows) for held, rows in zip(texts, batch, strict=True)]

    def interrupt(*arguments):
        calls.append(decode(*arguments))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return calls[-1]

    monkeypatch.setattr(llama.lib, "llama_decode", interrupt)
    with pytest.raises(KeyboardInterrupt):
        target.score(batch)
    monkeypatch.undo()
    for answer, wanted in zip(target.score(batch), expected, strict=True):
        np.testing.assert_allclose(answer, wanted, atol=NOISE["llama.cpp"] * np.abs(wanted).max())


def test_running_out_of_memory_is_one_sentence(monkeypatch):
    target = tiny.target()
    batch = batch_of(target, [(4, "row"), (6, "row")])
    target.score(batch)

    def fail(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(target.model.lm_head, "forward", fail)
    with pytest.raises(ForedraftError, match="ran out of memory after 10 tokens"):
        target.score(batch)


def test_bitwise_sequences_keep_a_pass_of_their_own(passes):
    """Their bits, and the order of the answers, are those of single calls."""
    target = tiny.target()
    plan = [(10, "row"), (11, "chain"), (12, "chain"), (13, "chain")]
    batch = batch_of(target, plan)
    expected = []
    for i in (0, 2):
        sequence = target.open(bitwise=True)
        target.prefill(sequence, batch[i].sequence.tokens)
        batch[i] = Rows(sequence, batch[i].tokens)
        expected += target.score([batch[i]])
    target.score(batch)
    passes.clear()
    answers = target.score(batch)
    assert sorted(passes) == [1, 1, 2]
    np.testing.assert_array_equal(answers[0], expected[0])
    np.testing.assert_array_equal(answers[2], expected[1])
    for i in (1, 3):
        wanted = alone(target, list(batch[i].sequence.tokens), batch[i])
        np.testing.assert_allclose(answers[i], wanted, atol=2e-5)


def test_one_sequence_runs_as_the_library_has_it(monkeypatch):
    target = tiny.target()
    (rows,) = batch_of(target, [(10, "chain")])
    with torch.inference_mode():
        plain = target.model(torch.tensor([[*rows.sequence.tokens, *rows.tokens]])).logits[0, -4:]
    monkeypatch.setattr("foredraft.targets.torch_pass.attending", None)
    monkeypatch.setattr("foredraft.targets.torch_pass.joined", None)
    np.testing.assert_allclose(target.score([rows])[0], plain, atol=2e-5)


def test_more_rows_than_a_pass_holds_take_several(passes):
    target = tiny.target()
    most = target.capabilities.max_rows
    batch = [Rows(target.open(), text(n, most)) for n in range(PASS_ROWS // most + 1)]
    expected = [alone(target, [], rows) for rows in batch]
    target.score(batch)
    passes.clear()
    answers = target.score(batch)
    assert passes == [PASS_ROWS // most, 1]
    for answer, wanted in zip(answers, expected, strict=True):
        np.testing.assert_allclose(answer, wanted, atol=2e-5)


def test_no_sequences_no_pass(passes):
    assert tiny.target().score([]) == []
    assert not passes


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(vocab_size=32, n_embd=16, n_layer=1, n_head=2)).eval()


def eager():
    model = tiny.model()
    model.set_attn_implementation("eager")
    return model


def biased():
    """Gives its attention an argument that ours does not have."""
    model = tiny.model()
    model.forward = partial(model.forward, position_bias=torch.zeros(1, 1, 1, 1))
    return model


def stretched():
    """Turns positions by an angle that depends on the longest text of a pass."""
    rope = {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}
    return tiny.model(rope_parameters=rope)


def chunked():
    """Sees a text in chunks, of which we know nothing."""
    model = tiny.model("mistral")
    model.config.layer_types = ["chunked_attention"] * 2
    model.config.attention_chunk_size = 64
    return model


def mistaken():
    """Loses the rows' positions: right for one text that begins at 0, wrong for several."""
    model = tiny.model()
    turn = model.model.rotary_emb.forward
    model.model.rotary_emb.forward = lambda x, position_ids: turn(
        x, position_ids[:, :1] + torch.arange(position_ids.shape[1])
    )
    return model


@pytest.mark.parametrize("make", [gpt2, eager, biased, stretched, chunked, mistaken])
def test_models_that_cannot_run_one_sequence_after_the_other(make, passes):
    target = TorchTarget(make(), tiny.Characters(), make.__name__)
    batch = batch_of(target, [(10, "chain"), (3, "chain"), (20, "row")])
    target.score(batch)
    passes.clear()
    answers = target.score(batch)
    assert passes == [1, 1, 1]
    for rows, answer in zip(batch, answers, strict=True):
        wanted = alone(target, list(rows.sequence.tokens), rows)
        np.testing.assert_allclose(answer, wanted, atol=2e-5)


@pytest.mark.parametrize("kind", ["llama", "gemma3"])
def test_packed_weights_and_grouped_heads(kind, passes):
    """A model as it is loaded on a CPU."""
    from foredraft.targets.attention import group_heads
    from foredraft.targets.packed import pack

    target = tiny.target(kind)
    pack(target.model)
    assert group_heads(target.model)
    batch = batch_of(target, PLANS[1])
    expected = [alone(target, list(rows.sequence.tokens), rows) for rows in batch]
    target.score(batch)
    passes.clear()
    for answer, wanted in zip(target.score(batch), expected, strict=True):
        np.testing.assert_allclose(answer, wanted, atol=2e-5)
    assert passes == [len(batch)]
