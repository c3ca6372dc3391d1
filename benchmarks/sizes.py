"""Which size a draft should have: one target, drafts from tiny to a third of it, two temperatures,
two languages.

    python benchmarks/sizes.py gather     # the target answers training prompts
    python benchmarks/sizes.py train      # tiny drafts learn from the answers
    python benchmarks/sizes.py measure    # on an otherwise idle machine
    python benchmarks/sizes.py show       # the page's table and picture from the stored result

Each step can be stopped with Ctrl-C and started again; it goes on where it was. What it makes lies
in --work, and what is there is not made again.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import torch

from foredraft.cli.bar import Bar
from foredraft.core.errors import ForedraftError
from foredraft.engine.load import models
from foredraft.targets.engines import Placement
from foredraft.targets.weights import load
from foredraft.training.loop import Course, train
from foredraft.training.small import SmallTrainee, build, coordinates
from report import RESULTS, publish
from sizing.answers import read
from sizing.gather import gather
from sizing.lessons import Answers
from sizing.measure import Ledger, measure
from sizing.show import draw, tables, written
from sizing.tiny import SIZES, name_of, parameters, save, trained

ROOT = Path(__file__).parent.parent
NAME = "sizes"
TEMPERATURES = (0.0, 1.0)


def gathering(options: argparse.Namespace) -> None:
    options.work.mkdir(parents=True, exist_ok=True)
    path = options.work / "answers.jsonl"
    with Bar("Loading") as bar:
        found = gather(options.target, path, options.tokens, options.limit, bar)
    print(f"{path}: {len(found)} answers, {sum(len(one.output) for one in found):,} tokens")


def training(options: argparse.Namespace) -> None:
    answers = read(options.work / "answers.jsonl")
    if not answers:
        raise ForedraftError(f"{options.work} has no answers to train on; run `gather` first.")
    lacking = [size for size in SIZES if not (options.work / name_of(size)).exists()]
    if not lacking:
        print("Every draft is there.")
        return
    with Bar("Loading") as bar:
        loaded = load(options.target, torch.bfloat16, torch.device("cpu"), bar)
        embedding = loaded.model.get_input_embeddings().weight.float()
        tokenizer = loaded.tokenizer
        del loaded
        bar("Finding the embedding's axes", 0, 1)
        found = coordinates(embedding, max(size.width for size in lacking))
        lessons = Answers(answers)
        for size in lacking:
            model = build(size, found[:, : size.width], tokenizer.eos_ids)
            trainee = SmallTrainee(model, lessons.used)
            begun = time.perf_counter()
            checkpoint = options.work / f".{name_of(size)}.pt"
            alphas = train(trainee, lessons, Course(options.epochs, batch=512), checkpoint, bar)
            trainee.finish()
            checkpoint.unlink()
            agreement = [alpha.greedy[0] for alpha in alphas]
            told = {
                "tokens": sum(len(one.output) for one in answers),
                "seconds": round(time.perf_counter() - begun),
                "agreement": [round(share, 4) for share in agreement],
            }
            save(model, tokenizer, told, options.work / name_of(size))
            print(f"{name_of(size)}: {max(agreement):.1%} of its likeliest tokens were right")


def measuring(options: argparse.Namespace) -> None:
    tiny = {name_of(size): options.work / name_of(size) for size in SIZES}
    if lacking := [name for name, folder in tiny.items() if not folder.exists()]:
        raise ForedraftError(f"{options.work} has no draft {lacking[0]}; run `train` first.")
    names = [*map(str, tiny.values()), options.draft]
    ledger = Ledger(options.work / f"measured-{options.each}-{options.tokens}.json")
    with Bar("Loading") as bar:
        target, loaded = models(Placement(), options.target, "torch", names, "torch", bar)
        drafts = dict(zip([*tiny, options.draft], loaded, strict=True))
        found = {
            f"{temperature:g}": measure(
                target, drafts, temperature, options.each, options.tokens, ledger, bar
            )
            for temperature in TEMPERATURES
        }
    publish(
        NAME,
        {
            "target": options.target,
            "engine": target.engine,
            "threads": torch.get_num_threads(),
            "new_tokens": options.tokens,
            "prompts": f"{options.each} of either language, not trained on",
            "baseline": "plain decoding, same prompt, in turns with each setting",
            "drafts": {name: {"parameters": parameters(d)} for name, d in drafts.items()},
            "training": {name: trained(folder) for name, folder in tiny.items()},
            "temperatures": found,
        },
    )
    showing(options)


def showing(options: argparse.Namespace) -> None:
    stored = RESULTS / f"{NAME}.json"
    if not stored.exists():
        raise ForedraftError(f"There is no {stored} to show; run `measure` first.")
    result = json.loads(stored.read_text())
    draw(result, ROOT / "docs/sizes.png")
    page = ROOT / "docs/choosing.md"
    page.write_text(written(page.read_text(encoding="utf-8"), result), encoding="utf-8")
    print(tables(result))


def options_of(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--target", default="qwen2.5-coder-1.5b")
    parser.add_argument("--draft", default="qwen2.5-coder-0.5b", help="the largest draft")
    parser.add_argument("--work", type=Path, default=ROOT / "build/sizes")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    steps = parser.add_subparsers(required=True, metavar="STEP")
    step = steps.add_parser("gather", help="let the target answer training prompts")
    step.add_argument("--tokens", type=int, default=30_000, help="how many to gather")
    step.add_argument("--limit", type=int, default=64, help="of an answer")
    step.set_defaults(run=gathering)
    step = steps.add_parser("train", help="train the tiny drafts")
    step.add_argument("--epochs", type=int, default=8)
    step.set_defaults(run=training)
    step = steps.add_parser("measure", help="predict, then measure; needs a quiet machine")
    step.add_argument("--each", type=int, default=5, help="prompts of either language")
    step.add_argument("--tokens", type=int, default=64, help="of an answer at most")
    step.set_defaults(run=measuring)
    step = steps.add_parser("show", help="bring docs/choosing.md and its picture up to date")
    step.set_defaults(run=showing)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = options_of(arguments)
    torch.set_num_threads(options.threads)
    try:
        options.run(options)
    except ForedraftError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
