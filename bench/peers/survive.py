"""Work that memory is too small for, in Daft, Ray Data and Dask: the same functions of the same rows as programs/survive.ts.

An error that reaches the program is an end like another: it is reported as one. What does not reach it (the program was
killed, or waits for ever) is seen from outside.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import harness
import numpy as np

Rows = Callable[[list[int]], list[int]]
KEPT: list[np.ndarray] = []

FILL = "import numpy, sys\nkept = []\nwhile True: kept.append(numpy.ones(16_000_000, numpy.uint8))"


def batches(ids: list[int]) -> list[int]:
    made = np.ones(300_000_000, np.uint8)
    return [i * int(made[-1]) for i in ids]


def leak(ids: list[int]) -> list[int]:
    for _ in ids:
        KEPT.append(np.ones(1_000_000, np.uint8))
    return ids


def explode(ids: list[int]) -> list[str]:
    return [f"{i}.{n}".ljust(1000) for i in ids for n in range(2_000_000 if i == 500 else 1)]


def together(ids: list[int]) -> list[int]:
    made = np.ones(200_000_000, np.uint8)
    time.sleep(0.5)
    return [i * int(made[-1]) for i in ids]


def buffers(ids: list[int]) -> list[int]:
    kept = []
    while True:
        kept.append(np.ones(16_000_000, np.uint8))


def objects(ids: list[int]) -> list[int]:
    kept = []
    while True:
        kept.append({"number": len(kept), "text": str(len(kept))})


def child(ids: list[int]) -> list[int]:
    subprocess.run([sys.executable, "-c", FILL], check=True)
    return ids


def texts(ids: list[int]) -> list[int]:
    return [len(f"{i}".ljust(1000)) for i in ids]


# Rows, tasks, function; what comes out is summed.
FUNCTIONS: dict[str, tuple[int, int, Rows]] = {
    "batches": (64, 16, batches),
    "leak": (3_000, 300, leak),
    "together": (32, 16, together),
    "buffers": (8, 4, buffers),
    "objects": (8, 4, objects),
    "child": (8, 4, child),
    "texts": (2_000_000, 40, texts),
}


class Daft:
    def total(self, rows: int, tasks: int, function: Rows) -> int:
        import daft

        applied = daft.func.batch(return_dtype=daft.DataType.int64(), batch_size=rows // tasks)(
            lambda ids: function(ids.to_pylist())
        )
        return daft.range(rows, partitions=tasks).select(applied(daft.col("id"))).sum("id").to_pylist()[0]["id"]

    def explode(self) -> int:
        import daft

        list_of = daft.func(return_dtype=daft.DataType.list(daft.DataType.string()))(lambda i: explode([i]))
        return daft.range(1_000, partitions=10).select(list_of(daft.col("id")).alias("text")).explode("text").count_rows()

    def sort(self, job: dict) -> None:
        import daft

        daft.read_parquet(job["files"]).sort(["key", "id"]).write_parquet(job["written"])

    def join(self, job: dict) -> tuple[int, int, int]:
        import daft
        from daft import col

        left, right = halves(job)
        joined = daft.read_parquet(left).join(
            daft.read_parquet(right).select(col("key"), col("text").alias("other")), left_on="id", right_on="key"
        )
        equal = (col("text") == col("other")).cast(daft.DataType.int64())
        row = (
            joined.select(col("id"), equal.alias("equal"))
            .agg(col("id").count().alias("n"), col("id").sum().alias("ids"), col("equal").sum())
            .to_pylist()[0]
        )
        return row["n"], row["ids"], row["equal"]


class Ray:
    def total(self, rows: int, tasks: int, function: Rows) -> int:
        import ray

        applied = ray.data.range(rows, override_num_blocks=tasks).map_batches(
            lambda batch: {"id": np.array(function(batch["id"].tolist()))}, batch_size=None
        )
        return applied.sum("id")

    def explode(self) -> int:
        import ray

        exploded = ray.data.range(1_000, override_num_blocks=10).flat_map(
            lambda row: [{"text": text} for text in explode([row["id"]])]
        )
        return exploded.map_batches(lambda batch: {"n": [len(batch["text"])]}).sum("n")

    def sort(self, job: dict) -> None:
        import ray

        ray.data.read_parquet(job["files"]).sort(["key", "id"]).write_parquet(job["written"])

    def join(self, job: dict) -> tuple[int, int, int]:
        import ray

        left, right = halves(job)
        other = ray.data.read_parquet(right, columns=["key", "text"]).rename_columns({"text": "other", "key": "id"})
        joined = ray.data.read_parquet(left, columns=["id", "text"]).join(
            other, join_type="inner", num_partitions=20, on=("id",)
        )

        def sums(batch: dict) -> dict:
            equal = int((batch["text"] == batch["other"]).sum())
            return {"n": [len(batch["id"])], "ids": [int(batch["id"].sum())], "equal": [equal]}

        rows = joined.map_batches(sums, batch_format="numpy").take_all()
        return tuple(sum(row[name] for row in rows) for name in ("n", "ids", "equal"))


class Dask:
    def total(self, rows: int, tasks: int, function: Rows) -> int:
        import dask.dataframe as dd
        import pandas as pd

        frame = dd.from_pandas(pd.DataFrame({"id": range(rows)}), npartitions=tasks)
        applied = frame.map_partitions(
            lambda part: pd.DataFrame({"id": function(part["id"].tolist())}), meta={"id": "int64"}
        )
        return int(applied["id"].sum().compute())

    def explode(self) -> int:
        import dask.dataframe as dd
        import pandas as pd

        frame = dd.from_pandas(pd.DataFrame({"id": range(1_000)}), npartitions=10)
        exploded = frame.map_partitions(
            lambda part: pd.DataFrame({"text": explode(part["id"].tolist())}), meta={"text": "object"}
        )
        return len(exploded)

    def sort(self, job: dict) -> None:
        import dask.dataframe as dd

        dd.read_parquet(job["files"]).sort_values(["key", "id"]).to_parquet(job["written"], write_index=False)

    def join(self, job: dict) -> tuple[int, int, int]:
        import dask
        import dask.dataframe as dd

        left, right = halves(job)
        other = dd.read_parquet(right, columns=["key", "text"]).rename(columns={"text": "other"})
        joined = dd.read_parquet(left, columns=["id", "text"]).merge(other, left_on="id", right_on="key")
        equal = (joined["text"] == joined["other"]).sum()
        return tuple(int(one) for one in dask.compute(joined["id"].count(), joined["id"].sum(), equal))


ENGINES = {"daft": Daft, "ray": Ray, "dask": Dask}


def halves(job: dict) -> tuple[list[str], list[str]]:
    middle = len(job["files"]) // 2
    return job["files"][:middle], job["files"][middle:]


def answer(engine: Daft | Ray | Dask, job: dict) -> dict:
    name = job["name"]
    match name:
        case "explode":
            return {"rows": engine.explode()}
        case "sort":
            engine.sort(job)
            return {}
        case "join":
            rows, ids, equal = engine.join(job)
            return {"rows": int(rows), "ids": int(ids), "equal": int(equal)}
        case "two":
            with ThreadPoolExecutor(2) as threads:
                first, second = threads.map(lambda one: engine.total(*FUNCTIONS[one]), ["batches", "texts"])
            return {"batches": int(first), "texts": int(second)}
        case _:
            return {"sum": int(engine.total(*FUNCTIONS[name]))}


def main() -> None:
    name, job = sys.argv[1], json.loads(sys.argv[2])
    begin = time.perf_counter()
    try:
        with harness.STARTED[name](job["workers"]):
            found = answer(ENGINES[name](), job)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        found = {"error": type(error).__name__, "message": lines[0] if lines else ""}
    print(json.dumps({"seconds": time.perf_counter() - begin, "startup": 0, "answer": found}), flush=True)


if __name__ == "__main__":
    main()
