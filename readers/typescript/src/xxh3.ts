/** XXH3 of 64 bits with its default secret (xxHash 0.8, doc/xxhash_spec.md). */
const MASK = (1n << 64n) - 1n;
const P32 = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn];
const P64 = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n, 0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];
const HEX =
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
  "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
  "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
  "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e";
const SECRET = Uint8Array.from(HEX.match(/../g)!, (pair) => parseInt(pair, 16));
const [STRIPE, BLOCK] = [64, 1024];

const viewOf = (data: Uint8Array): DataView => new DataView(data.buffer, data.byteOffset, data.byteLength);
const secretView = viewOf(SECRET);
const s64 = (at: number): bigint => secretView.getBigUint64(at, true);
const s32 = (at: number): bigint => BigInt(secretView.getUint32(at, true));

function fold(left: bigint, right: bigint): bigint {
  const product = left * right;
  return (product & MASK) ^ (product >> 64n);
}
function avalanche(value: bigint): bigint {
  value = ((value ^ (value >> 37n)) * 0x165667919e3779f9n) & MASK;
  return value ^ (value >> 32n);
}
function avalanche64(value: bigint): bigint {
  value = ((value ^ (value >> 33n)) * P64[1]) & MASK;
  value = ((value ^ (value >> 29n)) * P64[2]) & MASK;
  return value ^ (value >> 32n);
}
const rotated = (value: bigint, by: bigint): bigint => ((value << by) & MASK) | (value >> (64n - by));
function swapped(value: bigint, bytes: number): bigint {
  let made = 0n;
  for (let at = 0; at < bytes; at++, value >>= 8n) made = (made << 8n) | (value & 0xffn);
  return made;
}

export function xxh3(data: Uint8Array, seed = 0n): bigint {
  const size = data.length;
  const view = viewOf(data);
  const u32 = (at: number): bigint => BigInt(view.getUint32(at, true));
  const u64 = (at: number): bigint => view.getBigUint64(at, true);
  const mixed = (at: number, secret: number): bigint =>
    fold(u64(at) ^ ((s64(secret) + seed) & MASK), u64(at + 8) ^ ((s64(secret + 8) - seed) & MASK));
  if (size === 0) return avalanche64(seed ^ s64(56) ^ s64(64));
  if (size <= 3) {
    const both = (data[0] << 16) | (data[size >> 1] << 24) | data[size - 1] | (size << 8);
    return avalanche64(BigInt(both >>> 0) ^ (((s32(0) ^ s32(4)) + seed) & MASK));
  }
  if (size <= 8) {
    const flip = ((s64(8) ^ s64(16)) - (seed ^ (swapped(seed & 0xffffffffn, 4) << 32n))) & MASK;
    let value = (u32(size - 4) + (u32(0) << 32n)) ^ flip;
    value ^= rotated(value, 49n) ^ rotated(value, 24n);
    value = (value * 0x9fb21c651e98df25n) & MASK;
    value ^= (value >> 35n) + BigInt(size);
    value = (value * 0x9fb21c651e98df25n) & MASK;
    return value ^ (value >> 28n);
  }
  if (size <= 16) {
    const low = u64(0) ^ (((s64(24) ^ s64(32)) + seed) & MASK);
    const high = u64(size - 8) ^ (((s64(40) ^ s64(48)) - seed) & MASK);
    return avalanche((BigInt(size) + swapped(low, 8) + high + fold(low, high)) & MASK);
  }
  let found = BigInt(size) * P64[0];
  if (size <= 128) {
    for (let step = (size - 1) >> 5; step >= 0; step--) {
      found += mixed(16 * step, 32 * step) + mixed(size - 16 * (step + 1), 32 * step + 16);
    }
    return avalanche(found & MASK);
  }
  if (size <= 240) {
    for (let step = 0; step < 8; step++) found += mixed(16 * step, 16 * step);
    found = avalanche(found & MASK);
    for (let step = 8; step < size >> 4; step++) found += mixed(16 * step, 16 * (step - 8) + 3);
    return avalanche((found + mixed(size - 16, 136 - 17)) & MASK);
  }
  return long(view, size, seed);
}

