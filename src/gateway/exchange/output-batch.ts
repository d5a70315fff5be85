/**
 * Collects output, texts and views, to write them together: small pieces in one buffer, so that a head and its
 * body cost one write, large pieces as they are. Text is Latin-1.
 */

/** Up to this size, copying is cheaper than another write. */
const COPY_BYTES = 16_384;
/** Pieces up to this size are copied together even among large ones. */
const SMALL_BYTES = 2_048;

export class OutputBatch {
  #pieces: (string | Uint8Array)[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  text(text: string): void {
    this.#bytes += text.length;
    const pieces = this.#pieces;
    const count = pieces.length;
    // V8 looks up an index of -1 as a name, which costs as much as the rest of this method.
    const before = count === 0 ? undefined : pieces[count - 1];
    if (typeof before === 'string') pieces[count - 1] = before + text;
    else pieces.push(text);
  }

  view(view: Uint8Array): void {
    this.#bytes += view.length;
    this.#pieces.push(view);
  }

  /** Adds data as one chunk of a chunked body. */
  chunk(view: Uint8Array): void {
    this.text(`${view.length.toString(16)}\r\n`);
    this.view(view);
    this.text('\r\n');
  }

  /** Returns the buffers to write, in order, and empties the batch. */
  take(): Uint8Array[] {
    const pieces = this.#pieces;
    const bytes = this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    if (bytes <= COPY_BYTES) return bytes === 0 ? [] : [joined(pieces, 0, pieces.length)];
    const buffers: Uint8Array[] = [];
    let smallFrom = 0;
    for (let i = 0; i < pieces.length; i += 1) {
      if (pieces[i]!.length <= SMALL_BYTES) continue;
      if (i > smallFrom) buffers.push(joined(pieces, smallFrom, i));
      buffers.push(joined(pieces, i, i + 1));
      smallFrom = i + 1;
    }
    if (smallFrom < pieces.length) buffers.push(joined(pieces, smallFrom, pieces.length));
    return buffers;
  }
}

function joined(pieces: readonly (string | Uint8Array)[], from: number, to: number): Uint8Array {
  if (to - from === 1) {
    const only = pieces[from]!;
    return typeof only === 'string' ? Buffer.from(only, 'latin1') : only;
  }
  let bytes = 0;
  for (let i = from; i < to; i += 1) bytes += pieces[i]!.length;
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (let i = from; i < to; i += 1) {
    const piece = pieces[i]!;
    if (typeof piece === 'string') at += whole.write(piece, at, 'latin1');
    else {
      whole.set(piece, at);
      at += piece.length;
    }
  }
  return whole;
}
