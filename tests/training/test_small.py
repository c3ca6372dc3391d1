"""The small language model: what it learns of each text, and what stays as it is."""

import torch

from foredraft.training.small import Size, SmallTrainee
from foredraft.training.states import Example
from foredraft.training.teacher import Teacher
from tests.tiny import VOCAB, model, target
from tests.training.lessons import counting


def examples(count: int) -> list[Example]:
    """Texts of tokens below 20 and of several lengths."""
    chance = torch.Generator().manual_seed(0)
    made = []
    for i in range(count):
        tokens = torch.randint(20, (6 + i % 4,), generator=chance)
        made.append(Example(tokens, 2 + i % 2, torch.empty(len(tokens), 0)))
    return made


def trainee() -> SmallTrainee:
    one = model("llama", vocab_size=VOCAB, tie_word_embeddings=True).requires_grad_(True)
    return SmallTrainee(one, torch.arange(20))


def test_texts_learnt_together_do_not_see_each_other() -> None:
    learner, texts = trainee(), examples(3)
    with torch.no_grad():
        together, labels = learner._hidden(texts)
        alone = [learner.model.model(text.tokens[None]).last_hidden_state[0] for text in texts]
    wanted = [h[text.answer_from - 1 : -1] for h, text in zip(alone, texts, strict=True)]
    assert torch.allclose(together, torch.cat(wanted), atol=1e-5)
    assert labels.tolist() == [
        t for text in texts for t in text.tokens[text.answer_from :].tolist()
    ]


def test_rows_of_tokens_that_never_occur_stay() -> None:
    learner = trainee()
    before = learner.model.get_input_embeddings().weight.detach().clone()
    optimizer = torch.optim.SGD(learner.network.parameters(), 0.1)
    learner.loss(examples(4)).backward()
    optimizer.step()
    learner.finish()
    after = learner.model.get_input_embeddings().weight
    assert torch.equal(before[20:], after[20:])
    assert not torch.equal(before[:20], after[:20])


def test_it_is_judged_by_its_teachers_laws() -> None:
    """The law of what would follow the text made one too many: `--kind small` ended there."""
    teacher = target()
    learner = SmallTrainee.begin(Teacher(teacher), torch.arange(VOCAB), Size(32, 1))
    texts = [counting(teacher, start, 1, 3, 12) for start in (2, 9)]
    found = learner.judge(texts)
    assert found.judged == 2 * (12 - 3)
    assert 0 <= min(found.greedy + found.sampled) <= max(found.greedy + found.sampled) <= 1
