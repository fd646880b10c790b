/** What can be wrong with bytes: the words of `tests/vectors/README.md`, and a few for limits of this reader. */
export type ErrorKind =
  | "truncated" | "version" | "trusted" | "trailing" | "tag" | "code" | "length" | "ascii" | "utf8" | "bool" | "names"
  | "reference" | "layout" | "mark" | "cycle" | "key" | "value" | "buffer" | "before" | "not a file" | "file" | "checksum"
  | "bomb" | "zstd";

/** Bytes that could not be read. `offset` counts from their start: how many were taken when that was seen. */
export class HoldError extends Error {
  constructor(readonly kind: ErrorKind, message: string, readonly offset: number) {
    super(`${message} - at byte ${offset}`);
    this.name = "HoldError";
  }
}
