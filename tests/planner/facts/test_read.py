"""Facts of whatever a person names, from no more bytes than describe the model."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace

import huggingface_hub
import pytest
from transformers import BertConfig

from foredraft.core.errors import ForedraftError
from foredraft.heads.kind import HeadKind
from foredraft.planner.facts import gguf
from foredraft.planner.facts import read as reading
from foredraft.planner.facts.cache import LayerCache
from foredraft.planner.facts.model import Format
from foredraft.planner.facts.read import read
from foredraft.targets import hub, repository
from tests.planner.facts import models


def facts(name):
    return read(str(name), lambda what, done, total: None)


def sentence(name):
    with pytest.raises(ForedraftError) as caught:
        facts(name)
    said = str(caught.value)
    assert "\n" not in said
    return said


class TestGGUF:
    def test_a_file(self, tmp_path):
        path = models.gguf(tmp_path / "m.gguf")
        found = facts(path)
        assert (found.name, found.where, found.format) == (str(path), str(path), Format.GGUF)
        assert (found.architecture, found.known, found.head) == ("llama", True, None)
        assert (found.vocab_size, found.hidden_size, found.context) == (300, 64, 256)
        assert found.weights == 300 * 8 * 4 + 8 * 4
        assert found.layers == (LayerCache(values=128),)
        assert found.vocabulary.tokens == tuple(models.TOKENS)
        assert not found.has_mtp

    def test_a_known_name(self, tmp_path, monkeypatch):
        path = models.gguf(tmp_path / "m.gguf")
        monkeypatch.setattr(hub, "pull", lambda name, progress: path)
        assert (facts("smollm2").name, facts("smollm2").where) == ("smollm2", str(path))

    def test_heads(self, tmp_path):
        numbers = {"target_hidden_size": 4096}
        path = models.gguf(tmp_path / "h.gguf", "eagle3", None, numbers, tensors=["fc.weight"])
        head = facts(path)
        assert (head.head, head.hidden_size, head.vocabulary) == (HeadKind.EAGLE3, 4096, None)
        tensors = ["token_embd.weight", "blk.0.attn_norm.weight", "blk.1.nextn.eh_proj.weight"]
        whole = facts(models.gguf(tmp_path / "w.gguf", "qwen35", tensors=tensors))
        assert (whole.head, whole.has_mtp) == (None, True)

    def test_pieces_of_a_split_model_are_counted_together(self, tmp_path):
        first = tmp_path / "m-00001-of-00002.gguf"
        models.gguf(first, split=(0, 2))
        second = models.gguf(
            tmp_path / "m-00002-of-00002.gguf", tokens=None, tensors=["blk.1.w"], split=(1, 2)
        )
        assert facts(first).weights == 300 * 8 * 4 + 2 * 8 * 4
        assert "is one of 2 pieces of a model; name the first one" in sentence(second)
        second.unlink()
        assert f"{second} cannot be read: No such file" in sentence(first)

    def test_files_that_are_not_whole(self, tmp_path):
        path = models.gguf(tmp_path / "m.gguf")
        path.write_bytes(path.read_bytes()[:-10])
        assert "is cut short: its header promises" in sentence(path)
        path.write_bytes(path.read_bytes()[:500])
        assert "has a header that is cut short or damaged" in sentence(path)
        path.write_bytes(b"")
        assert "is not a GGUF file" in sentence(path)

    def test_what_continues_no_text(self, tmp_path):
        path = models.gguf(tmp_path / "m.gguf", "nomic-bert")
        assert "architecture 'nomic-bert', which does not continue text" in sentence(path)


class TestFolder:
    def test_a_folder(self, tmp_path):
        folder = models.folder(tmp_path / "m")
        models.safetensors(folder / "a.safetensors", {"one": 10, "two": 20})
        models.safetensors(folder / "b.safetensors", {"three": 30})
        (folder / "chat_template.jinja").write_text("{{ messages }}")
        found = facts(folder)
        assert (found.format, found.architecture, found.known) == (
            Format.TRANSFORMERS,
            "qwen2",
            True,
        )
        assert (found.vocab_size, found.hidden_size, found.context) == (320, 64, 256)
        assert found.weights == 60
        assert found.layers == (LayerCache(values=64),) * 2
        assert found.vocabulary.count == 300
        assert found.vocabulary.template == "{{ messages }}"
        assert found.vocabulary.roles == {"eos": 2}

    def test_weights_by_the_index_or_not_at_all(self, tmp_path):
        folder = models.folder(tmp_path / "m")
        assert facts(folder).weights is None
        index = {"metadata": {"total_size": 77}, "weight_map": {"mtp.fc.weight": "a"}}
        index["weight_map"] |= {"model.layers.0.w": "a"}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        assert (facts(folder).weights, facts(folder).has_mtp) == (77, True)

    def test_another_kind_of_tokenizer_is_converted(self, tmp_path):
        folder = models.folder(tmp_path / "m", tokens=None)
        (folder / "vocab.json").write_text(json.dumps({"a": 0, "b": 1, "ab": 2}))
        (folder / "merges.txt").write_text("#version: 0.2\na b\n")
        (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}')
        assert facts(folder).vocabulary.tokens[:3] == ("a", "b", "ab")

    def test_a_model_newer_than_transformers(self, tmp_path):
        found = facts(models.folder(tmp_path / "m", model_type="hyena9"))
        assert (found.known, found.architecture, found.vocab_size) == (False, "hyena9", 320)
        assert found.layers == (LayerCache(values=64),) * 2

    def test_a_model_that_sees(self, tmp_path):
        inner = {"hidden_size": 32, "num_hidden_layers": 3, "vocab_size": 999}
        folder = models.folder(
            tmp_path / "m",
            model_type="gemma3",
            architectures=["Gemma3ForConditionalGeneration"],
            text_config=inner,
        )
        found = facts(folder)
        assert (found.vocab_size, found.hidden_size, len(found.layers)) == (999, 32, 3)

    def test_heads(self, tmp_path):
        folder = models.folder(
            tmp_path / "m",
            tokens=None,
            speculators_model_type="eagle3",
            target_hidden_size=4096,
            transformer_layer_config={"vocab_size": 999, "num_hidden_layers": 1},
            speculators_config={"verifier": {"name_or_path": "org/target"}},
        )
        found = facts(folder)
        assert (found.head, found.made_for) == (HeadKind.EAGLE3, "org/target")
        assert (found.vocab_size, found.hidden_size, found.vocabulary) == (999, 4096, None)

    def test_folders_that_cannot_be_read(self, tmp_path):
        folder = models.folder(tmp_path / "m")
        (folder / "tokenizer.json").write_text('{"model": {}}')
        assert "has a tokenizer.json that cannot be read" in sentence(folder)
        (folder / "tokenizer.json").write_text("{")
        assert "tokenizer.json cannot be read" in sentence(folder)
        (folder / "tokenizer.json").unlink()
        assert "has no tokenizer; it needs tokenizer.json" in sentence(folder)
        (folder / "config.json").write_text("[]")
        assert "config.json holds no JSON object" in sentence(folder)
        (folder / "config.json").unlink()
        assert "has no config.json, so it is not a Transformers model" in sentence(folder)
        BertConfig(architectures=["BertForMaskedLM"]).save_pretrained(folder)
        assert "holds a BertForMaskedLM, which does not continue text" in sentence(folder)

    def test_weights_that_are_not_whole(self, tmp_path):
        folder = models.folder(tmp_path / "m")
        for content in (b"", b"\xff" * 8 + b"{", b"\x02" + bytes(7) + b"{}"[:1]):
            (folder / "a.safetensors").write_bytes(content)
            assert "is no whole safetensors file" in sentence(folder)


class TestRepository:
    def test_only_what_describes_the_model_is_fetched(self, tmp_path, monkeypatch):
        folder, asked = models.folder(tmp_path / "m"), {}
        monkeypatch.setattr(
            huggingface_hub, "snapshot_download", lambda repo, **o: asked.update(o) or folder
        )
        monkeypatch.setattr(repository, "tensor_sizes", lambda repo: {"w": 5})
        found = facts("org/name")
        assert (found.name, found.where, found.weights) == ("org/name", "org/name", 5)
        assert not any("safetensors" in wanted for wanted in asked["allow_patterns"])

    def test_sizes_come_from_the_headers(self, monkeypatch):
        from huggingface_hub.errors import NotASafetensorsRepoError
        from huggingface_hub.utils import SafetensorsFileMetadata, TensorInfo

        info = TensorInfo(dtype="F32", shape=[2], data_offsets=(8, 16))
        file = SafetensorsFileMetadata(metadata={}, tensors={"w": info})
        metadata = SimpleNamespace(files_metadata={"model.safetensors": file})
        monkeypatch.setattr(
            huggingface_hub.HfApi, "get_safetensors_metadata", lambda self, repo: metadata
        )
        assert repository.tensor_sizes("org/name") == {"w": 8}

        def refuse(*_):
            raise NotASafetensorsRepoError("no")

        monkeypatch.setattr(huggingface_hub.HfApi, "get_safetensors_metadata", refuse)
        assert repository.tensor_sizes("org/name") == {}

    def test_without_a_network_the_cache_will_do(self, tmp_path, monkeypatch):
        def refuse(*_):
            raise ForedraftError("no network")

        folder = models.folder(tmp_path / "m")
        monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda repo, **o: folder)
        monkeypatch.setattr(repository, "tensor_sizes", refuse)
        assert facts("org/name").weights is None

    def test_a_file_of_a_repository_that_is_here(self, tmp_path, monkeypatch):
        path = models.gguf(tmp_path / "m.gguf")
        monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda repo, file: str(path))
        found = facts("org/name/m.gguf")
        assert (found.where, found.vocab_size) == ("org/name/m.gguf", 300)

    def test_a_file_of_a_repository_that_is_not(self, tmp_path, monkeypatch):
        path, opened = models.gguf(tmp_path / "m.gguf"), []
        monkeypatch.setattr(huggingface_hub, "try_to_load_from_cache", lambda repo, file: None)

        class Hub:
            def open(self, where, mode):
                opened.append(where)
                if "missing" in where:
                    raise FileNotFoundError(where)
                return path.open("rb")

        monkeypatch.setattr(huggingface_hub, "HfFileSystem", Hub)
        assert facts("org/name/m.gguf").vocab_size == 300
        assert opened == ["org/name/m.gguf"]
        assert "The repository org/name has no file missing.gguf" in sentence(
            "org/name/missing.gguf"
        )


@contextmanager
def server(content: bytes, ranges: bool = True, **odd) -> Iterator[tuple[str, list[int]]]:
    """A web server of one file → its address, and the bytes each answer was taken for."""
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if "status" in odd:
                return self.send_error(odd["status"])
            asked = self.headers["Range"].removeprefix("bytes=").split("-")
            start, end = int(asked[0]), min(int(asked[1]) + 1, len(content))
            part = content[start:end] if ranges else content
            self.send_response(206 if ranges else 200)
            if ranges:
                start += odd.get("shift", 0)
                self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            sent.append(0)
            try:
                for at in range(0, len(part), 1 << 16):
                    self.wfile.write(part[at : at + (1 << 16)])
                    sent[-1] = at + (1 << 16)
            except OSError:
                pass  # whoever asked has enough

        def log_message(self, *_):
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=served.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{served.server_port}/m.gguf", sent
    finally:
        served.shutdown()
        served.server_close()
        thread.join()


class TestWeb:
    @pytest.fixture
    def content(self, tmp_path):
        """A header of a megabyte, before 64 megabytes of tensors."""
        path = models.gguf(tmp_path / "m.gguf", tokens=[f"{n:020}" for n in range(40_000)])
        return path.read_bytes() + bytes(64 << 20)

    @pytest.fixture(autouse=True)
    def small_steps(self, monkeypatch):
        monkeypatch.setattr(reading, "_FAR", 1 << 16)

    def test_ranges(self, content):
        with server(content) as (url, sent):
            found = facts(url)
        assert (found.name, found.where, found.vocab_size) == (url, url, 40_000)
        assert len(sent) > 3
        assert sum(sent) < 4 << 20

    def test_a_server_that_ignores_ranges(self, content):
        with server(content, ranges=False) as (url, sent):
            assert facts(url).vocab_size == 40_000
        assert len(sent) == 1, "one request, left before its end"
        assert sent[0] < 16 << 20, "no more than lay in buffers on the way"

    @pytest.mark.parametrize("ranges", [True, False])
    def test_the_end_of_the_file_is_noticed(self, content, ranges):
        with server(content[:200_000], ranges) as (url, _):
            assert "has a header that is cut short or damaged" in sentence(url)
        with server(b"<html>not here</html>", ranges) as (url, _):
            assert "is not a GGUF file" in sentence(url)

    def test_a_file_of_another_size_than_its_header_promises(self, content):
        with server(content[: 1 << 21]) as (url, _):
            assert "is cut short: its header promises" in sentence(url)

    def test_a_header_without_end_is_not_read_to_the_last_byte(self, content, monkeypatch):
        monkeypatch.setattr(gguf, "_MOST", 1 << 18)
        endless = content[:8] + b"\xff" * 7 + b"\0" + content[16:]
        with server(endless) as (url, sent):
            assert "cut short or damaged" in sentence(url)
        assert sum(sent) < 1 << 20

    @pytest.mark.parametrize(
        ("status", "said"),
        [(404, "has no such file"), (403, "forbids it"), (401, "login"), (500, "answers 500")],
    )
    def test_refusals(self, status, said):
        with server(b"", status=status) as (url, _):
            assert said in sentence(url)

    def test_another_part_than_asked_for(self, content):
        with server(content, shift=5) as (url, _):
            assert "with another part of the file" in sentence(url)

    def test_nobody_there(self):
        with server(b"") as (url, _):
            pass
        assert f"{url} cannot be read (" in sentence(url)
        assert "cannot be read" in sentence("http://no.such.host.invalid/m.gguf")
