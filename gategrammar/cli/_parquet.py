"""Reading Parquet files: their rows are the same as those of JSONL files."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gategrammar.cli._rows import Advance, Fault, Row, unreadable
from gategrammar.response.errors import quote

#: Files with this ending are Parquet.
ENDING = ".parquet"
#: How many rows are in memory at once; each may hold a whole trajectory.
_ROWS = 64


def rows(file: str, advance: Advance) -> Iterator[Row | Fault]:
    """Read a Parquet file; a row's line is its number, from 1."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        hint = "run: pip install 'gategrammar[arrow]'"
        yield Fault("file", file, "cannot be read: Parquet needs pyarrow, which is not installed", hint)
        return
    try:
        size = Path(file).stat().st_size
        # Without a memory map and without reading ahead, no more than a few pages are in memory.
        with ParquetFile(file, pre_buffer=False, buffer_size=1 << 20) as parquet:
            names = Counter(parquet.schema_arrow.names)
            if twice := [name for name, count in names.items() if count > 1]:
                yield Fault("file", file, f"has the column {quote(twice[0])} twice, and which one is meant is a guess")
                return
            total = parquet.metadata.num_rows
            number = 0
            for batch in parquet.iter_batches(_ROWS):
                for place in range(batch.num_rows):
                    number += 1
                    yield _row(file, number, batch.slice(place, 1))
                # The position in the file is not told, but the rows are.
                advance(size * number // total - size * (number - batch.num_rows) // total)
    except OSError as error:
        yield unreadable(file, error)
    except pa.ArrowException as error:
        yield Fault("file", file, f"cannot be read as Parquet: {str(error).splitlines()[0]}")


def _row(file: str, number: int, batch: Any) -> Row | Fault:
    try:
        (fields,) = batch.to_pylist()
    except UnicodeDecodeError as error:
        return Fault("encoding", file, f"a string in row {number} is not UTF-8: {error.reason}", line=number)
    return Row(file, number, _plain(fields))


def _plain(value: Any) -> Any:
    """Return *value* as it would have come out of JSON, where JSON has it; NaN stands for a gap, and becomes null."""
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
