import { Cursor } from "./cursor.js";
import { HoldError, type ErrorKind } from "./errors.js";
import { checkGraph } from "./graph.js";
import { fault } from "./known.js";
import type { Float, Instance, Known, Node, Text, Value } from "./nodes.js";
import { isNode, isText } from "./nodes.js";
import {
  CLASS_KINDS, CONTENT, CONTINUED, FIRST, FORMS, KNOWN, NAMES, SHARED_CONTENT, STRICT, TEXTS, TRUSTED, VERSION,
} from "./tags.js";
import { ascii, hasSurrogate, latin1, ucs2, utf8 } from "./text.js";

export interface Shape { kind: "dict" | (typeof CLASS_KINDS)[number]; version: number; class: string; names: Text[] }

export interface Options {
  /** Read trusted messages. Nothing is imported or called: what names code is described. */
  trust?: boolean;
  /** The message's buffers, where they stand beside it. Without, they are described by their numbers. */
  buffers?: Uint8Array[];
  /** The message before, which this one may go on with. */
  before?: Message;
}

/** What was read: the first value, and all that a later message may refer to. */
export interface Message { value: Value; objects: (Value | undefined)[]; shapes: Shape[] }

/** A container whose values are being read. `put` takes one; `last` is called when none is left. */
interface Frame {
  left: number;
  put: (value: Value) => void;
  last: () => void;
  value: Value;
  id: number;
  /** Tags that the next value may have, if not all. */
  only?: (at: number) => string[] | undefined;
  at: number;
  /** Everything within is written out: no marks and no references (section 6). */
  bare: boolean;
}

const NONE = -1;
/** Tags with which the content of a record may begin. */
const CONTENTS = [...CONTENT, "KNOWN_TYPE", "MARK", "REF_8", "REF_16", "REF_32"];
/** What `begin` returns for a container that waits for values. */
const OPEN: unique symbol = Symbol("open");
const INT_RUNS: Record<string, number> = { I8: 1, I16: 2, I32: 4, I64: 8, F64: 8, BOOL: 1, ASCII: 1 };

export const int = (value: bigint): number | bigint =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

export class Reader {
  readonly input: Cursor;
  objects: (Value | undefined)[] = [];
  shapes: Shape[] = [];
  /** Ids of texts that last in a log, in the order in which they were named (section 13). */
  readonly lasting: number[] = [];
  private readonly frames: Frame[] = [];
  /** Values that open containers wait for: never more than there are bytes. */
  private owed = 0;
  private buffers = 0;
  private readonly trusted: boolean;
  /** Containers whose keys are compared, and whether a tuple was referred to from within. */
  private readonly hashed: [Node, number][] = [];
  private readonly tuples: [Node, number][] = [];
  private readonly openTuples = new Set<Node>();

  constructor(data: Uint8Array, private readonly options: Options = {}, private readonly inFile = false) {
    this.input = new Cursor(data);
    const version = this.input.u8();
    if (![VERSION, TRUSTED, CONTINUED].includes(version)) this.refuse("version", "no hold message of version 1", 0);
    this.trusted = version !== VERSION;
    if (this.trusted && !options.trust) this.refuse("trusted", "a trusted message, from a source that is not trusted", 0);
    if (version === CONTINUED) this.goOn();
  }

  refuse(kind: ErrorKind, message: string, offset = this.input.at): never {
    throw new HoldError(kind, message, offset);
  }

  private goOn(): void {
    const [objects, shapes] = [this.input.length(), this.input.length()];
    const before = this.options.before;
    if (!before || before.objects.length !== objects || (shapes !== 0 && shapes !== before.shapes.length)) {
      this.refuse("before", "goes on with messages that are not there", 0);
    }
    this.objects = before.objects.slice();
    this.shapes = before.shapes.slice(0, shapes);
  }

  /** The whole message: one value, and nothing after it. */
  message(): Message {
    const id = this.objects.push(undefined) - 1;
    const first = NAMES[this.input.data[this.input.at]] ?? "";
    // Where a message goes on with others, its first value may be one of theirs.
    const isOld = this.input.data[0] === CONTINUED && first.startsWith("REF_");
    this.owed = 1;
    const value = this.value(isOld ? NONE : id);
    if (isOld) this.objects[id] = value;
    if (this.input.at !== this.input.end) this.refuse("trailing", "bytes are left after the value");
    checkGraph(this.hashed, this.tuples);
    return { value, objects: this.objects, shapes: this.shapes };
  }

