"""The dashboard and the page about metrics name what the server has, and all of it."""

import json
import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.server.test_metrics import ended, job, metrics, round_of, step

DOCS = Path(__file__).parent.parent.parent / "docs"
NAME = re.compile(r"\b(?:foredraft|process)_[a-z_]+")


def samples():
    """The names of all series of a server that has done something, and its families."""
    found = metrics()
    found.refused("queue_full")
    found.stepped(job(), step(round_of(4, 2)))
    found.stepped(ended(0.1, 8, 0.5), step(round_of(0, 0), finish="length"))
    families = list(text_string_to_metric_families(found.text().decode()))
    names = {sample.name for family in families for sample in family.samples}
    return {name for name in names if not name.endswith("_created")}, families


def test_every_query_of_the_dashboard_asks_for_what_there_is():
    board = json.loads((DOCS / "grafana.json").read_text(encoding="utf-8"))
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    queries += [item["query"]["query"] for item in board["templating"]["list"][1:]]
    asked = {name for query in queries for name in NAME.findall(query)}
    known, _ = samples()
    assert asked <= known
    assert len(asked) > 20
    assert all(query.count("(") == query.count(")") for query in queries)
    places = [tuple(panel["gridPos"][key] for key in "xy") for panel in board["panels"]]
    assert len(set(places)) == len(places)


def test_every_metric_is_in_the_table_and_nothing_else():
    text = (DOCS / "metrics.md").read_text(encoding="utf-8")
    table = set(re.findall(r"^\| `(foredraft_[a-z_]+)`", text, re.M))
    known, families = samples()
    ours = {f.name + "_total" * (f.type == "counter") for f in families if "foredraft" in f.name}
    assert table == {name for name in ours if not name.endswith("_created")}
    assert set(NAME.findall(text)) <= known | table
