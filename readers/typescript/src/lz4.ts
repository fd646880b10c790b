import { HoldError } from "./errors.js";

/** A block of LZ4, which must become exactly `size` bytes. */
export function unlz4(packed: Uint8Array, size: number, offset: number): Uint8Array {
  const bad = (): HoldError => new HoldError("file", "a block of LZ4 that does not become what it says", offset);
  const made = new Uint8Array(size);
  let from = 0;
  let to = 0;
  const more = (count: number): number => {
    if (count < 15) return count;
    for (;;) {
      if (from >= packed.length || count > size) throw bad();
      const byte = packed[from++];
      count += byte;
      if (byte < 255) return count;
    }
  };
  while (from < packed.length) {
    const token = packed[from++];
    const literals = more(token >> 4);
    if (from + literals > packed.length || to + literals > size) throw bad();
    made.set(packed.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from === packed.length) break;
    if (from + 2 > packed.length) throw bad();
    const back = packed[from] | (packed[from + 1] << 8);
    from += 2;
    const count = more(token & 15) + 4;
    if (back === 0 || back > to || to + count > size) throw bad();
    for (let left = count; left > 0; left--, to++) made[to] = made[to - back];
  }
  if (to !== size) throw bad();
  return made;
}
