import { HoldError } from "./errors.js";

/** A place in bytes from outside: every length is compared with what is left before it is used. */
export class Cursor {
  readonly view: DataView;
  constructor(readonly data: Uint8Array, public at = 0, public end = data.length) {
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  /** The place of the next `count` bytes, which are passed. */
  skip(count: number): number {
    if (count > this.end - this.at) {
      throw new HoldError("truncated", `the input ends where ${count} bytes are needed`, this.at);
    }
    this.at += count;
    return this.at - count;
  }

  take(count: number): Uint8Array {
    const at = this.skip(count);
    return this.data.subarray(at, at + count);
  }

  u8(): number { return this.data[this.skip(1)]; }
  u16(): number { return this.view.getUint16(this.skip(2), true); }
  u32(): number { return this.view.getUint32(this.skip(4), true); }
  u64(): bigint { return this.view.getBigUint64(this.skip(8), true); }

  /** Section 2. */
  length(): number {
    const first = this.u8();
    if (first < 0xfc) return first;
    if (first === 0xfc) return this.u16();
    if (first === 0xfd) return this.u32();
    if (first === 0xff) throw new HoldError("length", "a length of no form", this.at);
    const found = this.u64();
    if (found >> 63n) throw new HoldError("length", "a length above 2^63 - 1", this.at);
    // More than 2^53 bytes or values never fit, so that a length may be rounded up there.
    return Number(found);
  }

  /** How many items of `size` bytes each follow. */
  count(size: number): number {
    const count = this.length();
    if (count * size > Number.MAX_SAFE_INTEGER && size > 1) throw new HoldError("length", "a length that can't be counted", this.at);
    if (count * size > this.end - this.at) throw new HoldError("truncated", "the input ends within its values", this.at);
    return count;
  }
}
