/**
 * libduckdb: where it is, and the part of its C API that is used here. Handles and addresses are numbers. A parameter
 * named `at…` is the address of a cell that holds or receives a handle.
 */
import { createRequire } from "node:module";
import { KernelError } from "../errors/index.ts";
import { type Library, loadLibrary, type NativeFunction } from "../native/index.ts";

const FILES: Readonly<Record<string, string>> = {
  "linux-x64": "libduckdb.so",
  "linux-arm64": "libduckdb.so",
  "darwin-x64": "libduckdb.dylib",
  "darwin-arm64": "libduckdb.dylib",
};

function libraryPath(): string {
  const platform = `${process.platform}-${process.arch}`;
  const file = FILES[platform];
  if (file === undefined) {
    const known = Object.keys(FILES).join(", ");
    throw new KernelError(`There is no kernel for ${platform}. Supported: ${known}.`, "Platform");
  }
  const require = createRequire(import.meta.url);
  try {
    // Resolved from the bindings package, which depends on the platform's package: installers may nest the latter below
    // the former.
    const bindings = createRequire(require.resolve("@duckdb/node-bindings/package.json"));
    return bindings.resolve(`@duckdb/node-bindings-${platform}/${file}`);
  } catch (cause) {
    const error = new KernelError(
      `The package @duckdb/node-bindings-${platform} is not installed: install without --omit=optional.`,
      "Platform",
    );
    error.cause = cause;
    throw error;
  }
}

/** A duckdb_result, passed by value. */
export interface ResultStruct {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}
export const RESULT_CELLS = 6;

/** How far a running statement is; `percentage` is negative where that is not known. */
interface ProgressStruct {
  readonly percentage: number;
}

type N = number;

