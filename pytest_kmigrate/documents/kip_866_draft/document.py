"""The draft of KIP-866: it has requirements and checks of its own, and the procedure and evidence of the final one.

Rows that are the same in both (``same_as``) are judged by the final one's checks, in the runs of its suite.
"""

from dataclasses import replace

from pytest_kmigrate.checkers.registry import checkers_in
from pytest_kmigrate.documents.kip_866.document import DOCUMENT as FINAL
from pytest_kmigrate.documents.kip_866_draft.checks.metrics import METRICS
from pytest_kmigrate.model.document import Document

DOCUMENT: Document = replace(
    FINAL,
    id="kip-866-draft",
    title="KIP-866, an early draft: ZooKeeper to KRaft migration",
    replaced_by=FINAL.id,
    judges_runs_of=(FINAL.id,),
    checks=checkers_in("pytest_kmigrate.documents.kip_866_draft.checks"),
    metrics=(*FINAL.metrics, *METRICS),
)
