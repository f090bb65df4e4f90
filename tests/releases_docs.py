"""Writes ``docs/releases/``, a page for each release of Kafka: ``python -m tests.releases_docs``."""

from pathlib import Path

from pytest_kmigrate.catalogue import departures_of
from pytest_kmigrate.distributions.releases import known_releases
from pytest_kmigrate.documents import documents
from pytest_kmigrate.judging.matrix import costs

FOLDER = Path(__file__).parent.parent / "docs" / "releases"


def pages() -> dict[str, str]:
    """File name -> content, of each release that a document knows defects of, and of the list of them."""
    made = {f"{release}.md": page for release in known_releases() if (page := _page(release))}
    listed = "\n".join(f"- [Kafka {name.removesuffix('.md')}]({name})" for name in reversed(made))
    lead = (
        "Known defects of each release by the documents that pytest-kmigrate judges, what they cost an operator and "
        "where they are fixed. `kmigrate bugs --kafka 3.6.2 --to 3.9.1` compares two releases; `make docs` writes "
        "these pages."
    )
    return {"README.md": f"# Known defects by release\n\n{lead}\n\n{listed}\n", **made}


def _page(release: str) -> str:
    sections = []
    for document in sorted(documents(), key=lambda each: each.id, reverse=True):
        known = () if document.replaced_by else departures_of(document.id, release)
        defects = [each for each in known if each.class_ == "defect"]
        if defects:
            others = len(known) - len(defects)
            beside = f"{others} departures and remarks beside them hurt no operator." if others else ""
            sections.append("\n\n".join([f"## {document.title}", costs(defects), *([beside] if beside else [])]))
    return "\n\n".join([f"# Known defects of Kafka {release}", *sections]) + "\n" if sections else ""


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
