/** The sink for a type. */
import type { DataType } from "../types.ts";
import { DecimalSink } from "./decimal-sink.ts";
import { dateSink, FixedBinarySink, intervalSink, spanSink, timestampSink } from "./fixed-sinks.ts";
import type { Place } from "./misfit.ts";
import { BinarySink, FixedListSink, ListSink, MapSink, OpenSink, StructSink } from "./nested-sinks.ts";
import { BoolSink, Float64Sink, integerSink, smallFloatSink } from "./number-sinks.ts";
import type { Sink } from "./sink.ts";
import { TextSink } from "./text-sink.ts";

/** `replace` puts another sink in its place when a column of nulls gets its first value. */
export function sinkFor(type: DataType, place: Place, replace: (sink: Sink) => void): Sink {
  switch (type.kind) {
    case "null":
      return new OpenSink(place, replace);
    case "bool":
      return new BoolSink(place);
    case "int":
      return integerSink(type, place);
    case "float":
      return type.bits === 64 ? new Float64Sink(place) : smallFloatSink(type.bits, place);
    case "decimal":
      return new DecimalSink(type, place);
    case "utf8":
      return new TextSink(type, place);
    case "binary":
      return new BinarySink(type, place);
    case "fixedBinary":
      return new FixedBinarySink(type, place);
    case "date":
      return dateSink(type, place);
    case "time":
      return spanSink({ kind: "time", unit: type.unit }, place);
    case "duration":
      return spanSink({ kind: "duration", unit: type.unit }, place);
    case "timestamp":
      return timestampSink(type, place);
    case "interval":
      return intervalSink(type, place);
    case "list":
      return new ListSink(type, place);
    case "fixedList":
      return new FixedListSink(type, place);
    case "struct":
      return new StructSink(type.children, place);
    case "map":
      return new MapSink(type, place);
    case "dictionary":
      return sinkFor(type.value, place, replace);
  }
}
