/**
 * Data that outlives the read that it arrived in. A view keeps its whole buffer in memory, so that one byte of a
 * 16 KiB read costs 16 KiB. This file decides when such a view is copied, and how much memory a kept view counts
 * as.
 */

/**
 * A view smaller than this part of its buffer is copied, because the copy costs less than the memory it would
 * retain.
 */
const SMALL_PART = 1 / 2;

/** Returns the view, or a copy in a buffer of its own if the view is a small part of its buffer. */
export function keptBytes(view: Uint8Array): Uint8Array {
  return view.length < view.buffer.byteLength * SMALL_PART ? copyOf(view) : view;
}

/** Returns the memory that a view retains, in bytes. */
export function keptSize(view: Uint8Array): number {
  return view.buffer.byteLength;
}

/** Always copies, even a `Buffer`, whose `slice` does not. */
export function copyOf(view: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(view.length);
  copy.set(view);
  return copy;
}
