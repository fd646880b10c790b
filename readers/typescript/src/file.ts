import { HoldError } from "./errors.js";
import { unlz4 } from "./lz4.js";
import { Reader, readMessage, type Message, type Options } from "./message.js";
import { xxh3 } from "./xxh3.js";

export const FILES = ["FILE_MESSAGE", "FILE_GRAPH", "FILE_LOG"];
export const FRAMES = ["MESSAGE", "BUFFER_FRAME", "REST", "INDEX", "END", "RECORD", "NAMES", "RESTART", "KEYS", "PLACES"];
export const CODECS = ["stored", "zstd", "lz4"];
const START = 8;
const HEAD = 8;
const TAIL = 8;
const BLOCK = 1 << 20;

export interface FileOptions extends Options {
  /** Unpacks a frame of Zstandard to `size` bytes. Without it, what zstd has packed is refused. */
  unzstd?: (packed: Uint8Array, size: number) => Uint8Array;
}

export interface Frame { kind: string; codec: string; more: boolean; at: number; body: Uint8Array; end: number }

const check = (data: Uint8Array, seed: number): number => Number(xxh3(data, BigInt(seed)) & 0xffffn);
const u40 = (data: Uint8Array, at: number): number => data[at] + (data[at + 1] << 8) + (data[at + 2] << 16) + data[at + 3] * 2 ** 24 + data[at + 4] * 2 ** 32;
const u64 = (data: Uint8Array, at: number): bigint => new DataView(data.buffer, data.byteOffset + at, 8).getBigUint64(0, true);

/** The kind of the file that begins here. */
export function kindOf(file: Uint8Array): string {
  if (!isFile(file)) throw new HoldError(file.length < 4 ? "truncated" : "not a file", "no file of hold", 0);
  if (file.length < START) throw new HoldError("truncated", "the file ends within its start", file.length);
  if (check(file.subarray(0, 6), 0) !== (file[6] | (file[7] << 8))) throw new HoldError("checksum", "the start is damaged", START);
  const kind = FILES[file[5] - 1];
  if (file[4] !== 1 || !kind) throw new HoldError("file", "a file of another version or kind", START);
  return kind;
}

export const isFile = (data: Uint8Array): boolean => String.fromCharCode(...data.subarray(0, 4)) === "HOLD";

/** The frame at a place, whole; up to 63 zeros may precede it where `padded`. */
export const frameAt = (file: Uint8Array, start: number, padded: boolean): Frame => verified(file, headAt(file, start, padded));

/** The frame, once its checksum was compared. */
export function verified(file: Uint8Array, frame: Frame): Frame {
  const head = file.subarray(frame.at, frame.at + HEAD);
  if (xxh3(frame.body, xxh3(head, BigInt(frame.at))) !== u64(file, frame.end - TAIL)) {
    throw new HoldError("checksum", "a frame is damaged", frame.end);
  }
  return frame;
}

/** The frame at a place by its head, whose check was compared. */
export function headAt(file: Uint8Array, start: number, padded: boolean): Frame {
  let at = start;
  while (padded && at < file.length && file[at] === 0 && at - start < 64) at++;
  if (file.length - at < HEAD) throw new HoldError("truncated", "the file ends where a frame is due", file.length);
  const head = file.subarray(at, at + HEAD);
  if (at - start > 63 || check(head.subarray(0, 6), at) !== (head[6] | (head[7] << 8))) {
    throw new HoldError("checksum", "the head of a frame is damaged", at + HEAD);
  }
  const [kind, codec] = [FRAMES[(head[0] & 15) - 1], CODECS[(head[0] >> 4) & 3]];
  if (!kind || !codec || head[0] & 128) throw new HoldError("file", "a frame of no kind", at + HEAD);
  const end = at + HEAD + u40(head, 1) + TAIL;
  if (end > file.length) throw new HoldError("truncated", "the file ends within a frame", file.length);
  return { kind, codec, more: (head[0] & 64) !== 0, at, body: file.subarray(at + HEAD, end - TAIL), end };
}

/** Unpacks bodies, and bounds what all of a file become (section 1). */
export class Unpacker {
  private left: number;
  constructor(private readonly size: number, private readonly unzstd: FileOptions["unzstd"]) {
    this.left = 64 * BLOCK + 128 * size;
  }

  private spend(count: number, offset: number): void {
    this.left -= count;
    if (this.left < 0) throw new HoldError("bomb", `more than 64 MiB and 128 times the file of ${this.size} bytes`, offset);
  }

