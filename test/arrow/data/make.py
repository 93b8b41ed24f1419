"""Writes the files beside it with pyarrow and Polars, for foreign.test.ts: what other writers make of the format.
Run with any Python that has them: python make.py"""
import datetime
import decimal

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc

ROWS = 300


def column(value, type):
    return pa.array([None if i % 7 == 3 else value(i) for i in range(ROWS)], type)


everything = pa.table(
    {
        "bool": column(lambda i: i % 2 == 0, pa.bool_()),
        "int8": column(lambda i: i % 100 - 50, pa.int8()),
        "uint16": column(lambda i: i * 60, pa.uint16()),
        "int64": column(lambda i: -i * 10**12, pa.int64()),
        "float16": column(lambda i: i / 8, pa.float16()),
        "float32": column(lambda i: i / 4, pa.float32()),
        "float64": column(lambda i: i / 3, pa.float64()),
        "decimal": column(lambda i: decimal.Decimal(i) / 100 - 3, pa.decimal128(12, 2)),
        "decimal256": column(lambda i: decimal.Decimal(-i), pa.decimal256(40, 0)),
        "string": column(lambda i: f"row {i} " + "é" * (i % 3), pa.string()),
        "large_string": column(lambda i: f"large {i}", pa.large_string()),
        "binary": column(lambda i: bytes([i % 256, 1]), pa.binary()),
        "fixed": column(lambda i: bytes([i % 256, 2, 3]), pa.binary(3)),
        "date": column(lambda i: datetime.date(2020, 1, 1) + datetime.timedelta(days=i), pa.date32()),
        "timestamp": column(lambda i: i * 1_000_001, pa.timestamp("us", "UTC")),
        "nanos": column(lambda i: i * 1_000_000_001 - 5, pa.timestamp("ns")),
        "time": column(lambda i: i * 1000, pa.time64("us")),
        "duration": column(lambda i: i, pa.duration("ms")),
        "interval": column(lambda i: (i, -i, i * 1000), pa.month_day_nano_interval()),
        "list": column(lambda i: [i, None, i + 1][: i % 4], pa.list_(pa.int32())),
        "fixed_list": column(lambda i: [i / 2, i / 4], pa.list_(pa.float32(), 2)),
        "struct": column(lambda i: {"x": i, "y": str(i)}, pa.struct([("x", pa.int16()), ("y", pa.string())])),
        "map": column(lambda i: [(f"k{i}", i)], pa.map_(pa.string(), pa.int32())),
        "dictionary": column(lambda i: f"word {i % 10}", pa.string()).dictionary_encode(),
        "null": pa.nulls(ROWS),
    }
)
feather.write_feather(everything, "everything.lz4.feather", chunksize=100)
feather.write_feather(everything.slice(0, 20), "everything.zstd.feather", compression="zstd")
feather.write_feather(everything.slice(5, 40), "everything.plain.feather", compression="uncompressed")

views = pa.table(
    {
        "text": column(lambda i: f"{i}" * (i % 9), pa.string_view()),
        "bytes": column(lambda i: bytes([i % 256]) * (i % 30), pa.binary_view()),
    }
)
with ipc.new_stream("views.arrows", views.schema) as writer:
    writer.write_table(views, max_chunksize=120)

options = ipc.IpcWriteOptions(emit_dictionary_deltas=True)
words = ["zero", "one", "two", "three", "four"]
schema = pa.schema([("word", pa.dictionary(pa.int8(), pa.string()))])
with ipc.new_stream("deltas.arrows", schema, options=options) as writer:
    for known in (2, 4, 5):
        array = pa.DictionaryArray.from_arrays(pa.array(list(range(known)) + [None], pa.int8()), words[:known])
        writer.write_batch(pa.record_batch([array], schema=schema))
with ipc.new_stream("replacements.arrows", schema) as writer:
    for start in (0, 2):
        array = pa.DictionaryArray.from_arrays(pa.array([0, 1, None], pa.int8()), words[start : start + 2])
        writer.write_batch(pa.record_batch([array], schema=schema))

union = pa.table({"u": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])})
with ipc.new_stream("union.arrows", union.schema) as writer:
    writer.write_table(union)


def series(value, type=None):
    return pl.Series([None if i % 7 == 3 else value(i) for i in range(60)], dtype=type)


# Polars leaves out the framing of the schema at the beginning of a file: only the footer has it.
polars = pl.DataFrame(
    {
        "bool": series(lambda i: i % 2 == 0),
        "uint64": series(lambda i: i, pl.UInt64),
        "float32": series(lambda i: i / 4, pl.Float32),
        "text": series(lambda i: f"{i}, longer than a view holds" * (i % 2)),
        "bytes": series(lambda i: bytes([i]) * i),
        "date": series(lambda i: datetime.date(2020, 1, 1) + datetime.timedelta(days=i)),
        "moment": series(lambda i: datetime.datetime(2020, 1, 1, i % 24), pl.Datetime("ns", "UTC")),
        "time": series(lambda i: datetime.time(i % 24)),
        "duration": series(lambda i: datetime.timedelta(seconds=i)),
        "decimal": series(lambda i: decimal.Decimal(i) / 4, pl.Decimal(12, 2)),
        "category": series(lambda i: f"word {i % 5}", pl.Categorical),
        "enum": series(lambda i: f"word {i % 5}", pl.Enum([f"word {i}" for i in range(5)])),
        "list": series(lambda i: [f"a text of a list, {j}" for j in range(i % 4)]),
        "array": series(lambda i: [i / 2, i / 4], pl.Array(pl.Float32, 2)),
        "struct": series(lambda i: {"x": i, "y": f"text {i}"}),
    }
)
polars.write_ipc("polars.arrow", record_batch_size=25)
polars.write_ipc("polars.lz4.arrow", compression="lz4")
polars.write_ipc("polars.zstd.arrow", compression="zstd")
polars.write_ipc("polars.older.arrow", compat_level=pl.CompatLevel.oldest())
polars.clear().write_ipc("polars.empty.arrow")
pl.DataFrame({"n": [1, 2]}, schema={"n": pl.Int128}).write_ipc("polars.int128.arrow")
