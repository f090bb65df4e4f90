"""Batches of records as Kafka keeps them in its logs."""

import datetime as dt
import io
from collections.abc import Sequence

from kio.records.schema import NewRecordBatch, Record
from kio.records.writers import write_batch
from kio.static.primitive import TZAwareMicros, i8, i16, i32, i64

_NOBODY = -1
"""The producer of records that no client wrote."""


def batch_of(values: Sequence[bytes], *, offset: int = 0) -> bytes:
    """One batch of records with these values and no keys, from an offset on; ValueError without any value."""
    now = TZAwareMicros.parse(dt.datetime.now(dt.UTC).replace(microsecond=0))
    records = tuple(
        Record(attributes=i8(0), timestamp=now, offset=i64(offset + number), key=None, value=value, headers=())
        for number, value in enumerate(values)
    )
    batch = NewRecordBatch(
        producer_id=i64(_NOBODY),
        producer_epoch=i16(_NOBODY),
        base_sequence=i32(_NOBODY),
        records=records,
        attributes=i16(0),
    )
    buffer = io.BytesIO()
    write_batch(buffer, batch)
    return buffer.getvalue()
