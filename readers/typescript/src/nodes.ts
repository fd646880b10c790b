/**
 * What a message holds, as plain objects. A value without an identity is null, a boolean, or a number (a bigint from 2^53 on);
 * everything else is a node. An object that occurs again is the same node, so sharing and cycles are as they were stored.
 */
export type Value = null | boolean | number | bigint | Node;

export type ClassKind = "object" | "based" | "enum" | "custom";

export type Node =
  | Text | Bytes | Float | Complex | Constant | Sequence | Dict | DateTime | Known | Instance | Buffer | Global | Persistent | Reduce;

interface Base {
  /** The object's id, if it has one: it may occur again. */
  id?: number;
}
/** `value` has a lone surrogate for each one stored; where two of them stand in a row, `points` tells them from a pair. */
export interface Text extends Base { kind: "text"; value: string; points?: number[] }
/** A view of the input, not a copy. */
export interface Bytes extends Base { kind: "bytes" | "bytearray"; value: Uint8Array }
/** A number that was stored as a float, with all of its bits. */
export interface Float extends Base { kind: "float"; value: number; bits: bigint }
export interface Complex extends Base { kind: "complex"; real: Float; imaginary: Float }
export interface Constant extends Base { kind: "ellipsis" | "notimplemented" }
export interface Sequence extends Base { kind: "list" | "tuple" | "set" | "frozenset"; items: Value[] }
export interface Dict extends Base { kind: "dict"; entries: [Value, Value][] }
/** Year, month, day, hour, minute, second, microsecond, fold. */
export interface DateTime extends Base { kind: "datetime"; fields: number[]; zone: Value }
/** A type of the standard library or NumPy, with its values as section 6 lists them. */
export interface Known extends Base { kind: "known"; name: string; values: Value[] }
/** An instance of a class, which this reader never has; `content` where the kind has one. */
export interface Instance extends Base {
  kind: "instance"; class: string; classKind: ClassKind; version: number; fields: [Text, Value][]; content?: Value;
}
/** Bytes outside the message; `data` where they are known. */
export interface Buffer extends Base { kind: "buffer"; form: number; number: number; data?: Uint8Array }
export interface Global extends Base { kind: "global"; module: Value; name: Value }
export interface Persistent extends Base { kind: "persistent"; of: Value }
/** A call of trusted messages, which this reader only describes. */
export interface Reduce extends Base { kind: "reduce"; flags: number; values: Value[] }

export const isNode = (value: Value | undefined): value is Node => typeof value === "object" && value !== null;
export const isInt = (value: Value | undefined): value is number | bigint => typeof value === "number" || typeof value === "bigint";
export const isText = (value: Value | undefined): value is Text => isNode(value) && value.kind === "text";