/** Lanes of 64 bits as pairs of 32, low first: numbers are many times as fast as bigints. */
function long(view: DataView, size: number, seed: bigint): bigint {
  const secret = new DataView(new ArrayBuffer(192));
  for (let at = 0; at < 192; at += 16) {
    secret.setBigUint64(at, (s64(at) + seed) & MASK, true);
    secret.setBigUint64(at + 8, (s64(at + 8) - seed) & MASK, true);
  }
  const lanes = new DataView(new ArrayBuffer(64));
  [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]].forEach((one, at) => lanes.setBigUint64(8 * at, one, true));
  const low = new Uint32Array(8);
  const high = new Uint32Array(8);
  for (let lane = 0; lane < 8; lane++) {
    low[lane] = lanes.getUint32(8 * lane, true);
    high[lane] = lanes.getUint32(8 * lane + 4, true);
  }
  const plus = (lane: number, addLow: number, addHigh: number): void => {
    const sum = low[lane] + addLow;
    low[lane] = sum;
    high[lane] = high[lane] + addHigh + (sum > 0xffffffff ? 1 : 0);
  };
  const add = (at: number, key: number): void => {
    for (let lane = 0; lane < 8; lane++) {
      const first = view.getUint32(at + 8 * lane, true);
      const second = view.getUint32(at + 8 * lane + 4, true);
      plus(lane ^ 1, first, second);
      const left = (first ^ secret.getUint32(key + 8 * lane, true)) >>> 0;
      const right = (second ^ secret.getUint32(key + 8 * lane + 4, true)) >>> 0;
      plus(lane, Math.imul(left, right) >>> 0, highProduct(left, right));
    }
  };
  const blocks = Math.floor((size - 1) / BLOCK);
  for (let block = 0; block < blocks; block++) {
    for (let stripe = 0; stripe < 16; stripe++) add(BLOCK * block + STRIPE * stripe, 8 * stripe);
    for (let lane = 0; lane < 8; lane++) {
      // (value ^ value >> 47 ^ secret) * P32[0], in halves.
      const one = (low[lane] ^ (high[lane] >>> 15) ^ secret.getUint32(128 + 8 * lane, true)) >>> 0;
      const two = (high[lane] ^ secret.getUint32(128 + 8 * lane + 4, true)) >>> 0;
      low[lane] = Math.imul(one, 0x9e3779b1);
      high[lane] = highProduct(one, 0x9e3779b1) + Math.imul(two, 0x9e3779b1);
    }
  }
  const last = (size - 1) % BLOCK;
  for (let stripe = 0; stripe < Math.floor(last / STRIPE); stripe++) add(BLOCK * blocks + STRIPE * stripe, 8 * stripe);
  add(size - STRIPE, 192 - STRIPE - 7);
  const lane = (at: number): bigint => (BigInt(high[at]) << 32n) | BigInt(low[at]);
  let found = BigInt(size) * P64[0];
  for (let pair = 0; pair < 4; pair++) {
    const key = 11 + 16 * pair;
    found += fold(lane(2 * pair) ^ secret.getBigUint64(key, true), lane(2 * pair + 1) ^ secret.getBigUint64(key + 8, true));
  }
  return avalanche(found & MASK);
}

/** The upper half of a product of two numbers of 32 bits. */
function highProduct(left: number, right: number): number {
  const [a, b, c, d] = [left >>> 16, left & 0xffff, right >>> 16, right & 0xffff];
  const middle = a * d + ((b * d) >>> 16);
  const other = b * c + (middle % 0x10000);
  return a * c + Math.floor(middle / 0x10000) + Math.floor(other / 0x10000);
}
