/** The eight tables of TPC-H as datasets, with the types of their rows. */
import type { Dataset, Session } from "spillway";

export interface Region {
  r_regionkey: number;
  r_name: string;
  r_comment: string;
}

export interface Nation {
  n_nationkey: number;
  n_name: string;
  n_regionkey: number;
  n_comment: string;
}

export interface Supplier {
  s_suppkey: number;
  s_name: string;
  s_address: string;
  s_nationkey: number;
  s_phone: string;
  s_acctbal: number;
  s_comment: string;
}

export interface Customer {
  c_custkey: number;
  c_name: string;
  c_address: string;
  c_nationkey: number;
  c_phone: string;
  c_acctbal: number;
  c_mktsegment: string;
  c_comment: string;
}

export interface Part {
  p_partkey: number;
  p_name: string;
  p_mfgr: string;
  p_brand: string;
  p_type: string;
  p_size: number;
  p_container: string;
  p_retailprice: number;
  p_comment: string;
}

export interface PartSupp {
  ps_partkey: number;
  ps_suppkey: number;
  ps_availqty: number;
  ps_supplycost: number;
  ps_comment: string;
}

export interface Order {
  o_orderkey: number;
  o_custkey: number;
  o_orderstatus: string;
  o_totalprice: number;
  o_orderdate: Date;
  o_orderpriority: string;
  o_clerk: string;
  o_shippriority: number;
  o_comment: string;
}

export interface LineItem {
  l_orderkey: number;
  l_partkey: number;
  l_suppkey: number;
  l_linenumber: number;
  l_quantity: number;
  l_extendedprice: number;
  l_discount: number;
  l_tax: number;
  l_returnflag: string;
  l_linestatus: string;
  l_shipdate: Date;
  l_commitdate: Date;
  l_receiptdate: Date;
  l_shipinstruct: string;
  l_shipmode: string;
  l_comment: string;
}

export interface Tables {
  readonly region: Dataset<Region>;
  readonly nation: Dataset<Nation>;
  readonly supplier: Dataset<Supplier>;
  readonly customer: Dataset<Customer>;
  readonly part: Dataset<Part>;
  readonly partsupp: Dataset<PartSupp>;
  readonly orders: Dataset<Order>;
  readonly lineitem: Dataset<LineItem>;
  /** The scale factor of the data; query 11 asks for a share of the whole that depends on it. */
  readonly scale: number;
}

export type TableFiles = Readonly<Record<Exclude<keyof Tables, "scale">, readonly string[]>>;

export function openTables(session: Session, files: TableFiles, scale: number): Tables {
  return {
    region: session.readParquet<Region>([...files.region]),
    nation: session.readParquet<Nation>([...files.nation]),
    supplier: session.readParquet<Supplier>([...files.supplier]),
    customer: session.readParquet<Customer>([...files.customer]),
    part: session.readParquet<Part>([...files.part]),
    partsupp: session.readParquet<PartSupp>([...files.partsupp]),
    orders: session.readParquet<Order>([...files.orders]),
    lineitem: session.readParquet<LineItem>([...files.lineitem]),
    scale,
  };
}
