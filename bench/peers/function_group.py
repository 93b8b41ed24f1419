"""A row function makes the key that rows are grouped by, in Daft, Ray Data and Dask; each row function in the form that
is fastest in row_function.py."""

import pandas as pd
from harness import answer_of_rows, timed

COLUMNS = ["l_extendedprice", "l_discount", "l_comment"]


def daft(job: dict) -> dict:
    import daft
    from daft import DataType, col

    result = DataType.struct({"word": DataType.string(), "revenue": DataType.float64()})

    @daft.func(return_dtype=result, unnest=True)
    def keyed(l_extendedprice: float, l_discount: float, l_comment: str):
        return {"word": l_comment.split(" ", 1)[0].upper(), "revenue": l_extendedprice * (1 - l_discount)}

    groups = (
        daft.read_parquet(job["files"]["lineitem"])
        .select(keyed(*(col(name) for name in COLUMNS)))
        .groupby("word")
        .agg(col("revenue").count().alias("lines"), col("revenue").sum())
        .sort("word")
        .select("word", "lines", "revenue")
    )
    return answer_of_rows(groups.to_pylist())


def ray(job: dict) -> dict:
    import ray
    from ray.data.aggregate import Count, Sum

    def keyed(row: dict) -> dict:
        return {
            "word": row["l_comment"].split(" ", 1)[0].upper(),
            "revenue": row["l_extendedprice"] * (1 - row["l_discount"]),
        }

    rows = (
        ray.data.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
        .map(keyed)
        .groupby("word")
        .aggregate(Count(alias_name="lines"), Sum("revenue", alias_name="revenue"))
        .take_all()
    )
    return answer_of_rows(sorted(rows, key=lambda row: row["word"]))


def dask(job: dict) -> dict:
    import dask.dataframe as dd

    def key(row) -> tuple:
        return (row.l_comment.split(" ", 1)[0].upper(), row.l_extendedprice * (1 - row.l_discount))

    def keyed(part: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame([key(row) for row in part.itertuples(index=False)], columns=["word", "revenue"])

    frame = dd.read_parquet(job["files"]["lineitem"], columns=COLUMNS)
    groups = frame.map_partitions(keyed, meta={"word": "object", "revenue": "float64"}).groupby("word")["revenue"]
    sums = groups.agg(["count", "sum"]).compute().sort_index().reset_index()
    sums.columns = ["word", "lines", "revenue"]
    return answer_of_rows(sums.to_dict("records"))


if __name__ == "__main__":
    timed({"daft": daft, "ray": ray, "dask": dask})
