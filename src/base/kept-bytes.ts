/**
 * What outlives the read that brought it: a view keeps its whole buffer in memory, so that one byte of a 16 KiB read
 * costs 16 KiB. This is the one place that decides when such a view is copied, and what a kept view counts as.
 */

/** A view below this part of its buffer is copied: copying then costs less than what it would keep in memory. */
const SMALL_PART = 1 / 2;

/** Returns the view, or a copy in a buffer of its own when the view is a small part of its buffer. */
export function keptBytes(view: Uint8Array): Uint8Array {
  return view.length < view.buffer.byteLength * SMALL_PART ? copyOf(view) : view;
}

/** What a view keeps in memory, in bytes. */
export function keptSize(view: Uint8Array): number {
  return view.buffer.byteLength;
}

/** Always a copy, also of a `Buffer`, whose `slice` is none. */
export function copyOf(view: Uint8Array): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(view.length);
  copy.set(view);
  return copy;
}
