"""Prompts that a target makes up itself, when there is no data."""

from collections.abc import Iterator

from foredraft.training.answers import Answering
from foredraft.training.openings import KINDS
from foredraft.training.write import Job

_ASKED = 96
"""The most tokens of a prompt that the target makes up."""
_BEGUN = 16
"""Tokens of a text's beginning that are its prompt where the model knows no chats."""
_UNLIKELY = 0.03
"""Tokens this much less likely than the likeliest would derail a prompt."""


def own_jobs(answering: Answering) -> Iterator[Job]:
    """Without end: jobs that ask, each followed by one that answers.

    A target that knows chats is given the beginning of a user's turn and writes the rest of it
    (Magpie, 2406.08464); a base model writes the beginning of a text.
    """
    codec, header = answering.codec, answering.header

    def answered(tokens: list[int]) -> Job | None:
        if tokens[-1] not in codec.eos_ids:  # it did not come to an end
            return None
        said = codec.decode(tokens[len(header) : -1]).strip()
        return answering.to(said, codec.chat([{"role": "user", "content": said}]))

    def continued(tokens: list[int]) -> Job | None:
        return None if tokens[-1] in codec.eos_ids else answering.to(codec.decode(tokens), tokens)

    while True:
        if codec.has_template:
            opening = answering.chance.choice(answering.chance.choice(KINDS))
            prompt, limit, then = header + codec.spell(opening), _ASKED, answered
        else:
            prompt, limit, then = header, _BEGUN, continued
        yield Job(prompt, limit, temperature=1.0, min_p=_UNLIKELY, then=then)
