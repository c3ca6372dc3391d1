"""What may draft for a request: the target's drafters by name, whose answers, and a prediction."""

from collections import OrderedDict
from collections.abc import Sequence

from foredraft.core.errors import ForedraftError
from foredraft.drafters.base import Drafter
from foredraft.drafters.forced import ForcedDrafter, grammars
from foredraft.drafters.ngram import NgramDrafter
from foredraft.drafters.none import NoDrafter
from foredraft.drafters.prediction import PredictionDrafter
from foredraft.drafters.store import SuffixStore
from foredraft.drafters.suffix import SuffixDrafter
from foredraft.engine.adaptive import Adaptive
from foredraft.engine.control import Controller, Fixed
from foredraft.engine.job import Speculation
from foredraft.engine.prices import Prices
from foredraft.engine.record import Arm
from foredraft.engine.request import Request
from foredraft.engine.turn import Means
from foredraft.targets.base import Target

_SCOPES = 64
_SCOPE_TOKENS = 1 << 14
"""Of the answers remembered for each of so many scopes."""


class Menu:
    """The drafters of a server, shared by its requests: what they learn serves the next one.

    `drafters` are those that "auto" chooses among; a lookup needs nothing, so it can be had by name
    in any case.
    """

    def __init__(self, target: Target, drafters: Sequence[Drafter]) -> None:
        self._target = target
        self._auto = [Arm(drafter) for drafter in drafters]
        self._forced = Arm(ForcedDrafter())
        named = {arm.drafter.name: arm for arm in self._auto}
        for drafter in (SuffixDrafter(SuffixStore()), NgramDrafter()):
            named.setdefault(drafter.name, Arm(drafter))
        self._named = named
        self._scopes: OrderedDict[str, SuffixStore] = OrderedDict()

    @property
    def modes(self) -> tuple[str, ...]:
        """What Speculation.mode may be."""
        return ("auto", "off", *self._named)

    def check(self, speculation: Speculation, request: Request) -> None:
        """Raise ForedraftError for what cannot be had."""
        if speculation.mode not in self.modes:
            raise ForedraftError(
                f"speculation.mode is {speculation.mode!r}; choose one of {', '.join(self.modes)}."
            )
        if request.draft_len and len(self._chosen(speculation)) > 1:
            raise ForedraftError(
                f"draft_len (γ) is {request.draft_len}, which fixes one drafter's draft, but there "
                "are several; name one as the mode, or leave draft_len out and it is chosen each "
                "round."
            )

    def order(
        self, speculation: Speculation, request: Request, prices: Prices
    ) -> tuple[Controller, list[Drafter]]:
        """What decides a request's drafts, and the drafters that are to hear of its end."""
        arms = [self._scoped(arm, speculation.scope) for arm in self._chosen(speculation)]
        drafters = [arm.drafter for arm in arms]
        if not arms or request.draft_len == 0:
            return Fixed(NoDrafter(), 0), drafters
        if request.draft_len is not None:
            return Fixed(drafters[0], request.draft_len, trees=False), drafters
        if speculation.mode == "auto" and grammars(request.params):
            arms.append(self._forced)
        means = Means.of(self._target, request.exactness)
        return Adaptive(arms, prices, means), [arm.drafter for arm in arms]

    def _chosen(self, speculation: Speculation) -> list[Arm]:
        if speculation.mode == "off":
            return []
        arms = self._auto if speculation.mode == "auto" else [self._named[speculation.mode]]
        if not speculation.prediction:
            return list(arms)
        return [*arms, Arm(PredictionDrafter(speculation.prediction))]

    def _scoped(self, arm: Arm, scope: str | None) -> Arm:
        """The same drafter with a scope's earlier answers; scopes unused longest are dropped."""
        if scope is None or not isinstance(arm.drafter, SuffixDrafter):
            return arm
        store = self._scopes.setdefault(scope, SuffixStore(_SCOPE_TOKENS))
        self._scopes.move_to_end(scope)
        if len(self._scopes) > _SCOPES:
            self._scopes.popitem(last=False)
        return arm.like(arm.drafter.with_store(store))
