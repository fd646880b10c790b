/** The numbers of docs/format.md's tables. `make check-readers` compares them with the page. */
const ROWS =
  "INT_FIX 00 3F,ASCII_FIX 40 6F,LIST_FIX 70 7F,TUPLE_FIX 80 87,INSTANCE_FIX 88 A7,INSTANCE_8 A8,INSTANCE_32 A9,NONE AA,FALSE AB,TRUE AC," +
  "INT_8 AD,INT_16 AE,INT_32 AF,INT_64 B0,INT_BIG B1,FLOAT B2,COMPLEX B3,ASCII B4,LATIN_1 B5,UCS_2 B6,UTF_8 B7,BYTES B8,BYTEARRAY B9," +
  "LIST BA,TUPLE BB,DICT BC,DICT_EMPTY BD,SET BE,FROZENSET BF,MARK C0,REF_8 C1,REF_16 C2,REF_32 C3,SHAPE C4,CLASS C5,ELLIPSIS C6," +
  "NOT_IMPL C7,LIST_I8 C8,LIST_I16 C9,LIST_I32 CA,LIST_I64 CB,LIST_F64 CC,LIST_BOOL CD,LIST_ASCII CE,TUPLE_I8 CF,TUPLE_I16 D0," +
  "TUPLE_I32 D1,TUPLE_I64 D2,TUPLE_F64 D3,TUPLE_BOOL D4,TUPLE_ASCII D5,KNOWN_TYPE D6,DATETIME D7,DATETIME_ZONED D8,BUFFER D9,NAMED DA," +
  "RESERVED DB FC,GLOBAL FD,REDUCE FE,PERSISTENT FF";

/** The name of each tag, and the first tag of its row. */
export const NAMES: string[] = [];
export const FIRST: Record<string, number> = {};
for (const row of ROWS.split(",")) {
  const [name, first, last] = row.split(" ");
  FIRST[name] = parseInt(first, 16);
  for (let tag = FIRST[name]; tag <= parseInt(last ?? first, 16); tag++) NAMES[tag] = name;
}

export const VERSION = 0xc1;
export const TRUSTED = 0xd1;
export const CONTINUED = 0xe1;
export const CLASS_KINDS = ["object", "based", "enum", "custom"] as const;
export const FORMS = ["itself", "itself, read-only", "bytes", "bytearray"];

/** Known types from code 1 on, and how many values each has. */
export const KNOWN: [string, number][] = [
  ["Date", 1], ["Time", 2], ["Timedelta", 1], ["Utc", 0], ["Timezone", 2], ["ZoneInfo", 1], ["Decimal", 1], ["Fraction", 2], ["Uuid", 1],
  ["PurePosixPath", 1], ["PureWindowsPath", 1], ["PosixPath", 1], ["WindowsPath", 1], ["IPv4Address", 1], ["IPv6Address", 1],
  ["IPv4Network", 1], ["IPv6Network", 1], ["IPv4Interface", 1], ["IPv6Interface", 1], ["Pattern", 2], ["Range", 3], ["Slice", 3],
  ["Array", 2], ["Deque", 2], ["OrderedDict", 1], ["DefaultDict", 2], ["Counter", 1], ["MappingProxy", 1], ["NdArray", 4],
  ["NumpyScalar", 2], ["BuiltinType", 1], ["NumpyDtype", 1],
];

export const TEXTS = ["ASCII_FIX", "ASCII", "LATIN_1", "UCS_2", "UTF_8"];
const DICT = ["DICT", "DICT_EMPTY"];
const LIST = ["LIST_FIX", "LIST"];
const TUPLE = ["TUPLE_FIX", "TUPLE"];
const DTYPE = [...TEXTS, "KNOWN_TYPE", "MARK", "REF_8", "REF_16", "REF_32"];
const SIZE = ["NONE", "INT_FIX", "INT_8", "INT_16", "INT_32", "INT_64"];

/** Where section 6 allows only some tags: those for each value of a type. */
export const STRICT: Record<string, string[][]> = {
  Deque: [SIZE, LIST],
  OrderedDict: [DICT],
  Counter: [DICT],
  DefaultDict: [[], DICT],
  NdArray: [DTYPE, TUPLE, ["FALSE", "TRUE", ...TUPLE], ["BYTES", "BUFFER", ...LIST]],
  NumpyScalar: [DTYPE, [...TEXTS, "BYTES"]],
  NumpyDtype: [[...TEXTS, ...TUPLE, ...LIST]],
};
/** What a generic record may have as its content (section 5), and what of it may be marked. */
export const SHARED_CONTENT = [...TEXTS, "BYTES", "BUFFER", "INT_FIX", "INT_8", "INT_16", "INT_32", "INT_64", "INT_BIG", "FLOAT", "COMPLEX", ...TUPLE];
export const CONTENT = [...SHARED_CONTENT, ...LIST, ...DICT, "SET", "FROZENSET", "BYTEARRAY"];