  /** A body in one frame, whose bytes begin at `from`. */
  one(frame: Frame, from = 0): Uint8Array {
    const body = frame.body.subarray(from);
    if (frame.codec === "stored") return body;
    if (body.length < 4) throw new HoldError("file", "a compressed body without its size", frame.end);
    const size = new DataView(body.buffer, body.byteOffset, 4).getUint32(0, true);
    if (size > BLOCK) throw new HoldError("file", "a block larger than a MiB", frame.end);
    this.spend(size, frame.end);
    if (frame.codec === "lz4") return unlz4(body.subarray(4), size, frame.end);
    if (!this.unzstd) throw new HoldError("zstd", "compressed by zstd, which this reader was not given", frame.at);
    const made = this.unzstd(body.subarray(4), size);
    if (made.length !== size) throw new HoldError("file", "a block that does not become what it says", frame.end);
    return made;
  }

  /** The body that begins with `frame`, and where the frame after it begins. */
  whole(file: Uint8Array, frame: Frame): [Uint8Array, number] {
    if (!frame.more) return [this.one(frame), frame.end];
    if (frame.body.length < 8) throw new HoldError("file", "a body in several frames without its size", frame.end);
    const size = Number(u64(frame.body, 0));
    this.spend(0, frame.end);
    if (size > this.left) this.spend(size, frame.end);
    const parts = [this.one(frame, 8)];
    let [total, at, last] = [parts[0].length, frame.end, frame];
    while (last.more) {
      last = frameAt(file, at, true);
      if (last.kind !== "REST") throw new HoldError("file", "another frame within a body", last.end);
      const part = this.one(last);
      parts.push(part);
      [total, at] = [total + part.length, last.end];
      if (total > size) throw new HoldError("file", "a body longer than it says", at);
    }
    if (total !== size) throw new HoldError("file", "a body shorter than it says", at);
    const made = new Uint8Array(size);
    let to = 0;
    for (const part of parts) {
      made.set(part, to);
      to += part.length;
    }
    return [made, at];
  }
}

export interface File { kind: string; message: Uint8Array; buffers: Uint8Array[]; frames: Frame[]; end: number }

/** A file of kind FILE_MESSAGE or FILE_GRAPH, read front to back. */
export function readFrames(file: Uint8Array, options: FileOptions = {}): File {
  const kind = kindOf(file);
  if (kind === "FILE_LOG") throw new HoldError("file", "a log, which has records", START);
  const unpacker = new Unpacker(file.length, options.unzstd);
  const first = frameAt(file, START, kind === "FILE_GRAPH");
  if (first.kind !== "MESSAGE") throw new HoldError("file", `expected a message, found ${first.kind}`, first.end);
  const found: File = { kind, message: new Uint8Array(), buffers: [], frames: [first], end: 0 };
  [found.message, found.end] = unpacker.whole(file, first);
  let due = ["BUFFER_FRAME", "KEYS", "PLACES", "INDEX"];
  let index = -1;
  while (kind === "FILE_GRAPH") {
    const frame = frameAt(file, found.end, true);
    if (!due.includes(frame.kind)) throw new HoldError("file", `a frame out of place: ${frame.kind}`, frame.end);
    found.frames.push(frame);
    found.end = frame.end;
    if (frame.kind === "BUFFER_FRAME") {
      const [body, end] = unpacker.whole(file, frame);
      found.buffers.push(body);
      found.end = end;
    } else if (frame.more || frame.codec !== "stored") throw new HoldError("file", "a frame that is not compressed", frame.end);
    else if (frame.kind === "KEYS") due = ["KEYS", "PLACES", "INDEX"];
    else if (frame.kind === "PLACES") due = ["PLACES", "INDEX"];
    else if (frame.kind === "INDEX") [due, index] = [["END"], frame.at];
    else {
      if (frame.body.length !== 16 || u64(frame.body, 0) !== BigInt(index) || u64(frame.body, 8) !== BigInt(frame.end)) {
        throw new HoldError("file", "an end that is not this file's", frame.end);
      }
      break;
    }
  }
  return found;
}

/** Reads a message or a file with one, to its end. */
export function read(data: Uint8Array, options: FileOptions = {}): Message {
  if (!isFile(data)) return readMessage(data, options);
  const file = readFrames(data, options);
  if (file.end !== data.length) throw new HoldError("trailing", "bytes are left after the file", file.end);
  try {
    return new Reader(file.message, { ...options, buffers: file.buffers }, true).message();
  } catch (error) {
    if (error instanceof HoldError && error.kind === "buffer") throw new HoldError("file", "a buffer that the file lacks", error.offset);
    throw error;
  }
}
