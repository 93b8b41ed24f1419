"""Every line with its order, then groups, in Daft and Dask."""

from harness import answer_of_rows, timed

LINES = ["l_orderkey", "l_shipmode", "l_extendedprice", "l_discount"]
ORDERS = ["o_orderkey", "o_orderpriority", "o_orderdate"]
KEYS = ["o_orderpriority", "l_shipmode"]


def daft(job: dict) -> dict:
    import daft
    from daft import col

    lines = daft.read_parquet(job["files"]["lineitem"]).select(
        "l_orderkey", "l_shipmode", (col("l_extendedprice") * (1 - col("l_discount"))).alias("revenue")
    )
    groups = (
        lines.join(
            daft.read_parquet(job["files"]["orders"]).select(*ORDERS), left_on="l_orderkey", right_on="o_orderkey"
        )
        .groupby(*KEYS)
        .agg(
            col("revenue").count().alias("lines"),
            col("revenue").sum(),
            col("o_orderdate").max().alias("last"),
        )
        .sort(KEYS)
        .select(*KEYS, "lines", "revenue", "last")
    )
    return answer_of_rows(groups.to_pylist())


def dask(job: dict) -> dict:
    import dask.dataframe as dd

    lines = dd.read_parquet(job["files"]["lineitem"], columns=LINES)
    lines["revenue"] = lines["l_extendedprice"] * (1 - lines["l_discount"])
    orders = dd.read_parquet(job["files"]["orders"], columns=ORDERS)
    orders["o_orderdate"] = orders["o_orderdate"].astype("datetime64[s]")
    joined = lines[["l_orderkey", "l_shipmode", "revenue"]].merge(orders, left_on="l_orderkey", right_on="o_orderkey")
    groups = joined.groupby(KEYS).agg(lines=("revenue", "count"), revenue=("revenue", "sum"), last=("o_orderdate", "max"))
    return answer_of_rows(groups.compute().sort_index().reset_index().to_dict("records"))


if __name__ == "__main__":
    timed({"daft": daft, "dask": dask})
