"""A numeric function over whole columns with numpy, in Daft, Ray Data and Dask."""

import numpy as np
import pandas as pd
from harness import timed

COLUMNS = ["l_extendedprice", "l_discount"]


def daft(job: dict) -> dict:
    """A batch function gives as many values as it took, so Daft sums them itself."""
    import daft
    from daft import DataType, Series, col

    @daft.func.batch(return_dtype=DataType.float64())
    def logarithm(price: Series, discount: Series):
        return np.log1p(price.to_arrow().to_numpy() * (1 - discount.to_arrow().to_numpy()))

    sums = (
        daft.read_parquet(job["files"]["lineitem"])
        .select(logarithm(col("l_extendedprice"), col("l_discount")).alias("log"))
        .agg(col("log").count().alias("rows"), col("log").sum().alias("sum"))
        .to_pydict()
    )
    return {"rows": sums["rows"][0], "sum": sums["sum"][0]}


def ray(job: dict) -> dict:
    """Batches are whole blocks (`batch_size=None`): the fewest calls, and no rows copied from block to batch."""
    import ray

    def sums(batch: dict) -> dict:
        log = np.log1p(batch["l_extendedprice"] * (1 - batch["l_discount"]))
        return {"rows": [len(log)], "sum": [log.sum()]}

    rows = (
        ray.data.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
        .map_batches(sums, batch_size=None, batch_format="numpy")
        .take_all()
    )
    return {"rows": int(sum(row["rows"] for row in rows)), "sum": float(sum(row["sum"] for row in rows))}


def dask(job: dict) -> dict:
    import dask.dataframe as dd

    def sums(part: pd.DataFrame) -> pd.DataFrame:
        log = np.log1p(part["l_extendedprice"].to_numpy() * (1 - part["l_discount"].to_numpy()))
        return pd.DataFrame({"rows": [len(log)], "sum": [log.sum()]})

    frame = dd.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
    rows = frame.map_partitions(sums, meta={"rows": "int64", "sum": "float64"}).compute()
    return {"rows": int(rows["rows"].sum()), "sum": float(rows["sum"].sum())}


if __name__ == "__main__":
    timed({"daft": daft, "ray": ray, "dask": dask})
