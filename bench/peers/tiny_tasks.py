"""A thousand tasks that do next to nothing, in Ray Data and Dask."""

import pandas as pd
from harness import timed


def ray(job: dict) -> dict:
    import ray

    rows = (
        ray.data.range(job["rows"], override_num_blocks=job["tasks"]).map(lambda row: {"double": row["id"] * 2}).take_all()
    )
    return {"rows": len(rows), "sum": sum(row["double"] for row in rows)}


def dask(job: dict) -> dict:
    import dask.dataframe as dd

    frame = dd.from_pandas(pd.DataFrame({"id": range(job["rows"])}), npartitions=job["tasks"])
    double = frame["id"].map_partitions(lambda ids: ids.map(lambda value: value * 2), meta=("double", "int64")).compute()
    return {"rows": len(double), "sum": int(double.sum())}


if __name__ == "__main__":
    timed({"ray": ray, "dask": dask})
