"""Four columns of lineitem in an order that chance gives, written as Parquet, in Ray Data."""

from harness import timed

COLUMNS = ["l_orderkey", "l_partkey", "l_shipdate", "l_extendedprice"]


def ray(job: dict) -> dict:
    import ray

    frame = ray.data.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
    frame.random_shuffle(seed=7).write_parquet(job["written"])
    return {}


if __name__ == "__main__":
    timed({"ray": ray})
