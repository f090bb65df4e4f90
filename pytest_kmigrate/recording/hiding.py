"""Hides secrets in the logs of nodes: Kafka logs a few of the values that it is given."""

from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.redaction import without_secrets


def hide_secrets(folder: RunFolder) -> None:
    """Overwrite each line with a secret in place: events count bytes of logs, and a node that is kept goes on writing.

    OSError when a log cannot be read or written.
    """
    # A container may have put a link there, to a file of this machine.
    for log in sorted(log for log in folder.logs.rglob("*.log") if log.is_file() and not log.is_symlink()):
        with log.open("r+b") as file:
            for begin, line in without_secrets(file.read()):
                file.seek(begin)
                file.write(line)
