"""Whatever a user hands over, and whatever a cluster says: no place that a run writes has a secret of it.

Each form is planted in each place with a secret of its own, in one run of the fake provider; then every byte of the
folder of runs is looked at.
"""

import base64
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from pytest_kmigrate.certificates.scanning import must_hold_no_secret
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.event import EventData, EventKind
from pytest_kmigrate.model.events.evidence import ExpectationEnded, HarnessTrouble
from pytest_kmigrate.model.events.nodes import NodeReconfigured, ToolRan
from pytest_kmigrate.model.history import Transaction, Write, ZnodeChange
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.provider import Instruments
from pytest_kmigrate.providers.fake import FakeCluster, FakeProvider
from pytest_kmigrate.recording.hiding import contents_of, require_no_secret
from pytest_kmigrate.recording.log_digests import GrowingLogs
from pytest_kmigrate.recording.operation_parts import PartWriter
from pytest_kmigrate.recording.recorder import RunRecorder
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sessions import Session, begin_session
from pytest_kmigrate.redaction import redacted_id
from pytest_kmigrate.redaction.known import learn
from pytest_kmigrate.redaction.logs import log_without_secrets
from pytest_kmigrate.reports.one_run.run_reports import write_run_reports
from pytest_kmigrate.running import Claim, RunSettings, open_run
from tests.unit.fakes import topology
from tests.unit.redaction.forms import FORMS, traces, written
from tests.unit.typical_events import event_classes, typical, typical_of

pytestmark = pytest.mark.usefixtures("nothing_known")

OF_ONE_LINE = [form for form in FORMS if "\n" not in FORMS[form]]
"""A command line, the id of a test or a line of a log has no other."""


_PLANTED = re.compile(rb"Tr0ub4dor-\d{5}-x9")
_LOGIN = re.compile(re.escape(base64.b64encode(b"alice:Tr0ub4dor")[:-4]) + rb"[A-Za-z0-9+/]+")


class Planted:
    """Secrets, each of one form in one place."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def text(self, place: str, form: str) -> str:
        """The form with a secret that stands nowhere else."""
        secret = f"Tr0ub4dor-{len(self._of):05d}-x9"
        self._of[secret] = f"{form} in {place}"
        return written(form, secret)

    def every(self, place: str, forms: list[str] | None = None) -> list[str]:
        """Each form once."""
        return [self.text(place, form) for form in forms or FORMS]

    def all(self) -> list[str]:
        """What was planted, by form and place."""
        return list(self._of.values())

    def found_in(self, runs: Path) -> Iterator[str]:
        """What of it stands in any file below a folder, or in a name."""
        for file in (file for file in runs.rglob("*") if file.is_file()):
            for content in (str(file).encode(), *contents_of(file.read_bytes())):
                logins = (base64.b64decode(each + b"==") for each in _LOGIN.findall(content))
                for secret in set(_PLANTED.findall(b" ".join([content, *logins]))):
                    yield f"{self._of[secret.decode()]}: {file.relative_to(runs)}"


def _texts_of_events(planted: Planted) -> Iterator[EventData]:
    """Each form in the events whose texts come from outside, and any form in each other text of any event."""
    for form in FORMS:
        text = planted.text
        yield HarnessTrouble(text("trouble", form), text("its error", form))
        yield ToolRan("kafka-configs", [text("argument of a tool", form)], 1, text("output of a tool", form), 1)
        values = {"deep": [text("observed", form)]}
        yield typical(ExpectationEnded.event_kind, name=text("expectation", form), observed=values)
        yield NodeReconfigured({"x.y": text("config", form)}, None)
    forms = iter(list(FORMS) * 10)
    for each in event_classes():
        hints = get_type_hints(each)
        names = [field.name for field in fields(each) if hints[field.name] in (str, str | None)]
        if names and each.event_kind is not EventKind.SNAPSHOT:
            place = f"event {each.__name__}"
            yield typical_of(each, **{name: planted.text(f"{place}.{name}", next(forms)) for name in names})


def _plant_in_evidence(recorder: RunRecorder, planted: Planted) -> None:
    for event in _texts_of_events(planted):
        recorder.record(event, "broker-0")
    for number, form in enumerate(FORMS):
        path = f"/x/{number}"
        recorder.znode(ZnodeChange(number, path, planted.text("znode", form)))
    writes = tuple(Write("create", "/x", text) for text in planted.every("transaction"))
    recorder.transactions([Transaction(1, 1, 1, writes)])
    configs = {f"topic:{number}": {"a.b": text} for number, text in enumerate(planted.every("image"))}
    read_from = [{"type": "X", "data": {"text": text}} for text in planted.every("records of an image")]
    recorder.image("any", MetadataImage("log", configs=configs, read_from=read_from), 1)
    rows = PartWriter(recorder.folder.operations, "clients")
    for text in planted.every("error of an operation"):
        rows.append((0, 0, 1, "t", 0, 0, 1, 1, 1, 1, "g", True, text))
    rows.close()


def _plant_in_logs(folder: RunFolder, planted: Planted) -> None:
    for name in ("server.log", "stderr", "server-0.properties"):
        file = folder.log_folder("broker-0") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as log:
            log.writelines(f"{text}\n" for text in planted.every(f"log {name}"))


class _Told(FakeProvider):
    """A provider whose facts and lacks have secrets."""

    def __init__(self, planted: Planted) -> None:
        super().__init__()
        self.facts = {f"fact {number}": text for number, text in enumerate(planted.every("fact of a provider"))}

    @contextmanager
    def provision(self, *asked: Any, instruments: Instruments, **more: Any) -> Iterator[FakeCluster]:
        """A cluster that takes rules, and runs no code."""
        assert instruments.rules is not None
        with super().provision(*asked, **more) as cluster:
            yield cluster


def _settings(runs: Path, planted: Planted, rules: Path) -> RunSettings:
    rules.write_text("\n".join(planted.every("Byteman rules", OF_ONE_LINE)))
    session = Session("s", tests=[redacted_id(f"t::x[{text}]") for text in planted.every("test of a session")])
    begin_session(runs, session)
    return RunSettings(
        runs,
        seed=7,
        commit=" ".join(planted.every("commit", OF_ONE_LINE)),
        member=("python", "m.py", *planted.every("member", OF_ONE_LINE)),
        command=("pytest", *planted.every("command", OF_ONE_LINE)),
        session=session,
        byteman=rules,
    )


def _run(tmp_path: Path, planted: Planted, form: str) -> Path:
    """The folder of runs of one run that has it all."""
    runs = tmp_path / "runs"
    settings = _settings(runs, planted, tmp_path / "rules.btm")
    claim = Claim(f"t.py::test_it[{planted.text('parameter', form)}]", words=("t.py", planted.text("word", form)))

    def finish(folder: RunFolder) -> None:
        write_run_reports(folder)

    shape = topology(brokers=1, controllers=1)
    with open_run(settings, _Told(planted), shape, claim, finish) as run:
        _plant_in_evidence(run.recorder, planted)
        _plant_in_logs(run.folder, planted)
        run.verify([])
    return runs


@pytest.mark.slow
def test_no_form_is_in_any_place(tmp_path: Path) -> None:
    """Headers, sessions, names of folders, events, znodes, images, operations, logs, verdicts and reports."""
    planted = Planted()
    runs = _run(tmp_path, planted, "--password X")
    assert [*planted.found_in(runs)] == []
    for file in (file for file in runs.rglob("*") if file.is_file() and file.name != "timeline.html"):
        if file.parent.name != "allure-results":
            must_hold_no_secret(file, file.read_bytes())  # what was redacted is redacted, to the second scan as well
    files = {file.name for file in runs.rglob("*") if file.is_file()}
    assert {"run.json", "sessions.jsonl", "verdicts.jsonl", "timeline.html", "server.log", "manifest.json"} <= files


@pytest.mark.slow
def test_without_redaction_each_place_would_have_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted defect: the same run in which nothing is recognized has each form in each place."""
    for room in ("redaction", "redaction.known"):
        monkeypatch.setattr(f"pytest_kmigrate.{room}.secrets_of", lambda _: [])
    for room in ("redaction", "redaction.logs"):
        monkeypatch.setattr(f"pytest_kmigrate.{room}.has_hint", lambda *_: False)
    monkeypatch.setattr("pytest_kmigrate.redaction.is_flag", lambda _: False)
    planted = Planted()
    found = {each.rpartition(": ")[0] for each in planted.found_in(_run(tmp_path, planted, "--password X"))}
    assert [each for each in planted.all() if each not in found] == []


