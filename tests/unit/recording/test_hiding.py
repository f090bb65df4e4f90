"""Nothing that a node logged of a secret stays in the folder of its run."""

from pathlib import Path

from pytest_kmigrate.recording.hiding import hide_secrets
from pytest_kmigrate.recording.run_folder import RunFolder


def test_secrets_in_logs_are_overwritten_in_place(tmp_path: Path) -> None:
    """The node may have its log open: it is the same file, and as long as before."""
    folder = RunFolder(tmp_path)
    log = folder.log("broker-0")
    log.parent.mkdir(parents=True)
    with log.open("a") as node:
        node.write(
            "started\nssl.key.password -> salt:xteHR6L5X3ieiuCW9BBOUQ,passwordLength:6,encryptedPassword:gOhZn0y8\n"
        )
        node.flush()
        size = log.stat().st_size
        hide_secrets(folder)
        node.write("went on\n")
    text = log.read_text()
    assert (text.index("went on"), text.splitlines()[0]) == (size, "started")
    assert "passwordLength:6" in text
    assert not any(secret in text for secret in ("xteHR6L5X3ieiuCW9BBOUQ", "gOhZn0y8"))


def test_what_a_log_links_to_is_left_alone(tmp_path: Path) -> None:
    """A container that is under test writes its own logs."""
    folder, elsewhere = RunFolder(tmp_path / "run"), tmp_path / "elsewhere"
    elsewhere.write_text("x.password = secret\n")
    log = folder.log("broker-0")
    log.parent.mkdir(parents=True)
    log.symlink_to(elsewhere)
    hide_secrets(folder)
    assert elsewhere.read_text() == "x.password = secret\n"