  /** One value with all that it holds. */
  value(id: number): Value {
    let found = this.begin(id);
    const bottom = this.frames.length - (found === OPEN ? 1 : 0);
    for (;;) {
      if (found !== OPEN) {
        if (this.frames.length === bottom) return found as Value;
        const frame = this.frames[this.frames.length - 1];
        frame.left--;
        frame.at++;
        frame.put(found as Value);
      }
      // A container is done when its last value is there.
      for (;;) {
        const frame = this.frames[this.frames.length - 1];
        if (frame.left > 0) break;
        frame.last();
        this.frames.pop();
        this.exists(frame.id, frame.value);
        if (this.frames.length === bottom) return frame.value;
        const outer = this.frames[this.frames.length - 1];
        outer.left--;
        outer.at++;
        outer.put(frame.value);
      }
      found = this.begin(NONE);
    }
  }

  /** Gives an object its id: from here on it can be referred to. */
  private exists(id: number, value: Value): void {
    if (id === NONE || this.objects[id] !== undefined) return;
    this.objects[id] = value;
    if (isNode(value)) value.id = id;
  }

  private claim(count: number): void {
    this.owed += count;
    if (this.owed > this.input.end - this.input.at) this.refuse("truncated", "fewer bytes are left than values to come");
  }

  private push(frame: Partial<Frame> & Pick<Frame, "left" | "put" | "value" | "id">): typeof OPEN {
    this.claim(frame.left);
    const bare = this.frames.length > 0 && this.frames[this.frames.length - 1].bare;
    this.frames.push({ last: () => undefined, at: 0, bare, ...frame });
    return OPEN;
  }

  /** Reads a tag and what follows it, up to its values. */
  private begin(id: number): Value | typeof OPEN {
    this.owed--;
    const frame = this.frames[this.frames.length - 1];
    let tag = this.input.u8();
    let name = NAMES[tag];
    const only = frame?.only?.(frame.at);
    if (only && !only.includes(name)) this.refuse("value", `a value that may not stand here (${name})`);
    const isMark = name === "MARK" || name === "NAMED";
    if ((isMark || name.startsWith("REF_")) && frame?.bare && !only) this.refuse("value", "a mark or reference where all is written out");
    if (isMark) {
      if (id !== NONE) this.refuse("mark", "a mark of what has an id");
      const named = name === "NAMED";
      id = this.objects.push(undefined) - 1;
      tag = this.input.u8();
      name = NAMES[tag];
      if (name === "MARK" || name === "NAMED" || name.startsWith("REF_")) this.refuse("mark", "a mark of a mark or a reference");
      if (named && !TEXTS.includes(name)) this.refuse("mark", "a named value that is no text");
      if (named) this.lasting.push(id);
      // A dtype that is a text is written out as well; only a NumpyDtype may be shared.
      if (frame?.bare && name !== "KNOWN_TYPE") this.refuse("value", "a mark where all is written out");
      if (frame && this.contentOf(frame) && !SHARED_CONTENT.includes(name)) this.refuse("value", "a content that is shared");
    } else if (name.startsWith("REF_")) {
      if (id !== NONE) this.refuse("reference", "the first value is a reference");
      const found = this.referred(name);
      if (frame && this.contentOf(frame) && isNode(found) && !["text", "bytes", "float", "complex", "buffer"].includes(found.kind)) {
        this.refuse("value", "a content that is shared");
      }
      if (frame?.bare && !(isNode(found) && found.kind === "known")) this.refuse("value", "a reference where all is written out");
      return found;
    }
    const made = this.plain(name, tag, id);
    if (made !== OPEN) this.exists(id, made);
    return made;
  }

  private contentOf(frame: Frame): boolean {
    return frame.at === 0 && isNode(frame.value) && frame.value.kind === "instance" && frame.value.classKind === "based";
  }

  private referred(name: string): Value {
    const which = name === "REF_8" ? this.input.u8() : name === "REF_16" ? this.input.u16() : this.input.u32();
    if (which >= this.objects.length) this.refuse("reference", `a reference to object ${which}, which comes later or never`);
    const found = this.objects[which];
    if (found === undefined) this.refuse("cycle", "a reference to an object from within what it is built from");
    if (isNode(found) && this.openTuples.has(found)) this.tuples.push([found, this.input.at]);
    return found;
  }

