/** Reads the hold format (docs/format.md): messages, files and logs, to plain objects. Nothing that data names is imported or called. */
export { HoldError, type ErrorKind } from "./errors.js";
export { frameAt, isFile, kindOf, read, readFrames, type File, type FileOptions, type Frame } from "./file.js";
export { readLog, type Log } from "./log.js";
export { readMessage, type Message, type Options, type Shape } from "./message.js";
export * from "./nodes.js";
export { FORMS, KNOWN, NAMES } from "./tags.js";
export { codePoints } from "./text.js";
export { xxh3 } from "./xxh3.js";
