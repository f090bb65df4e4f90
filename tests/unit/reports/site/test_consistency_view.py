"""The consistency view: how many anomalies, over how many runs that would have shown them, and what is none."""

import re

from pytest_kmigrate.reports.pages.markdown import report_markdown
from pytest_kmigrate.reports.site.consistency import consistency
from pytest_kmigrate.reports.site.views import Site
from pytest_kmigrate.reports.summary.rows import Row, grouped
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season


def test_anomalies_are_told_with_their_runs() -> None:
    """How many in how many runs; of a version none of whose runs would have shown it there is no clean bill."""
    tables = season(runs=240)
    newest = {row["folder"] for row in tables["attempts"] if row["kafka"] == "3.10.0"}
    checked = [row for row in tables["checked_classes"] if row["folder"] not in newest]

    content = consistency(Site(summary_of({**tables, "checked_classes": checked}, ABOUT))).content

    (matrix, *_) = re.findall(r'<div class="matrix">(.*?)</table>', content)
    assert re.search(r"<b>\d+</b> in \d+ runs?<br>", matrix)
    assert "not checked" in matrix
    assert re.search(r"none in 80 runs", matrix)
    assert content.count(">Anomalies of client operations<") == 1


def test_what_kafka_allows_is_told_below_the_anomalies_and_is_none() -> None:
    """Cycles of writes: one sentence on the page, no row, no counterexample, and nothing in Markdown."""
    tables = season(runs=240)
    cycles: Row = {**tables["anomalies"][0], "class": "write cycle (G0)", "kind": None, "count": 27}
    alone = summary_of({**tables, "anomalies": [cycles]}, ABOUT)
    beside = summary_of({**tables, "anomalies": [*tables["anomalies"], cycles]}, ABOUT)

    for summary in (alone, beside):
        content = consistency(Site(summary)).content
        assert content.count("write cycle (G0)") == 1
        assert "Seen, and allowed by Kafka: write cycle (G0): 27 in 1 run (Kafka 3.9.1)." in content
        assert "write cycle" not in report_markdown(summary)
    assert "None in " in consistency(Site(alone)).content
    assert "lost write" in consistency(Site(beside)).content


def test_each_class_is_told_over_the_runs_that_would_have_shown_it() -> None:
    """Transactions in 2 of 80 runs of a version, controllers judged in 5, nothing of it in the newest one."""
    tables = season(runs=240)
    of_version = grouped(tables["attempts"], "kafka")
    for kafka, transactional in (("3.9.1", 2), ("3.6.0", 1)):
        mine = [each["folder"] for each in of_version[kafka,][:transactional]]
        tables["checked_classes"] += [{"folder": folder, "classes": ["torn transaction"]} for folder in mine]
    said: Row = {**tables["consistency"][0], "anomaly": "falling controller epoch", "kafka": "3.9.1"}
    tables["consistency"].append({**said, "conforming": 4, "violating": 1, "inconclusive": 9})
    first: Row = {**tables["anomalies"][0], "folder": of_version["3.6.0",][0]["folder"]}
    found = [{**first, "class": name} for name in ("torn transaction", "falling controller epoch")]

    content = consistency(Site(summary_of({**tables, "anomalies": found}, ABOUT))).content

    matrix = "".join(re.findall(r'<div class="matrix">(.*?)</table>', content))
    rows = {
        row.partition("</b>")[0]: re.findall(r"none in [^<]*|not checked|in \d+ run", row)
        for row in matrix.split("<b>")
    }
    reported = {name: row for name, row in rows.items() if name.startswith(("torn", "falling"))}
    assert reported == {
        "falling controller epoch": ["not checked", "none in 5 runs"],
        "torn transaction": ["not checked", "none in 2 runs"],
    }


def test_times_among_the_evidence_have_units() -> None:
    """Nanoseconds are never shown; of a span the longest is reported, of a count the sum."""
    tables = season(runs=60)
    facts = {"began_ns": 18_449_000_000, "longest_s": 22.0, "waited_ms": 1_500, "records": 71_203}
    keys = {name: tables["consistency"][0][name] for name in ("kafka", "topology", "check")}
    reported = [
        {**keys, "fact": name, "verdicts": 1, "total": 3 * value, "largest": value} for name, value in facts.items()
    ]

    content = consistency(Site(summary_of({**tables, "consistency_facts": reported}, ABOUT))).content

    assert "began up to 18.4 s · longest up to 22.0 s · records 213\u202f609 · waited up to 1.5 s" in content


def test_a_counterexample_without_a_topic_has_no_gap_for_it() -> None:
    """What is not known leaves no separator behind."""
    tables = season(runs=240)
    odd: Row = {**tables["anomalies"][0], "topic": None, "partition": None}

    content = consistency(Site(summary_of({**tables, "anomalies": [odd]}, ABOUT))).content

    assert not re.search(r"· *·", re.sub("<[^>]+>", "", content))