  private plain(name: string, tag: number, id: number): Value | typeof OPEN {
    const input = this.input;
    switch (name) {
      case "INT_FIX": return tag < 48 ? tag : tag - 64;
      case "NONE": return null;
      case "FALSE": return false;
      case "TRUE": return true;
      case "INT_8": return input.view.getInt8(input.skip(1));
      case "INT_16": return input.view.getInt16(input.skip(2), true);
      case "INT_32": return input.view.getInt32(input.skip(4), true);
      case "INT_64": return int(input.view.getBigInt64(input.skip(8), true));
      case "INT_BIG": return this.bigInt();
      case "FLOAT": return this.float();
      case "COMPLEX": return { kind: "complex", real: this.float(), imaginary: this.float() };
      case "ASCII_FIX": return ascii(input, tag - FIRST.ASCII_FIX);
      case "ASCII": case "LATIN_1": case "UCS_2": case "UTF_8": return this.text(name);
      case "BYTES": return { kind: "bytes", value: input.take(input.length()) };
      case "BYTEARRAY": return { kind: "bytearray", value: input.take(input.length()) };
      case "ELLIPSIS": return { kind: "ellipsis" };
      case "NOT_IMPL": return { kind: "notimplemented" };
      case "LIST_FIX": return this.sequence("list", tag - FIRST.LIST_FIX, id);
      case "TUPLE_FIX": return this.sequence("tuple", tag - FIRST.TUPLE_FIX, id);
      case "LIST": case "TUPLE": case "SET": case "FROZENSET":
        return this.sequence(name.toLowerCase() as "list", input.length(), id);
      case "DICT": return this.dict(input.length(), id);
      case "DICT_EMPTY": return { kind: "dict", entries: [] };
      case "SHAPE": case "CLASS": return this.instance(this.shape(name), id);
      case "INSTANCE_FIX": return this.instance(this.shapes[tag - FIRST.INSTANCE_FIX], id);
      case "INSTANCE_8": return this.instance(this.shapes[32 + input.u8()], id);
      case "INSTANCE_32": return this.instance(this.shapes[input.u32()], id);
      case "KNOWN_TYPE": return this.known(id);
      case "DATETIME": return this.moment(null);
      case "DATETIME_ZONED": return this.zoned(id);
      case "BUFFER": return this.buffer();
      case "GLOBAL": case "PERSISTENT": case "REDUCE":
        if (this.trusted) return this.code(name, id);
    }
    const run = /^(LIST|TUPLE)_(I8|I16|I32|I64|F64|BOOL|ASCII)$/.exec(name);
    if (!run) this.refuse("tag", `a tag without a meaning: 0x${tag.toString(16)}`);
    return { kind: run[1] === "LIST" ? "list" : "tuple", items: this.run(run[2]) };
  }

  private text(name: string): Text {
    const length = this.input.length();
    switch (name) {
      case "ASCII": return ascii(this.input, length);
      case "LATIN_1": return latin1(this.input, length);
      case "UCS_2": return ucs2(this.input, length);
      default: return utf8(this.input, length);
    }
  }

  private bigInt(): number | bigint {
    const bytes = this.input.take(this.input.length());
    if (bytes.length === 0) return 0;
    let hex = "";
    for (let at = bytes.length - 1; at >= 0; at--) hex += bytes[at].toString(16).padStart(2, "0");
    const unsigned = BigInt(`0x${hex}`);
    return int(bytes[bytes.length - 1] & 0x80 ? unsigned - (1n << BigInt(8 * bytes.length)) : unsigned);
  }

  private float(): Float {
    const at = this.input.skip(8);
    return { kind: "float", value: this.input.view.getFloat64(at, true), bits: this.input.view.getBigUint64(at, true) };
  }

  private run(kind: string): Value[] {
    const { input } = this;
    const count = input.count(INT_RUNS[kind]);
    const items: Value[] = [];
    if (kind === "ASCII") {
      const lengths = input.take(count);
      for (const length of lengths) items.push(ascii(input, length));
      return items;
    }
    const tag = kind.replace("I", "INT_");
    for (let at = 0; at < count; at++) {
      if (kind === "F64") items.push(this.float());
      else if (kind === "BOOL") {
        const byte = input.u8();
        if (byte > 1) this.refuse("bool", "a byte that is no bool");
        items.push(byte === 1);
      } else items.push(this.plain(tag, 0, NONE) as number);
    }
    return items;
  }

