"""Tables of an earlier report are read again, and what is no such folder is named with what was found."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.written_tables import rows_of


@pytest.mark.parametrize(("has_table", "got"), [(False, "none there: name"), (True, "No match for")])
def test_what_is_no_table_is_one_sentence(tmp_path: Path, got: str, *, has_table: bool) -> None:
    """Whether there is none of that name, or one without the column."""
    if has_table:
        (tmp_path / "cells").mkdir()
        pq.write_table(pa.table({"other": [1]}), tmp_path / "cells" / "part-0.parquet")
    with pytest.raises(
        WrongUseError, match=rf"with cells and its columns profile; got {got}.* the folder tables/ below"
    ):
        rows_of(tmp_path, "cells", ["profile"])
