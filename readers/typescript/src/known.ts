import type { Known, Value } from "./nodes.js";
import { isInt, isNode, isText } from "./nodes.js";

const DAY = 86_400_000_000n;
const BUILTINS = "int float complex bool str bytes bytearray list tuple dict set frozenset object".split(" ");
const ITEM_SIZES: Record<string, number> = { b: 1, B: 1, h: 2, H: 2, i: 4, I: 4, f: 4, l: 8, L: 8, q: 8, Q: 8, d: 8 };
const DECIMAL = /^-?(\d+(\.\d+)?([Ee][+-]\d+)?|Infinity|s?NaN\d*)$/;
const V4 = /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/;

const between = (value: Value, low: bigint, high: bigint): boolean => isInt(value) && BigInt(value) >= low && BigInt(value) <= high;
const isBytes = (value: Value): value is Value & { kind: "bytes"; value: Uint8Array } => isNode(value) && value.kind === "bytes";
const isKnown = (value: Value, ...names: string[]): value is Known => isNode(value) && value.kind === "known" && names.includes(value.name);
const isClass = (value: Value): boolean => isNode(value) && ["instance", "global", "reduce"].includes(value.kind);
const zoned = (value: Value): boolean => value === null || isKnown(value, "Utc", "Timezone", "ZoneInfo") || isClass(value);

function isV6(text: string): boolean {
  const [address, scope, ...others] = text.split("%");
  if (others.length || scope === "") return false;
  let parts = address.split(":");
  const last = parts[parts.length - 1];
  if (last.includes(".")) {
    if (!V4.test(last)) return false;
    parts = [...parts.slice(0, -1), "0", "0"];
  }
  const gaps = address.split("::").length - 1;
  if (address.includes(":::") || gaps > 1) return false;
  if (gaps === 0 && (parts.length !== 8 || parts.includes(""))) return false;
  if (gaps === 1 && (parts.filter(Boolean).length > 7 || /^:[^:]|[^:]:$/.test(address))) return false;
  return parts.every((part) => /^[0-9a-fA-F]{0,4}$/.test(part));
}

/** The number of an address, to look at the bits behind a prefix. */
function number(address: string, wide: boolean): bigint {
  if (!wide) return address.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  let plain = address.split("%")[0];
  const dotted = /[^:]*\.[^:]*$/.exec(plain)?.[0];
  if (dotted) {
    const low = number(dotted, false);
    plain = plain.replace(dotted, `${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`);
  }
  const [head, tail] = plain.split("::");
  const before = head ? head.split(":") : [];
  const after = tail ? tail.split(":") : [];
  const parts = [...before, ...Array(tail === undefined ? 0 : 8 - before.length - after.length).fill("0"), ...after];
  return parts.reduce((sum, part) => (sum << 16n) | BigInt(`0x${part}`), 0n);
}

function network(text: string, wide: boolean, host: boolean): string | null {
  const [address, prefix, ...others] = text.split("/");
  if (others.length || !(wide ? isV6(address) : V4.test(address))) return "no address";
  const most = wide ? 128 : 32;
  if (prefix === undefined) return null;
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > most) return wide || !V4.test(prefix) ? "no length of a prefix" : null;
  const behind = (1n << BigInt(most - Number(prefix))) - 1n;
  return !host && number(address, wide) & behind ? "bits behind the prefix" : null;
}

