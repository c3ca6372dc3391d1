"""The `foredraft` command with a parrot that remembers its answers: `python -m … serve`."""

import sys

from foredraft.cli import options
from foredraft.cli.main import main
from foredraft.drafters.store import SuffixStore
from foredraft.drafters.suffix import SuffixDrafter
from tests.cli.parrot import Parrot, Steady


def load(model, *, store=None, **changes):
    return Steady(Parrot(pause=0.002), SuffixDrafter(SuffixStore(path=store)))


if __name__ == "__main__":
    options.load = load
    sys.exit(main())
