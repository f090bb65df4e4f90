"""The command about registers of certificates: ``register``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer


def register(
    folder: Annotated[Path, typer.Argument(help="The register.", metavar="REGISTER", readable=False)],
    certificates: Annotated[
        list[Path] | None, typer.Argument(help="Certificates to file in it first, of any release.", metavar="[FILE...]")
    ] = None,
    *,
    replace: Annotated[bool, typer.Option("--replace", help="They may take the place of others.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing: its page must be current.")] = False,
    evidence: Annotated[
        Path | None, typer.Option(help="A folder with evidence (default: the register).", metavar="DIR")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Judge so many runs of each again (default: all).", metavar="N", min=0)
    ] = None,
) -> None:
    """Verify all certificates of a register, and write its page and badges."""
    from pytest_kmigrate.model.errors import WrongUseError

    if check and certificates:
        raise WrongUseError("--check: expected a register alone, got certificates to file; leave one of them out")
    file_all(folder, certificates or (), replaces=replace)
    keep(folder, evidence or folder, sample, writes=not check)


def file_all(register: Path, certificates: Sequence[Path], *, replaces: bool) -> None:
    """File certificates one by one."""
    from pytest_kmigrate.certificates.register import file_in
    from pytest_kmigrate.cli.console import notify

    for each in certificates:
        notify(f"filed: {file_in(register, each, replaces=replaces)}")


def file_now(register: Path | None, certificate: Path) -> None:
    """File a certificate that was just made, if that is wanted."""
    if register is not None:
        file_all(register, [certificate], replaces=True)
        keep(register, register, None, writes=True)


def keep(register: Path, evidence: Path, sample: int | None, *, writes: bool) -> None:
    """Verify a register; then write its page, or compare it."""
    from pytest_kmigrate.certificates.register import checked, stale, write_page
    from pytest_kmigrate.cli.console import notify
    from pytest_kmigrate.model.errors import CertificateError

    found = checked(register, evidence, sample, lambda *_: None)
    for each in found.notes:
        notify(each)
    if found.problems:
        raise CertificateError("\n".join(found.problems))
    if writes:
        write_page(register, found.entries)
    elif old := stale(register, found.entries):
        raise CertificateError(
            f"{register / old[0]}: expected what the register's certificates make: run kmigrate register {register}"
        )
    state = "written" if writes else "current"
    notify(f"{register}: {len(found.entries)} certificates are verified, and its page is {state}")