/** The bytes of an item of a dtype; null for objects and texts of any length, undefined for what is no dtype. */
function itemSize(dtype: Value): number | null | undefined {
  if (isKnown(dtype, "NumpyDtype")) return itemSize(dtype.values[0]);
  if (isText(dtype)) {
    const text = dtype.value;
    if (text === "O" || /^T(\[(None|nan)\])?!?$/.test(text)) return null;
    const unit = /^[<>]([Mm])8(\[\d*(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?$/.exec(text);
    if (unit) return 8;
    const long = /^<([gG])\d+$/.exec(text);
    if (long) return undefined; // of the writer's platform
    const plain = /^([|<>])([biufcSUV])(\d+)$/.exec(text);
    if (!plain) return undefined;
    const size = Number(plain[3]);
    return plain[2] === "U" ? 4 * size : size;
  }
  if (!isNode(dtype) || (dtype.kind !== "tuple" && dtype.kind !== "list")) return undefined;
  if (dtype.kind === "tuple") {
    if (dtype.items.length !== 2) return undefined;
    const size = itemSize(dtype.items[0]);
    const dims = dimensions(dtype.items[1]);
    return size === undefined || !dims ? undefined : size === null ? null : dims.reduce((product, dim) => product * dim, size);
  }
  const [size, flags] = dtype.items;
  if (!between(size, 0n, 1n << 31n) || !between(flags, 0n, 3n) || dtype.items.length % 4 !== 2) return undefined;
  for (let at = 2; at < dtype.items.length; at += 4) {
    if (!isText(dtype.items[at]) || !isInt(dtype.items[at + 1])) return undefined;
    const of = itemSize(dtype.items[at + 3]);
    if (of === undefined) return undefined;
    if (of === null) return null;
  }
  return Number(size);
}

function dimensions(value: Value): number[] | null {
  if (!isNode(value) || value.kind !== "tuple" || value.items.length > 64) return null;
  return value.items.every((dim) => between(dim, 0n, 1n << 62n)) ? value.items.map(Number) : null;
}

function array([dtype, shape, order, items]: Value[]): string | null {
  const size = itemSize(dtype);
  const dims = dimensions(shape);
  if (size === undefined && !(isText(dtype) && /^<[gG]\d+$/.test(dtype.value))) return "no dtype";
  if (!dims) return "no shape";
  if (isNode(order)) {
    if (order.kind !== "tuple" || typeof order.items[0] !== "boolean") return "no order";
    const axes = order.items.slice(1);
    if (axes.length !== dims.length || !dims.every((_, axis) => axes.includes(axis))) return "no order";
  }
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (isBytes(items) && (size === null || (size !== undefined && items.value.length !== count * size))) return "items of another size";
  if (isNode(items) && items.kind === "list" && isText(dtype) && items.items.length !== count) return "another number of items";
  if (isNode(items) && items.kind === "list" && typeof size === "number") return "a list of what is bytes";
  return null;
}

const dictOf = (value: Value): boolean =>
  (isNode(value) && value.kind === "dict") || isKnown(value, "OrderedDict", "DefaultDict", "Counter") || (isNode(value) && value.kind === "instance" && value.classKind === "based");

const RULES: Record<string, (values: Value[]) => boolean | string | null> = {
  Date: ([day]) => between(day, 1n, 3_652_059n),
  Time: ([bits, zone]) => {
    if (!between(bits, 0n, (1n << 38n) - 1n) || !zoned(zone)) return false;
    const field = (low: bigint, width: bigint): bigint => (BigInt(bits as number) >> low) & ((1n << width) - 1n);
    return field(33n, 5n) < 24n && field(27n, 6n) < 60n && field(21n, 6n) < 60n && field(1n, 20n) < 1_000_000n;
  },
  Timedelta: ([micros]) => between(micros, -999_999_999n * DAY, 1_000_000_000n * DAY - 1n),
  Timezone: ([micros, name]) => between(micros, 1n - DAY, DAY - 1n) && (name === null || isText(name) || isClass(name)),
  ZoneInfo: ([key]) => isText(key) || (isNode(key) && key.kind === "tuple" && key.items.length === 1 && isText(key.items[0])),
  Decimal: ([text]) => isText(text) && DECIMAL.test(text.value),
  Fraction: ([above, below]) => isInt(above) && isInt(below) && below > 0,
  Uuid: ([bytes]) => isBytes(bytes) && (bytes.value.length === 16 || (bytes.value.length === 17 && [0, 255].includes(bytes.value[16]))),
  IPv4Address: ([text]) => isText(text) && V4.test(text.value),
  IPv6Address: ([text]) => isText(text) && isV6(text.value),
  IPv4Network: ([text]) => (isText(text) ? network(text.value, false, false) : false),
  IPv6Network: ([text]) => (isText(text) ? network(text.value, true, false) : false),
  IPv4Interface: ([text]) => (isText(text) ? network(text.value, false, true) : false),
  IPv6Interface: ([text]) => (isText(text) ? network(text.value, true, true) : false),
  Pattern: ([pattern, flags]) => (isText(pattern) || isBytes(pattern)) && isInt(flags),
  Range: ([start, stop, step]) => isInt(start) && isInt(stop) && isInt(step) && step != 0,
  Array: ([code, items]) => {
    if (!isText(code)) return false;
    if (code.value === "u" || code.value === "w") return isText(items);
    const size = ITEM_SIZES[code.value];
    const isItems = isNode(items) && (items.kind === "buffer" || (isBytes(items) && items.value.length % size === 0));
    return size !== undefined && isItems;
  },
  Deque: ([most]) => most === null || between(most, 0n, 1n << 62n),
  DefaultDict: ([factory]) => factory === null || isKnown(factory, "BuiltinType") || isClass(factory),
  MappingProxy: ([shown]) => dictOf(shown),
  NdArray: array,
  NumpyScalar: ([dtype, item]) => {
    if (isText(dtype) && dtype.value === "U") return isText(item);
    if (!isBytes(item)) return false;
    const size = itemSize(dtype);
    return (isText(dtype) && /^(S|<[gG]\d+)$/.test(dtype.value)) || item.value.length === size;
  },
  BuiltinType: ([name]) => isText(name) && BUILTINS.includes(name.value),
  NumpyDtype: ([dtype]) => itemSize(dtype) !== undefined || (isText(dtype) && /^<[gG]\d+$/.test(dtype.value)),
};

/** Why a known type does not take its values (section 6), or null. Zones and patterns are not looked up. */
export function fault(node: Known): string | null {
  if (node.name.endsWith("Path")) return isText(node.values[0]) ? null : "no text";
  const found = RULES[node.name]?.(node.values) ?? null;
  return typeof found === "boolean" ? (found ? null : "out of its range, or of another type") : found;
}