  private sequence(kind: "list" | "tuple" | "set" | "frozenset", count: number, id: number): typeof OPEN | Value {
    const node: Node = { kind, items: [] };
    if (kind !== "frozenset") this.exists(id, node);
    if (count === 0) return node;
    if (kind === "set" || kind === "frozenset") this.hashed.push([node, this.input.at]);
    if (kind === "tuple" && id !== NONE) this.openTuples.add(node);
    return this.push({ left: count, put: (value) => node.items.push(value), last: () => this.openTuples.delete(node), value: node, id });
  }

  private dict(count: number, id: number): typeof OPEN | Value {
    const node: Node = { kind: "dict", entries: [] };
    this.exists(id, node);
    if (count === 0) return node;
    this.hashed.push([node, this.input.at]);
    let key: Value = null;
    let isKey = true;
    const put = (value: Value): void => {
      if (isKey) key = value;
      else node.entries.push([key, value]);
      isKey = !isKey;
    };
    return this.push({ left: 2 * count, put, value: node, id });
  }

  /** Section 5: a new shape, without the values of its first instance. */
  shape(tag: string): Shape {
    const { input } = this;
    let kind: Shape["kind"] = "dict";
    let version = 0;
    if (tag === "CLASS") {
      const code = input.u8();
      if (code >= CLASS_KINDS.length) this.refuse("code", `a class of no kind: ${code}`);
      kind = CLASS_KINDS[code];
      version = input.length();
    }
    const fields = input.length();
    const size = input.length();
    const outer = input.end;
    const end = input.skip(size) + size;
    input.at = end - size;
    const names: Text[] = [];
    input.end = end;
    while (input.at < end) names.push(this.name());
    input.end = outer;
    let name = "";
    if (tag === "CLASS") {
      if (names.length === 0) this.refuse("names", "a class without a name");
      const own = names.shift()!;
      if (hasSurrogate(own)) this.refuse("names", "a class's name with a lone surrogate");
      name = own.value;
    }
    const distinct = new Set(names.map((one) => (one.points ? `\0${one.points.join()}` : one.value)));
    if (names.length !== fields || distinct.size !== fields) this.refuse("names", "other names than the shape says, or one twice");
    if (fields > 0 && (kind === "enum" || kind === "custom")) this.refuse("names", "fields, of a kind that has none");
    const shape = { kind, version, class: name, names };
    this.shapes.push(shape);
    return shape;
  }

  private name(): Text {
    const tag = this.input.u8();
    const name = NAMES[tag];
    if (name.startsWith("REF_")) {
      const which = name === "REF_8" ? this.input.u8() : name === "REF_16" ? this.input.u16() : this.input.u32();
      const found = this.objects[which];
      if (!isText(found)) this.refuse("names", "a name that refers to no text");
      return found;
    }
    if (!TEXTS.includes(name)) this.refuse("names", "a name that is no text");
    const text = this.plain(name, tag, NONE) as Text;
    const id = this.objects.push(undefined) - 1;
    this.exists(id, text);
    this.lasting.push(id);
    return text;
  }

  private instance(shape: Shape | undefined, id: number): typeof OPEN | Value {
    if (!shape) this.refuse("layout", "an instance of a shape that comes later or never");
    const { names } = shape;
    if (shape.kind === "dict") {
      const node: Node = { kind: "dict", entries: [] };
      this.exists(id, node);
      if (names.length === 0) return node;
      return this.push({ left: names.length, put: (value) => node.entries.push([names[node.entries.length], value]), value: node, id });
    }
    const node: Instance = { kind: "instance", class: shape.class, classKind: shape.kind, version: shape.version, fields: [] };
    this.exists(id, node);
    const hasContent = shape.kind !== "object";
    const count = names.length + (hasContent ? 1 : 0);
    if (count === 0) return node;
    let gotContent = !hasContent;
    const put = (value: Value): void => {
      if (gotContent) node.fields.push([names[node.fields.length], value]);
      else node.content = value;
      gotContent = true;
    };
    const last = (): void => {
      const content = node.content;
      const known = isNode(content) && content.kind === "known" && !["Deque", "DefaultDict"].includes(content.name);
      if (shape.kind === "based" && known) this.refuse("value", "a content that no builtin has");
    };
    const only = (at: number): string[] | undefined => (shape.kind === "based" && at === 0 ? CONTENTS : undefined);
    return this.push({ left: count, put, last, value: node, id, only });
  }

