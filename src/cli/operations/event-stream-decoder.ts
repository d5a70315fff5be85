/**
 * Incremental decoder of server-sent events (the fields id, event, data), with a limit for lines and events.
 * Comments and unknown fields are skipped. A line or event over the limit makes the decoder overflow permanently.
 */
import { LineDecoder } from '#domain';

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

export class EventStreamDecoder {
  readonly #lines: LineDecoder;
  readonly #maxChars: number;
  #id: string | undefined;
  #event = '';
  #data: string[] = [];
  #length = 0;
  #overflowed = false;

  constructor(maxBytes: number) {
    this.#lines = new LineDecoder(maxBytes);
    this.#maxChars = maxBytes;
  }

  /** The id that the server sent last, with an event or alone. */
  get lastId(): string | undefined {
    return this.#id;
  }

  get overflowed(): boolean {
    return this.#overflowed || this.#lines.overflowed;
  }

  push(bytes: Uint8Array): StreamEvent[] {
    const events: StreamEvent[] = [];
    for (const raw of this.#lines.push(bytes)) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line !== '') this.#field(line);
      else if (this.#data.length > 0) {
        events.push({ id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') });
        this.#event = '';
        this.#data = [];
        this.#length = 0;
      }
    }
    return this.overflowed ? [] : events;
  }

  #field(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') this.#id = value;
    else if (name === 'event') this.#event = value;
    else if (name === 'data') {
      this.#length += value.length;
      if (this.#length > this.#maxChars) this.#overflowed = true;
      else this.#data.push(value);
    }
  }
}
