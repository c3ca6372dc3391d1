"""The server fuzzed from its own description of itself."""

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import checks

from foredraft.engine.scheduler import Scheduler
from foredraft.server.app import create_app
from foredraft.server.service import Service, Settings
from tests.server.conftest import parrot

KEY = {"Authorization": "Bearer secret"}

_APP = create_app(Service(Scheduler(parrot(context=96)), Settings(("parrot",), keys=("secret",))))
schema = schemathesis.openapi.from_asgi("/openapi.json", _APP)
quick = schemathesis.openapi.from_asgi("/openapi.json", _APP)
quick.config.phases.coverage.enabled = False
health = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def check(case):
    # A valid body may still ask for another model or be longer than the context.
    case.call_and_validate(headers=KEY, excluded_checks=[checks.positive_data_acceptance])


@quick.parametrize()
@settings(max_examples=5, **health)
def test_a_few_requests(case):
    check(case)


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=200, **health)
def test_many_requests(case):
    check(case)
