"""Streaming text: whole characters, right spaces, and never a piece of a stop string."""

from foredraft.engine.text import TextStream


class Bytes:
    """One token a byte, as byte-level vocabularies do with rare characters."""

    eos_ids = frozenset()

    def decode(self, ids):
        return bytes(ids).decode("utf-8", errors="replace")


def stream(text, stops=()):
    flow = TextStream(Bytes(), stops)
    pieces = []
    for byte in text.encode() if isinstance(text, str) else text:
        pieces.append(flow.push(byte))
        if flow.stopped:
            break
    pieces.append(flow.finish())
    return flow, pieces


def test_characters_come_whole():
    flow, pieces = stream("日本語 🙂 é")
    assert flow.text == "".join(pieces) == "日本語 🙂 é"
    assert all("\ufffd" not in piece for piece in pieces)
    assert pieces[:3] == ["", "", "日"]


def test_invalid_bytes_do_not_hold_the_text_back_for_ever():
    flow, _ = stream([*[0xFF] * 6, *b"after"])
    assert flow.text.endswith("after")
    flow, _ = stream([*b"cut ", 0xE6, 0x97])
    assert flow.text.startswith("cut ")
    assert "\ufffd" in flow.text


def test_a_stop_string_is_held_back_and_cut():
    flow, pieces = stream("one two END three", ("END",))
    assert flow.stopped
    assert flow.text == "".join(pieces) == "one two "
    flow, pieces = stream("an ENormous EN", ("END",))
    assert not flow.stopped
    assert flow.text == "".join(pieces) == "an ENormous EN"
    assert not any(piece.endswith("EN") for piece in pieces[:-1])


def test_the_earliest_of_several_stops_cuts():
    assert stream("abcdef", ("de", "cd"))[0].text == "ab"
    assert stream("aab", ("ab",))[0].text == "a"


def test_nothing_after_a_stop():
    flow, _ = stream("xENDy", ("END",))
    assert flow.finish() == ""


def test_a_window_keeps_spaces():
    """Some tokenizers drop the space that begins what they decode."""

    class Words:
        eos_ids = frozenset()
        words = ("▁the", "▁tide", "▁comes", "s")

        def decode(self, ids):
            return "".join(self.words[i] for i in ids).replace("▁", " ").lstrip()

    flow = TextStream(Words(), ())
    assert [flow.push(i) for i in (0, 1, 3, 2)] == ["the", " tide", "s", " comes"]
