import { HoldError } from "./errors.js";
import { headAt, kindOf, Unpacker, verified, type FileOptions, type Frame } from "./file.js";
import { Reader, type Shape } from "./message.js";
import { Cursor } from "./cursor.js";
import type { Text, Value } from "./nodes.js";
import { isText } from "./nodes.js";
import { NAMES } from "./tags.js";

export interface Log {
  records: { at: number; value: Value }[];
  /** What could not be read: where, and why. */
  damage: HoldError[];
}

/** The names of a shared window (section 13). */
class Window {
  number = 0;
  texts: Text[] = [];
  shapes: Shape[] = [];

  begin(number: number): void {
    [this.number, this.texts, this.shapes] = [number, [], []];
  }

  /** Whether it has as many names as something needs; one whose restart is lost begins without. */
  has(number: number, named: number): boolean {
    if (number !== this.number && named === 0) this.begin(number);
    return number === this.number && named === this.texts.length + this.shapes.length;
  }

  /** Takes over what a reader has learnt. */
  learn(reader: Reader): void {
    for (const id of reader.lasting) {
      const text = reader.objects[id];
      if (isText(text)) this.texts.push(text);
    }
    this.shapes = reader.shapes;
  }
}

/** A body after its two lengths, as a message: its first byte is put there for `NAMES`, which have none. */
function opened(body: Uint8Array, hasVersion: boolean): { window: number; named: number; message: Uint8Array; skipped: number } {
  const input = new Cursor(body);
  const [window, named] = [input.length(), input.length()];
  const rest = body.subarray(input.at);
  if (hasVersion) return { window, named, message: rest, skipped: input.at };
  const message = new Uint8Array(rest.length + 1);
  message[0] = 0xc1;
  message.set(rest, 1);
  return { window, named, message, skipped: input.at - 1 };
}

function reader(window: Window, message: Uint8Array, options: FileOptions): Reader {
  const made = new Reader(message, { trust: options.trust, buffers: [] });
  made.objects = window.texts.slice();
  made.shapes = window.shapes.slice();
  return made;
}

function learnNames(window: Window, message: Uint8Array, options: FileOptions): void {
  const found: Reader = reader(window, message, options);
  const texts: Text[] = [];
  for (let left = found.input.count(1); left > 0; left--) {
    const text = found.value(-1);
    if (!isText(text)) found.refuse("names", "a name that is no text");
    texts.push(text);
  }
  found.objects.push(...texts);
  for (let left = found.input.count(1); left > 0; left--) {
    const tag = NAMES[found.input.u8()];
    if (tag !== "SHAPE" && tag !== "CLASS") found.refuse("names", "a shape that is none");
    found.shape(tag);
  }
  if (found.input.at !== found.input.end) found.refuse("trailing", "bytes are left after the names");
  window.texts = window.texts.concat(texts);
  window.shapes = found.shapes;
}

/** A log, front to back; damage is passed over, and what is needed from it as well. */
export function readLog(file: Uint8Array, options: FileOptions = {}): Log {
  const kind = kindOf(file);
  if (kind !== "FILE_LOG") throw new HoldError("file", "no log", 8);
  const unpacker = new Unpacker(file.length, options.unzstd);
  const window = new Window();
  const log: Log = { records: [], damage: [] };
  let at = 8;
  let inDamage = false;
  while (at < file.length) {
    let frame: Frame;
    try {
      frame = headAt(file, at, false);
    } catch (error) {
      if (!(error instanceof HoldError)) throw error;
      if (!inDamage) log.damage.push(error);
      inDamage = true;
      at++;
      continue;
    }
    inDamage = false;
    // Where the head is right, the next frame is where it says, whatever is wrong with the body.
    at = frame.end;
    try {
      verified(file, frame);
      takeFrame(frame, window, unpacker, log, options);
    } catch (error) {
      if (!(error instanceof HoldError)) throw error;
      log.damage.push(error);
    }
  }
  return log;
}

function takeFrame(frame: Frame, window: Window, unpacker: Unpacker, log: Log, options: FileOptions): void {
  if (frame.kind === "RESTART") {
    const body = new DataView(frame.body.buffer, frame.body.byteOffset, frame.body.length);
    if (frame.body.length < 16) throw new HoldError("file", "a restart without its numbers", frame.end);
    window.begin(Number(body.getBigUint64(8, true)));
    return;
  }
  if (frame.more || (frame.kind !== "RECORD" && frame.kind !== "NAMES")) throw new HoldError("file", "no frame of a log", frame.end);
  const body = unpacker.one(frame);
  const { window: number, named, message, skipped } = opened(body, frame.kind === "RECORD");
  // Names that the record has told already, or that are those of a window to which nothing leads.
  if (!window.has(number, named)) {
    if (frame.kind === "NAMES") return;
    throw new HoldError("before", "a record that needs names which are lost", frame.at);
  }
  try {
    if (frame.kind === "NAMES") learnNames(window, message, options);
    else {
      const record = reader(window, message, options);
      const { value } = record.message();
      log.records.push({ at: frame.at, value });
      window.learn(record);
    }
  } catch (error) {
    if (!(error instanceof HoldError)) throw error;
    throw new HoldError(error.kind, error.message.replace(/ - at byte \d+$/, ""), frame.at + 8 + skipped + error.offset);
  }
}
