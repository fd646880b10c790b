import type { Cursor } from "./cursor.js";
import { HoldError } from "./errors.js";
import type { Text } from "./nodes.js";

const CHUNK = 4096;

function joined(units: ArrayLike<number>, from: number, to: number): string {
  let made = "";
  for (let at = from; at < to; at += CHUNK) {
    made += String.fromCharCode.apply(null, Array.prototype.slice.call(units, at, Math.min(to, at + CHUNK)));
  }
  return made;
}

export function ascii(input: Cursor, length: number): Text {
  const at = input.skip(length);
  for (let place = at; place < at + length; place++) {
    if (input.data[place] > 0x7f) throw new HoldError("ascii", "a byte above 0x7F in ASCII", input.at);
  }
  return { kind: "text", value: joined(input.data, at, at + length) };
}

export function latin1(input: Cursor, length: number): Text {
  const at = input.skip(length);
  return { kind: "text", value: joined(input.data, at, at + length) };
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

export function ucs2(input: Cursor, length: number): Text {
  if (2 * length > input.end - input.at) throw new HoldError("truncated", "the input ends within a text", input.at);
  const at = input.skip(2 * length);
  const units = new Uint16Array(length);
  let looksPaired = false;
  for (let place = 0; place < length; place++) {
    units[place] = input.view.getUint16(at + 2 * place, true);
    looksPaired ||= place > 0 && isLow(units[place]) && isHigh(units[place - 1]);
  }
  const text: Text = { kind: "text", value: joined(units, 0, length) };
  if (looksPaired) text.points = Array.from(units);
  return text;
}

/** UTF-8 in which a lone surrogate may stand as three bytes. */
export function utf8(input: Cursor, length: number): Text {
  const end = input.skip(length) + length;
  const bad = (): HoldError => new HoldError("utf8", "expected UTF-8, found another sequence", input.at);
  const units: number[] = [];
  const points: number[] = [];
  let value = "";
  let looksPaired = false;
  for (let at = end - length; at < end; ) {
    const first = input.data[at++];
    const more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
    if (more < 0 || at + more > end) throw bad();
    let point = more === 0 ? first : first & (0x3f >> more);
    for (let left = more; left > 0; left--, at++) {
      if ((input.data[at] & 0xc0) !== 0x80) throw bad();
      point = (point << 6) | (input.data[at] & 0x3f);
    }
    if (point < [0, 0x80, 0x800, 0x10000][more] || point > 0x10ffff) throw bad();
    looksPaired ||= isLow(point) && points.length > 0 && isHigh(points[points.length - 1]);
    points.push(point);
    if (point < 0x10000) units.push(point);
    else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
    if (units.length >= CHUNK) {
      value += joined(units, 0, units.length);
      units.length = 0;
    }
  }
  value += joined(units, 0, units.length);
  return looksPaired ? { kind: "text", value, points } : { kind: "text", value };
}

/** The code points of a text, a lone surrogate being one. */
export function codePoints(text: Text): number[] {
  return text.points ?? Array.from(text.value, (char) => char.codePointAt(0)!);
}

export function hasSurrogate(text: Text): boolean {
  return text.points !== undefined || codePoints(text).some((point) => point >= 0xd800 && point < 0xe000);
}