@pytest.mark.parametrize("form", [form for form in OF_ONE_LINE if "/" not in FORMS[form]])
def test_the_folder_of_a_test_with_a_secret_has_none(form: str) -> None:
    """Its parameters stand in the id."""
    text = redacted_id(f"t.py::test_it[{written(form)}-x]")
    assert text.startswith("t.py::test_it[")
    assert not any(trace in text for trace in traces())


def test_a_value_that_came_by_another_way_is_found(tmp_path: Path) -> None:
    """A file of a plugin of the user's, say: the run gets no manifest."""
    learn(["s0mething-known"])

    def finish(folder: RunFolder) -> None:
        (folder.path / "more").mkdir()
        (folder.path / "more" / "dump.bin").write_bytes(b"\0\1s0mething-known\2")

    settings, claim = RunSettings(tmp_path, seed=7), Claim("t.py::test_it")
    message = r"dump\.bin: expected no secret of this run in its evidence, got one, as it is: delete the folder"
    opened = open_run(settings, FakeProvider(), topology(brokers=1, controllers=1), claim, finish)
    with pytest.raises(EnvironmentLackError, match=message) as caught, opened as run:
        run.verify([])
    assert "s0mething-known" not in str(caught.value)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert not RunFolder(folder).manifest.exists()


@pytest.mark.parametrize("name", ["a.gz", "a.parquet", "s0mething-known.txt"])
def test_what_is_packed_is_looked_at(tmp_path: Path, name: str) -> None:
    """And the names of files."""
    import gzip  # noqa: PLC0415 - of this test alone

    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    learn(["s0mething-known"])
    if name == "a.gz":
        (tmp_path / name).write_bytes(gzip.compress(b"s0mething-known"))
    elif name == "a.parquet":
        pq.write_table(pa.table({"x": ["s0mething-known"] * 9}), tmp_path / name, compression="zstd")
    else:
        (tmp_path / name).touch()
    with pytest.raises(EnvironmentLackError, match="expected no secret"):
        require_no_secret(RunFolder(tmp_path))


def test_the_digest_of_a_log_opens_no_secret_of_it(tmp_path: Path) -> None:
    """It is of what stays: the digest of a line with a password would show which word of a dictionary it is."""
    log = tmp_path / "server.log"
    log.write_bytes(b"INFO x.password=changeit (x.Y)\n")
    digest = GrowingLogs().look({"broker-0": log}, {}, all_of_it=True).digests["broker-0"]
    assert digest != hashlib.sha256(log.read_bytes()).hexdigest()
    assert digest == hashlib.sha256(log_without_secrets(log.read_bytes())).hexdigest()
