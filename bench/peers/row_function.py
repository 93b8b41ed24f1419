"""A row function in Daft, Ray Data and Dask: the same Python function of the same row, each engine's own way of
calling it. Results are summed where they are made, as ours are."""

import pandas as pd
from harness import timed

COLUMNS = ["l_orderkey", "l_extendedprice", "l_discount", "l_comment"]


def revenue(row: dict) -> dict:
    return {
        "k": row["l_orderkey"],
        "r": row["l_extendedprice"] * (1 - row["l_discount"]),
        "t": row["l_comment"][:3].upper(),
    }


def total(sums: pd.DataFrame) -> dict:
    return {
        "rows": int(sums["rows"].sum()),
        "k": int(sums["k"].sum()),
        "r": float(sums["r"].sum()),
        "furious": int(sums["furious"].sum()),
    }


def daft(job: dict) -> dict:
    """`daft.func` is Daft's row function; it takes columns as arguments and gives a struct."""
    import daft
    from daft import DataType, col

    result = DataType.struct({"k": DataType.int64(), "r": DataType.float64(), "t": DataType.string()})

    @daft.func(return_dtype=result, unnest=True)
    def row_revenue(l_orderkey: int, l_extendedprice: float, l_discount: float, l_comment: str):
        return {"k": l_orderkey, "r": l_extendedprice * (1 - l_discount), "t": l_comment[:3].upper()}

    sums = (
        daft.read_parquet(job["files"]["lineitem"])
        .select(row_revenue(*(col(name) for name in COLUMNS)))
        .agg(
            col("k").count().alias("rows"),
            col("k").sum(),
            col("r").sum(),
            (col("t") == "FUR").cast(DataType.int64()).sum().alias("furious"),
        )
        .to_pandas()
    )
    return total(sums)


def ray(job: dict) -> dict:
    """`Dataset.map`, then a batch function that sums."""
    import ray

    def sums(batch: dict) -> dict:
        return {
            "rows": [len(batch["k"])],
            "k": [batch["k"].sum()],
            "r": [batch["r"].sum()],
            "furious": [(batch["t"] == "FUR").sum()],
        }

    rows = (
        ray.data.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
        .map(revenue)
        .map_batches(sums, batch_format="numpy")
        .take_all()
    )
    return total(pd.DataFrame(rows))


def dask(job: dict) -> dict:
    """`map_partitions` over `to_dict("records")`: `DataFrame.apply(axis=1)`, which makes a Series of every row, is several
    times slower, so this is the idiom that favours Dask."""
    import dask.dataframe as dd

    def sums(part: pd.DataFrame) -> pd.DataFrame:
        made = pd.DataFrame([revenue(row) for row in part.to_dict("records")], columns=["k", "r", "t"])
        return pd.DataFrame(
            {
                "rows": [len(made)],
                "k": [made["k"].sum()],
                "r": [made["r"].sum()],
                "furious": [(made["t"] == "FUR").sum()],
            }
        )

    meta = {"rows": "int64", "k": "int64", "r": "float64", "furious": "int64"}
    frame = dd.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
    return total(frame.map_partitions(sums, meta=meta).compute())


if __name__ == "__main__":
    timed({"daft": daft, "ray": ray, "dask": dask})
