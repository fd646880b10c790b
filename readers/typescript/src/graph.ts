import { HoldError } from "./errors.js";
import type { Node, Value } from "./nodes.js";
import { isNode } from "./nodes.js";
import { codePoints } from "./text.js";

/** Numbers values by what they equal (section 3), so that each is looked at once, however often it is shared. */
class Keys {
  private readonly ids = new Map<string, number>();
  private readonly known = new Map<Node, number>();
  private readonly exact = new DataView(new ArrayBuffer(8));

  private id(text: string): number {
    const found = this.ids.get(text);
    if (found !== undefined) return found;
    this.ids.set(text, this.ids.size);
    return this.ids.size - 1;
  }

  /** The number of a value without parts that are compared; undefined for others. */
  private leafId(value: Value): number | undefined {
    const known = isNode(value) ? this.known.get(value) : undefined;
    if (known !== undefined) return known;
    const leaf = this.leaf(value);
    if (leaf === undefined) return undefined;
    const id = this.id(leaf);
    if (isNode(value)) this.known.set(value, id);
    return id;
  }

  /** A number by its exact value: an int, or a dyadic fraction of a float. */
  private number(value: number): string {
    if (Number.isInteger(value)) return `n${BigInt(value)}`;
    this.exact.setFloat64(0, value);
    return `f${this.exact.getBigUint64(0)}`;
  }

  private leaf(value: Value): string | undefined {
    if (value === null) return "null";
    if (typeof value === "boolean") return value ? "n1" : "n0";
    if (!isNode(value)) return `n${value}`;
    switch (value.kind) {
      case "text": return `t${codePoints(value).join()}`;
      case "bytes": return `b${value.value.join()}`;
      case "float": return Number.isNaN(value.value) ? undefined : this.number(value.value);
      case "complex": {
        const [real, imaginary] = [value.real.value, value.imaginary.value];
        if (Number.isNaN(real) || Number.isNaN(imaginary)) return undefined;
        return imaginary === 0 ? this.number(real) : `c${this.number(real)},${this.number(imaginary)}`;
      }
      case "datetime": return value.zone === null ? `d${value.fields.slice(0, 7).join()}` : undefined;
      default: return undefined;
    }
  }

  /** The number of what `root` equals. Values of which this reader can't tell equal only themselves. */
  of(root: Value, offset: number): number {
    const whole = this.leafId(root);
    if (whole !== undefined) return whole;
    const stack = [root as Node];
    const open = new Set<Node>();
    while (stack.length) {
      const node = stack[stack.length - 1];
      if (this.leafId(node) !== undefined) {
        stack.pop();
        continue;
      }
      const changes = node.kind === "known" && ["Deque", "OrderedDict", "DefaultDict", "Counter", "Array", "NdArray"].includes(node.name);
      if (changes || ["list", "dict", "set", "bytearray"].includes(node.kind)) {
        throw new HoldError("key", "a key that can't be hashed", offset);
      }
      const parts = node.kind === "tuple" || node.kind === "frozenset" ? node.items : [];
      const waits = open.has(node) ? [] : parts.filter((part): part is Node => isNode(part) && this.leafId(part) === undefined);
      if (waits.length) {
        if (waits.some((part) => open.has(part))) throw new HoldError("cycle", "a key that is part of its own hash", offset);
        open.add(node);
        stack.push(...waits);
        continue;
      }
      stack.pop();
      this.known.set(node, this.id(this.joined(node, parts)));
    }
    return this.known.get(root as Node)!;
  }

  private joined(node: Node, parts: Value[]): string {
    if (node.kind !== "tuple" && node.kind !== "frozenset") return `o${this.known.size}`;
    const ids = parts.map((part) => this.leafId(part)!);
    return node.kind === "tuple" ? `(${ids.join()}` : `{${ids.sort((one, other) => one - other).join()}`;
  }
}

const partsOf = (node: Node): Value[] => {
  switch (node.kind) {
    case "tuple": case "frozenset": return node.items;
    case "known": return node.name === "Slice" ? node.values : [];
    case "datetime": return [node.zone];
    default: return [];
  }
};

/** Refuses tuples that contain themselves through nothing but tuples and what is built from its parts (section 4). */
function checkTuples(roots: [Node, number][]): void {
  const [open, done] = [new Set<Node>(), new Set<Node>()];
  for (const [root, offset] of roots) {
    const stack = [root];
    while (stack.length) {
      const node = stack[stack.length - 1];
      if (open.has(node) || done.has(node)) {
        stack.pop();
        open.delete(node);
        done.add(node);
        continue;
      }
      open.add(node);
      for (const part of partsOf(node)) {
        if (!isNode(part) || done.has(part)) continue;
        if (open.has(part)) throw new HoldError("cycle", "a tuple directly inside itself", offset);
        stack.push(part);
      }
    }
  }
}

/** What can be seen only when all is there: keys that are equal or can't be hashed, tuples within themselves. */
export function checkGraph(hashed: [Node, number][], tuples: [Node, number][]): void {
  checkTuples(tuples);
  const keys = new Keys();
  for (const [node, offset] of hashed) {
    const members = node.kind === "dict" ? node.entries.map(([key]) => key) : node.kind === "set" || node.kind === "frozenset" ? node.items : [];
    const seen = new Set<number>();
    for (const member of members) {
      const id = keys.of(member, offset);
      if (seen.has(id)) throw new HoldError("key", "the same key or member twice", offset);
      seen.add(id);
    }
  }
}
