"""Score trajectories on a Ray cluster: what ``gategrammar score`` does, over as many machines as there are.

    pip install 'gategrammar[arrow]' 'ray[data]'
    python examples/score_on_ray.py fixtures/trajectories.jsonl --out scores

Reads JSONL or Parquet files (local folders too, and files that Ray's file systems reach), writes the r_format of each
trajectory as Parquet, and prints the totals. A trajectory is a list of turns in one row, which has a name in --id; or,
with --group-by, the rows that share a field.
"""

import argparse
from functools import partial
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import ray
from ray.data.aggregate import Count, Sum

from gategrammar.arrow import parse_batch

#: The column that tells trajectories of the same name apart.
ROW = "gategrammar row"


def explode(batch: pa.Table, *, name: str, turns: str, field: str) -> pa.Table:
    """Make a row of each turn; *field* leads into turns that are no texts."""
    lists = batch[turns].combine_chunks()
    if pc.any(pc.equal(pc.coalesce(pc.list_value_length(lists), 0), 0)).as_py():
        raise ValueError(f"a trajectory in column {turns!r} has no turn, so its format is neither right nor wrong")
    flat = pc.list_flatten(lists)
    rows = pc.list_parent_indices(lists)
    return pa.table(
        {
            name: batch[name].combine_chunks().take(rows),
            # Two rows are two trajectories, even if they have the same name.
            ROW: pa.array([uuid4().hex for _ in range(batch.num_rows)]).take(rows),
            field: pc.struct_field(flat, field) if pa.types.is_struct(flat.type) else flat,
        }
    )


def judge(batch: pa.Table, *, keys: list[str], field: str, think: str) -> pa.Table:
    """Parse each turn, and keep what is counted: the texts stay where they are."""
    if batch[field].null_count:
        raise ValueError(f"a turn in column {field!r} is null, so its trajectory is neither right nor wrong")
    parsed = parse_batch(batch.select([*keys, field]), field, think=think, dictionary_encode=False)
    failed = pc.is_null(parsed["update_gate"])
    cut = pc.coalesce(pc.equal(parsed["error_offset"], pc.utf8_length(parsed[field].cast("large_string"))), False)
    return pa.table(
        {
            **{key: parsed[key] for key in keys},
            "kind": parsed["error_kind"].fill_null(""),
            "tag": parsed["error_tag"].fill_null(""),
            "failed": failed.cast(pa.int64()),
            "truncated": cut.cast(pa.int64()),
        }
    )


def reward(batch: pa.Table, *, name: str) -> pa.Table:
    """Turn the failures of each trajectory into its r_format."""
    right = pc.equal(batch["failed"], 0).cast(pa.float64())
    return pa.table({name: batch[name], "r_format": right, "turns": batch["turns"], "failed": batch["failed"]})


def main() -> None:
    """Score what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", required=True, help="the folder for the scores")
    parser.add_argument("--turns", default="turns", help="the column with the lists of turns")
    parser.add_argument("--id", default="id", help="the column that names a trajectory")
    parser.add_argument("--group-by", help="each row is one turn, and this column names its trajectory")
    parser.add_argument("--field", default="response", help="where the response stands: a column, or a field of a turn")
    parser.add_argument("--think", default="required", help="how the reasoning arrives")
    options = parser.parse_args()

    name = options.group_by or options.id
    keys = [name] if options.group_by else [name, ROW]
    arrow = partial(ray.data.Dataset.map_batches, batch_format="pyarrow")
    parquet = any(file.endswith(".parquet") or any(Path(file).glob("**/*.parquet")) for file in options.files)
    data = (ray.data.read_parquet if parquet else ray.data.read_json)(options.files)
    if not options.group_by:
        data = arrow(data, partial(explode, name=name, turns=options.turns, field=options.field))
    turns = arrow(data, partial(judge, keys=keys, field=options.field, think=options.think)).materialize()

    counts = turns.groupby(keys).aggregate(Count(alias_name="turns"), Sum("failed", alias_name="failed"))
    scores = arrow(counts, partial(reward, name=name)).materialize()
    scores.write_parquet(options.out)

    print(f"{scores.count()} trajectories: r_format {scores.mean('r_format'):.3f}")
    print(f"{turns.count()} responses: {turns.sum('failed')} failed, {turns.sum('truncated')} truncated")
    for row in turns.groupby(["kind", "tag"]).count().sort("count()", descending=True).take_all():
        if row["kind"]:
            print(f"  {row['count()']}  {row['kind']}  {row['tag']}")


if __name__ == "__main__":
    main()
