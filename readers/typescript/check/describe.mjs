// Values in the JSON of tests/vectors/README.md.
import { codePoints, FORMS, isNode, isText } from "../dist/index.js";

const bits = (float) => float.bits.toString(16).padStart(16, "0");
const hex = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");

function text(node) {
  const points = codePoints(node);
  return points.some((point) => point >= 0xd800 && point < 0xe000) ? { text: points } : node.value;
}

/** What has no identity worth comparing. */
function isSingle(node) {
  if (isText(node)) return node.value.length === 0 || (node.value.length === 1 && node.value < "\u0100");
  if (node.kind === "bytes") return node.value.length < 2;
  if (node.kind === "tuple" || node.kind === "frozenset") return node.items.length === 0;
  return ["float", "complex"].includes(node.kind) || (node.kind === "known" && ["Utc", "BuiltinType"].includes(node.name));
}

function children(node) {
  switch (node.kind) {
    case "dict": return node.entries.flatMap(([key, value]) => (isText(key) ? [value] : [key, value]));
    case "instance": return [...(node.content === undefined ? [] : [node.content]), ...node.fields.map(([, value]) => value)];
    case "datetime": return [node.zone];
    case "known": return node.values;
    case "reduce": return node.values.slice(node.flags & 64 ? 1 : 0);
    case "global": return [node.module, node.name];
    case "persistent": return [node.of];
    default: return node.items ?? [];
  }
}

/** `numbers`: objects that occur again are shown with their ids, else counted from 1. */
export function describe(root, numbers = true) {
  const met = new Map();
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    if (!isNode(node)) continue;
    met.set(node, (met.get(node) ?? 0) + 1);
    if (met.get(node) === 1) stack.push(...children(node));
  }
  const labels = new Map();
  const show = (value) => {
    if (typeof value === "bigint") return { int: String(value) };
    if (!isNode(value)) return value;
    if (labels.has(value)) return { again: labels.get(value) };
    if (met.get(value) < 2 || isSingle(value)) return plain(value);
    const label = numbers ? value.id : labels.size + 1;
    labels.set(value, label);
    return { object: label, is: plain(value) };
  };
  const key = (value) => (isText(value) ? text(value) : show(value));
  const plain = (node) => {
    switch (node.kind) {
      case "text": return text(node);
      case "bytes": case "bytearray": return { [node.kind]: hex(node.value) };
      case "float": return { float: bits(node) };
      case "complex": return { complex: [bits(node.real), bits(node.imaginary)] };
      case "ellipsis": case "notimplemented": return { [node.kind]: null };
      case "dict": return { dict: node.entries.map(([name, value]) => [key(name), show(value)]) };
      case "datetime": return { datetime: node.fields, zone: show(node.zone) };
      case "known": return { known: node.name, values: node.values.map(show) };
      // Without the id that comes first with flag 64: an id is no value.
      case "reduce": return { reduce: node.flags, values: node.values.slice(node.flags & 64 ? 1 : 0).map(show) };
      case "global": return { global: [node.module, node.name].map(show) };
      case "persistent": return { persistent: [show(node.of)] };
      case "buffer":
        if (node.form < 2) return { buffer: node.number, form: FORMS[node.form] };
        return { [FORMS[node.form]]: hex(node.data) };
      case "instance": {
        const shown = { class: node.class, kind: node.classKind, version: node.version };
        if (node.content !== undefined) shown.content = show(node.content);
        return { ...shown, fields: node.fields.map(([name, value]) => [text(name), show(value)]) };
      }
      default: return { [node.kind]: node.items.map(show) };
    }
  };
  return show(root);
}

/** Compared by this, the order of a set's members does not count. */
export function canonical(value) {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== "object") return value;
  const made = {};
  for (const name of Object.keys(value).sort()) {
    made[name] = canonical(value[name]);
    if (name === "set" || name === "frozenset") made[name].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  return made;
}
