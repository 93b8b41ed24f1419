"""TPC-H's first query over doubles, in Daft, Ray Data and Dask."""

from datetime import date

import pandas as pd
from harness import answer_of_rows, timed

COLUMNS = ["l_returnflag", "l_linestatus", "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_shipdate"]
KEYS = ["l_returnflag", "l_linestatus"]
LAST = date(1998, 9, 2)


def computed(part: pd.DataFrame) -> pd.DataFrame:
    kept = part[part["l_shipdate"] <= LAST]
    disc = kept["l_extendedprice"] * (1 - kept["l_discount"])
    return kept.drop(columns=["l_shipdate"]).assign(disc_price=disc, charge=disc * (1 + kept["l_tax"]))


def daft(job: dict) -> dict:
    import daft
    from daft import col

    disc = col("l_extendedprice") * (1 - col("l_discount"))
    groups = (
        daft.read_parquet(job["files"]["lineitem"])
        .where(col("l_shipdate") <= LAST)
        .select(*COLUMNS[:-1], disc.alias("disc_price"), (disc * (1 + col("l_tax"))).alias("charge"))
        .groupby(*KEYS)
        .agg(
            col("l_quantity").sum().alias("sum_qty"),
            col("l_extendedprice").sum().alias("sum_base_price"),
            col("disc_price").sum().alias("sum_disc_price"),
            col("charge").sum().alias("sum_charge"),
            col("l_quantity").mean().alias("avg_qty"),
            col("l_extendedprice").mean().alias("avg_price"),
            col("l_discount").mean().alias("avg_disc"),
            col("l_tax").count().alias("count_order"),
        )
        .sort(KEYS)
    )
    return answer_of_rows(groups.to_pylist())


def ray(job: dict) -> dict:
    import ray
    from ray.data.aggregate import Count, Mean, Sum

    rows = (
        ray.data.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
        .map_batches(computed, batch_format="pandas", batch_size=None)
        .groupby(KEYS)
        .aggregate(
            Sum("l_quantity", alias_name="sum_qty"),
            Sum("l_extendedprice", alias_name="sum_base_price"),
            Sum("disc_price", alias_name="sum_disc_price"),
            Sum("charge", alias_name="sum_charge"),
            Mean("l_quantity", alias_name="avg_qty"),
            Mean("l_extendedprice", alias_name="avg_price"),
            Mean("l_discount", alias_name="avg_disc"),
            Count(alias_name="count_order"),
        )
        .take_all()
    )
    return answer_of_rows(sorted(rows, key=lambda row: tuple(row[key] for key in KEYS)))


def dask(job: dict) -> dict:
    import dask.dataframe as dd

    frame = dd.read_parquet(job["files"]["lineitem"], columns=COLUMNS).map_partitions(computed)
    groups = frame.groupby(KEYS).agg(
        sum_qty=("l_quantity", "sum"),
        sum_base_price=("l_extendedprice", "sum"),
        sum_disc_price=("disc_price", "sum"),
        sum_charge=("charge", "sum"),
        avg_qty=("l_quantity", "mean"),
        avg_price=("l_extendedprice", "mean"),
        avg_disc=("l_discount", "mean"),
        count_order=("l_tax", "count"),
    )
    return answer_of_rows(groups.compute().sort_index().reset_index().to_dict("records"))


if __name__ == "__main__":
    timed({"daft": daft, "ray": ray, "dask": dask})
