"""What nodes execute is recorded, also of a node that was stopped; a class that was planted is reported as loaded."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from pytest_kmigrate.checkers.run.mutants import became_of_rules
from pytest_kmigrate.distributions.class_names import classes_in
from pytest_kmigrate.distributions.java_tools.lines import code_lines
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.event import RuleOutcome
from pytest_kmigrate.model.provider import Mutant
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.recording.reading import read_events
from pytest_kmigrate.running import Claim, RunSettings, open_run
from tests.unit.fakes import topology

SMALLEST = topology(zookeepers=0, brokers=1, controllers=1)
WATCHED = "org.apache.kafka.controller.ClusterControlManager"
PLANTED = "org.apache.kafka.image.MetadataImage"


@pytest.mark.skipif(shutil.which("javac") is None, reason="there is no JDK here, which builds the agent")
def test_what_is_executed_and_what_was_planted_is_recorded(tmp_path: Path) -> None:
    """The planted class is Kafka's own, so that the cluster runs; the controller's last reading is from before its end.

    The class file that JaCoCo saw is the one in the jar, by its sum.
    """
    distribution = resolve(SMALLEST.kafka, progress=print, archive=False)
    ((jar, _),) = classes_in(distribution.jars, [PLANTED])
    with zipfile.ZipFile(jar) as archive:
        (tmp_path / "own.class").write_bytes(archive.read(f"{PLANTED.replace('.', '/')}.class"))
    mutant = Mutant("its-own", PLANTED, tmp_path / "own.class")
    settings = RunSettings(tmp_path / "runs", seed=1, profile="kip-500", mutant=mutant, watched=(WATCHED,))
    with open_run(settings, ProcessProvider(print), SMALLEST, Claim("t::exercise"), lambda _folder: None) as run:
        run.traffic.start()
        run.traffic.await_acked(50)
        run.cluster.node("controller-3000").stop()
        run.cluster.node("controller-3000").start()
        run.verify([checks.no_acked_record_lost()])
    lines = [json.loads(line) for line in run.folder.exercise.read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(len(lines)))
    assert {(line["node"], line["class_name"]) for line in lines} == {("controller-3000", WATCHED)}
    executed = {probe for line in lines for probe in line["executed"]}
    of_code = list(code_lines(distribution, [WATCHED], print))
    assert {line["class_id"] for line in lines} == {each.class_id for each in of_code}
    registering = {each.line for each in of_code if each.method.startswith("registerBroker(")}
    seen = {each.line for each in of_code if executed & set(each.probes)}
    assert len(registering & seen) > len(registering) / 3
    assert became_of_rules(read_events(run.folder)) == {"its-own": RuleOutcome.CARRIED_OUT}