  private known(id: number): typeof OPEN | Value {
    const code = this.input.u8();
    const row = KNOWN[code - 1];
    if (!row) this.refuse("code", `no known type has the code ${code}`);
    const [name, arity] = row;
    const node: Known = { kind: "known", name, values: [] };
    // These exist before their contents; an array of objects does before its items.
    if (["Deque", "OrderedDict", "DefaultDict", "Counter"].includes(name)) this.exists(id, node);
    if (arity === 0) return node;
    const strict = STRICT[name];
    const only = strict && ((at: number): string[] | undefined => (strict[at]?.length ? strict[at] : undefined));
    const isNumpy = name === "NdArray" || name === "NumpyScalar" || name === "NumpyDtype";
    const put = (value: Value): void => {
      node.values.push(value);
      if (name !== "NdArray" || node.values.length !== 3) return;
      this.exists(id, node);
      // Only the items of a list are values like any other.
      this.frames[this.frames.length - 1].bare = false;
    };
    const last = (): void => {
      const why = fault(node);
      if (why) this.refuse("value", `a value that ${name} does not take: ${why}`);
    };
    const made: typeof OPEN = this.push({ left: arity, put, last, value: node, id, only });
    if (isNumpy) this.frames[this.frames.length - 1].bare = true;
    return made;
  }

  private moment(zone: Value): Node {
    const bits = this.input.u64();
    const widths = [[47, 14], [43, 4], [38, 5], [33, 5], [27, 6], [21, 6], [1, 20], [0, 1]];
    const fields = widths.map(([low, width]) => Number((bits >> BigInt(low)) & ((1n << BigInt(width)) - 1n)));
    const [year, month, day, hour, minute, second, micro] = fields;
    const days = [31, year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    const isDate = year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
    if (bits >> 61n || !isDate || hour > 23 || minute > 59 || second > 59 || micro > 999_999) this.refuse("value", "a datetime out of range");
    return { kind: "datetime", fields, zone };
  }

  private zoned(id: number): typeof OPEN {
    const node = this.moment(null) as Node & { kind: "datetime" };
    const put = (zone: Value): void => {
      const isZone = isNode(zone) && (zone.kind === "instance" || zone.kind === "reduce" || (zone.kind === "known" && ["Utc", "Timezone", "ZoneInfo"].includes(zone.name)));
      if (!isZone) this.refuse("value", "a datetime whose zone is none");
      node.zone = zone;
    };
    return this.push({ left: 1, put, value: node, id });
  }

  private buffer(): Node {
    const form = this.input.u8();
    if (form >= FORMS.length) this.refuse("code", `a buffer of form ${form}`);
    const number = this.input.length();
    const { buffers } = this.options;
    if (number !== this.buffers++) this.refuse("buffer", "a buffer out of order");
    if (!this.inFile && form > 1) this.refuse("buffer", "a buffer of a file, in a message without one");
    if (buffers && number >= buffers.length) this.refuse("buffer", `buffer ${number} is not there`);
    return { kind: "buffer", form, number, ...(buffers && { data: buffers[number] }) };
  }

  /** Section 9: what is described here, and never called. */
  private code(name: string, id: number): typeof OPEN {
    if (name === "PERSISTENT") {
      const node: Node = { kind: "persistent", of: null };
      return this.push({ left: 1, put: (value) => (node.of = value), value: node, id });
    }
    if (name === "GLOBAL") {
      const parts: Value[] = [];
      const node: Node = { kind: "global", module: null, name: null };
      const last = (): void => {
        if (!parts.every(isText)) this.refuse("value", "a module and a name that are no texts");
        [node.module, node.name] = parts;
      };
      return this.push({ left: 2, put: (value) => parts.push(value), last, value: node, id });
    }
    const flags = this.input.u8();
    if (flags > 127 || (flags & 3) === 3 || (flags & 32 && !(flags & 16))) this.refuse("code", "flags of no meaning");
    const node: Node = { kind: "reduce", flags, values: [] };
    const within = flags & 64 ? 1 : 0;
    const made = within + 2 + (flags & 2 ? 1 : 0);
    let outer = NONE;
    const put = (value: Value): void => {
      node.values.push(value);
      if (within && node.values.length === 1) {
        outer = typeof value === "number" ? value : NONE;
        if (outer < 0 || outer >= this.objects.length) this.refuse("value", "a call that makes no object that is being made");
      }
      if (node.values.length !== made) return;
      this.exists(outer, node);
      this.exists(id, node);
    };
    const more = [4, 8, 16, 32].filter((flag) => flags & flag).length;
    return this.push({ left: made + more, put, value: node, id });
  }
}

/** Reads one message. */
export function readMessage(data: Uint8Array, options: Options = {}): Message {
  return new Reader(data, options).message();
}
