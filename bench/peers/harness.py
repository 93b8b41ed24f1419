"""The frame of the peers' programs: the engine starts, does the work once on a thousand rows, then on the clock.

Arguments: the engine's name, the assignment as JSON (workload.ts says what is in it). Prints one JSON line. The
imports of an engine and the start of its processes count as start-up, as they do for ours.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from tempfile import TemporaryDirectory

Work = Callable[[dict], dict]


def timed(engines: dict[str, Work]) -> None:
    name, assignment = sys.argv[1], json.loads(sys.argv[2])
    work = engines[name]
    begin = time.perf_counter()
    with STARTED[name](assignment["cores"]):
        work(assignment["warmUp"])
        warm = time.perf_counter()
        answer = work(assignment["job"])
        seconds = time.perf_counter() - warm
    print(json.dumps({"startup": warm - begin, "seconds": seconds, "answer": answer}), flush=True)


def answer_of_rows(rows: list[dict]) -> dict:
    """As programs/rows-answer.ts: a sum per column in which every row has a weight of its own."""

    def number(value: object) -> float:
        if value is None:
            return -1
        return hashed(str(value)[:10] if isinstance(value, date) else value) if isinstance(value, (str, date)) else value

    def hashed(text: str) -> int:
        value = 0
        for character in text:
            value = (value * 31 + ord(character)) & 0xFFFFFFFF
        return value

    names = rows[0].keys() if rows else []
    weights = [1 + (i % 97) / 97 for i in range(len(rows))]
    sums = {name: float(sum(w * number(row[name]) for w, row in zip(weights, rows))) for name in names}
    return {"rows": len(rows), **sums}


@contextmanager
def daft_started(cores: int) -> Iterator[None]:
    import daft

    daft.set_runner_native(num_threads=cores)
    yield


@contextmanager
def ray_started(cores: int) -> Iterator[None]:
    import ray

    # A short path: Ray puts sockets in it, and their names may have 107 characters.
    with TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as directory:
        ray.init(
            num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="ERROR", _temp_dir=directory
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def dask_started(cores: int) -> Iterator[None]:
    """Processes, not threads: Python functions hold the interpreter's lock."""
    import dask
    from dask.distributed import Client, LocalCluster

    with (
        TemporaryDirectory(prefix="dask-", ignore_cleanup_errors=True) as directory,
        dask.config.set(temporary_directory=directory),
        LocalCluster(n_workers=cores, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        yield


STARTED = {"daft": daft_started, "daft-processes": daft_started, "ray": ray_started, "dask": dask_started}
