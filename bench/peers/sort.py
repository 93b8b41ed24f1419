"""Four columns of lineitem in the order of two, written as Parquet, in Daft, Ray Data and Dask."""

from harness import timed

COLUMNS = ["l_orderkey", "l_partkey", "l_shipdate", "l_extendedprice"]
KEYS = ["l_shipdate", "l_partkey"]


def daft(job: dict) -> dict:
    import daft

    daft.read_parquet(job["files"]["lineitem"]).select(*COLUMNS).sort(KEYS).write_parquet(
        job["written"], compression="snappy"
    )
    return {}


def ray(job: dict) -> dict:
    import ray

    ray.data.read_parquet(job["files"]["lineitem"], columns=COLUMNS).sort(KEYS).write_parquet(job["written"])
    return {}


def dask(job: dict) -> dict:
    """Days as timestamps: Dask takes no quantiles of dates, and it needs them to cut the range."""
    import dask.dataframe as dd

    frame = dd.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
    frame["l_shipdate"] = frame["l_shipdate"].astype("datetime64[s]")
    frame.sort_values(KEYS).to_parquet(job["written"], write_index=False, compression="snappy")
    return {}


if __name__ == "__main__":
    timed({"daft": daft, "ray": ray, "dask": dask})