function declareAll(library: Library) {
  const declare = <Arguments extends readonly unknown[], Result>(signature: string) =>
    library.declare<Arguments, Result>(signature);
  const fetchChunk: NativeFunction<[ResultStruct], N> = library.declareByValue(
    "duckdb_fetch_chunk",
    "uint64",
    RESULT_CELLS,
  );
  return {
    version: declare<[], string>("const char* duckdb_library_version()"),
    createConfig: declare<[N], N>("int duckdb_create_config(uint64 atConfig)"),
    setConfig: declare<[N, string, string], N>("int duckdb_set_config(uint64 config, const char* name, const char* v)"),
    destroyConfig: declare<[N], void>("void duckdb_destroy_config(uint64 atConfig)"),
    openExt: declare<[string | null, N, N, N], N>(
      "int duckdb_open_ext(const char* path, uint64 atDatabase, uint64 config, uint64 atError)",
    ),
    close: declare<[N], void>("void duckdb_close(uint64 atDatabase)"),
    connect: declare<[N, N], N>("int duckdb_connect(uint64 database, uint64 atConnection)"),
    disconnect: declare<[N], void>("void duckdb_disconnect(uint64 atConnection)"),
    interrupt: declare<[N], void>("void duckdb_interrupt(uint64 connection)"),
    connectionContext: declare<[N, N], void>("void duckdb_connection_get_client_context(uint64 c, uint64 atContext)"),
    contextId: declare<[N], N>("uint64 duckdb_client_context_get_connection_id(uint64 context)"),
    destroyContext: declare<[N], void>("void duckdb_destroy_client_context(uint64 atContext)"),
    arrowOptions: declare<[N, N], void>("void duckdb_connection_get_arrow_options(uint64 c, uint64 atOptions)"),
    destroyArrowOptions: declare<[N], void>("void duckdb_destroy_arrow_options(uint64 atOptions)"),
    free: declare<[N], void>("void duckdb_free(uint64 memory)"),

    query: declare<[N, string, N], N>("int duckdb_query(uint64 connection, const char* sql, uint64 result)"),
    prepare: declare<[N, string, N], N>("int duckdb_prepare(uint64 connection, const char* sql, uint64 atStatement)"),
    prepareError: declare<[N], string | null>("const char* duckdb_prepare_error(uint64 statement)"),
    destroyPrepare: declare<[N], void>("void duckdb_destroy_prepare(uint64 atStatement)"),
    statementType: declare<[N], N>("int duckdb_prepared_statement_type(uint64 statement)"),
    columnCount: declare<[N], N>("uint64 duckdb_prepared_statement_column_count(uint64 statement)"),
    columnName: declare<[N, N], N>("uint64 duckdb_prepared_statement_column_name(uint64 statement, uint64 column)"),
    columnType: declare<[N, N], N>("uint64 duckdb_prepared_statement_column_logical_type(uint64 s, uint64 column)"),
    executeStreaming: declare<[N, N], N>("int duckdb_execute_prepared_streaming(uint64 statement, uint64 result)"),
    resultError: declare<[N], string | null>("const char* duckdb_result_error(uint64 result)"),
    destroyResult: declare<[N], void>("void duckdb_destroy_result(uint64 result)"),
    fetchChunk,
    queryProgress: library.declareReturning<[N], ProgressStruct>(
      "duckdb_query_progress",
      { percentage: "double", rows: "uint64", total: "uint64" },
      ["uint64"],
    ),
    chunkSize: declare<[N], N>("uint64 duckdb_data_chunk_get_size(uint64 chunk)"),
    setChunkSize: declare<[N, N], void>("void duckdb_data_chunk_set_size(uint64 chunk, uint64 size)"),
    chunkVector: declare<[N, N], N>("uint64 duckdb_data_chunk_get_vector(uint64 chunk, uint64 column)"),
    destroyChunk: declare<[N], void>("void duckdb_destroy_data_chunk(uint64 atChunk)"),
    vectorType: declare<[N], N>("uint64 duckdb_vector_get_column_type(uint64 vector)"),
    referenceVector: declare<[N, N], void>("void duckdb_vector_reference_vector(uint64 to, uint64 from)"),

    toArrow: declare<[N, N, N], N>("uint64 duckdb_data_chunk_to_arrow(uint64 options, uint64 chunk, uint64 array)"),
    schemaFromArrow: declare<[N, N, N], N>("uint64 duckdb_schema_from_arrow(uint64 c, uint64 schema, uint64 atSchema)"),
    fromArrow: declare<[N, N, N, N], N>(
      "uint64 duckdb_data_chunk_from_arrow(uint64 c, uint64 array, uint64 schema, uint64 atChunk)",
    ),
    destroyArrowSchema: declare<[N], void>("void duckdb_destroy_arrow_converted_schema(uint64 atSchema)"),
    hasError: declare<[N], boolean>("bool duckdb_error_data_has_error(uint64 error)"),
    errorMessage: declare<[N], string | null>("const char* duckdb_error_data_message(uint64 error)"),
    destroyError: declare<[N], void>("void duckdb_destroy_error_data(uint64 atError)"),

    createType: declare<[N], N>("uint64 duckdb_create_logical_type(int id)"),
    destroyType: declare<[N], void>("void duckdb_destroy_logical_type(uint64 atType)"),
    typeId: declare<[N], N>("int duckdb_get_type_id(uint64 type)"),
    decimalWidth: declare<[N], N>("uint8 duckdb_decimal_width(uint64 type)"),
    decimalScale: declare<[N], N>("uint8 duckdb_decimal_scale(uint64 type)"),
    listChild: declare<[N], N>("uint64 duckdb_list_type_child_type(uint64 type)"),
    arrayChild: declare<[N], N>("uint64 duckdb_array_type_child_type(uint64 type)"),
    arraySize: declare<[N], N>("uint64 duckdb_array_type_array_size(uint64 type)"),
    mapKey: declare<[N], N>("uint64 duckdb_map_type_key_type(uint64 type)"),
    mapValue: declare<[N], N>("uint64 duckdb_map_type_value_type(uint64 type)"),
    structCount: declare<[N], N>("uint64 duckdb_struct_type_child_count(uint64 type)"),
    structName: declare<[N, N], N>("uint64 duckdb_struct_type_child_name(uint64 type, uint64 child)"),
    structChild: declare<[N, N], N>("uint64 duckdb_struct_type_child_type(uint64 type, uint64 child)"),

    createTableFunction: declare<[], N>("uint64 duckdb_create_table_function()"),
    destroyTableFunction: declare<[N], void>("void duckdb_destroy_table_function(uint64 atFunction)"),
    setFunctionName: declare<[N, string], void>("void duckdb_table_function_set_name(uint64 f, const char* name)"),
    addParameter: declare<[N, N], void>("void duckdb_table_function_add_parameter(uint64 f, uint64 type)"),
    setExtraInfo: declare<[N, N, N], void>(
      "void duckdb_table_function_set_extra_info(uint64 f, uint64 x, uint64 free)",
    ),
    setBind: declare<[N, N], void>("void duckdb_table_function_set_bind(uint64 f, uint64 callback)"),
    setInit: declare<[N, N], void>("void duckdb_table_function_set_init(uint64 f, uint64 callback)"),
    setFunction: declare<[N, N], void>("void duckdb_table_function_set_function(uint64 f, uint64 callback)"),
    setPushdown: declare<[N, boolean], void>(
      "void duckdb_table_function_supports_projection_pushdown(uint64 f, bool on)",
    ),
    registerFunction: declare<[N, N], N>("int duckdb_register_table_function(uint64 connection, uint64 f)"),
    bindExtraInfo: declare<[N], N>("uint64 duckdb_bind_get_extra_info(uint64 info)"),
    bindContext: declare<[N, N], void>("void duckdb_table_function_get_client_context(uint64 info, uint64 atContext)"),
    bindParameter: declare<[N, N], N>("uint64 duckdb_bind_get_parameter(uint64 info, uint64 index)"),
    valueInt64: declare<[N], N>("int64 duckdb_get_int64(uint64 value)"),
    destroyValue: declare<[N], void>("void duckdb_destroy_value(uint64 atValue)"),
    bindColumn: declare<[N, string, N], void>(
      "void duckdb_bind_add_result_column(uint64 info, const char* name, uint64 type)",
    ),
    bindCardinality: declare<[N, N, boolean], void>(
      "void duckdb_bind_set_cardinality(uint64 info, uint64 n, bool exact)",
    ),
    setBindData: declare<[N, N, N], void>("void duckdb_bind_set_bind_data(uint64 info, uint64 data, uint64 free)"),
    bindError: declare<[N, string], void>("void duckdb_bind_set_error(uint64 info, const char* message)"),
    initBindData: declare<[N], N>("uint64 duckdb_init_get_bind_data(uint64 info)"),
    initColumnCount: declare<[N], N>("uint64 duckdb_init_get_column_count(uint64 info)"),
    initColumn: declare<[N, N], N | bigint>("uint64 duckdb_init_get_column_index(uint64 info, uint64 index)"),
    setMaxThreads: declare<[N, N], void>("void duckdb_init_set_max_threads(uint64 info, uint64 threads)"),
    setInitData: declare<[N, N, N], void>("void duckdb_init_set_init_data(uint64 info, uint64 data, uint64 free)"),
    initError: declare<[N, string], void>("void duckdb_init_set_error(uint64 info, const char* message)"),
    functionInitData: declare<[N], N>("uint64 duckdb_function_get_init_data(uint64 info)"),
    functionError: declare<[N, string], void>("void duckdb_function_set_error(uint64 info, const char* message)"),
  };
}

export type DuckDB = ReturnType<typeof declareAll>;

let loaded: DuckDB | null = null;

export function duckdb(): DuckDB {
  loaded ??= declareAll(loadLibrary(libraryPath()));
  return loaded;
}
