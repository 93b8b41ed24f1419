/** What DuckDB says when it fails, as errors of ours. */
import { describe, expect, test } from "vitest";
import { kernelError } from "../../src/kernel/failure.ts";

const ADVICE = `

Possible solutions:
* Reducing the number of threads (SET threads=X)
* Disabling insertion-order preservation (SET preserve_insertion_order=false)
* Increasing the memory limit (SET memory_limit='...GB')

See also https://duckdb.org/docs/stable/guides/performance/how_to_tune_workloads`;

const kindOf = (text: string | null) => kernelError(text, null).kind;

describe("memory that is refused is of one kind", () => {
  test.each([
    "Out of Memory Error: failed to allocate data of size 8.0 MiB (15.4 MiB/19.0 MiB used)",
    "TransactionContext Error: Failed to commit: failed to pin block of size 256.0 KiB (47.9 MiB/48.0 MiB used)",
    "TransactionContext Error: Failed to commit: could not allocate block of size 256.0 KiB (47.9 MiB/48.0 MiB used)",
    'FATAL Error: Failed: database has been invalidated because of a previous fatal error. The database must be restarted prior to being used again.\nOriginal error: "Failed to allocate block of 33554432 bytes (bad allocation)"',
    "INTERNAL Error: could not allocate block of size 32.0 KiB (96.0 MiB/96.0 MiB used)",
    "Invalid Input Error: Error in file x: failed to pin block of size 256.0 KiB (47.9 MiB/48.0 MiB used)",
    "Invalid Error: std::bad_alloc",
    "Error: std::bad_alloc",
    "Out of Memory Error: Allocation failure",
    "Out of Memory Error: ArrowBuffer: failed to allocate 1024 bytes",
    'IO Error: Could not read from file "x": Cannot allocate memory',
    null,
    "",
  ])("[M3] %s", (text) => {
    expect(kindOf(text)).toBe("Out of Memory");
  });
});

test("[M3] a user's text in an error is not taken for one of memory", () => {
  expect(kindOf("Conversion Error: Could not convert string 'std::bad_alloc' to INT32")).toBe("Conversion");
  expect(kindOf("Binder Error: there is no function cannot allocate memory")).toBe("Binder");
});

test("[M4] DuckDB's advice to SET something reaches nobody, what it is about does", () => {
  const refused = "Out of Memory Error: failed to allocate data of size 32.0 KiB (96.0 MiB/96.0 MiB used)";
  expect(kernelError(refused + ADVICE, null).message).toBe(refused);
  const line = "LINE 1: DESCRIBE SELECT * FROM read_json(['a.json'])";
  expect(kernelError(`${refused}${ADVICE}\n\n${line}`, null).message).toBe(`${refused}\n\n${line}`);
  const many = "Invalid Input Error: More than one row returned by a subquery used as an expression";
  const revert = '\n\nUse "SET scalar_subquery_error_on_multiple_rows=false" to revert to previous behavior.';
  expect(kernelError(many + revert, null).message).toBe(many);
  const quoted = "Conversion Error: Could not convert string 'SET a = 1' to INT32";
  expect(kernelError(quoted, null).message).toBe(quoted);
});
