/**
 * Collects the data of one inspected request: both heads, and the configured part of both bodies. It copies the
 * data and reports how much it holds. Secrets are removed when the record is made, before it is sent anywhere.
 */
import { REDACTED, type InspectedMessage } from '#domain/gateway-shapes';
import type { FieldLines } from '../http/head-decoder.ts';
import type { ExchangeTap } from '../exchange/request-record.ts';
import { redactedBody, redactedHeaders, type Header, type SecretNames } from './redaction.ts';

/** The first bytes of a body. */
class KeptBody {
  readonly #max: number;
  readonly #allow: (bytes: number) => number;
  readonly #pieces: Buffer[] = [];
  keptBytes = 0;
  totalBytes = 0;

  constructor(max: number, allow: (bytes: number) => number) {
    this.#max = max;
    this.#allow = allow;
  }

  /** Returns how many more bytes are held. */
  add(view: Uint8Array): number {
    this.totalBytes += view.length;
    // Nothing is kept after a gap.
    const isWhole = this.keptBytes === this.totalBytes - view.length;
    const wanted = isWhole ? Math.min(view.length, this.#max - this.keptBytes) : 0;
    const count = wanted <= 0 ? 0 : this.#allow(wanted);
    if (count === 0) return 0;
    this.#pieces.push(Buffer.from(view.subarray(0, count)));
    this.keptBytes += count;
    return count;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

export interface InspectionTapOptions {
  /** Limit for each body. */
  readonly maxBodyBytes: number;
  readonly fields: FieldLines;
  /** Indices of header lines whose value is not recorded. */
  readonly omitted: readonly number[];
  readonly secrets: SecretNames;
  /** Returns how many of the requested bytes may be held. */
  readonly allow: (bytes: number) => number;
  /** Called with the number of bytes that were added. */
  readonly onHeld: (bytes: number) => void;
}

export class InspectionTap implements ExchangeTap {
  readonly #options: Pick<InspectionTapOptions, 'secrets' | 'onHeld'>;
  readonly #requestHeaders: readonly Header[];
  #answerHeaders: readonly Header[] = [];
  readonly #request: KeptBody;
  readonly #answer: KeptBody;
  #heldBytes = 0;

  constructor({ maxBodyBytes, fields, omitted, secrets, allow, onHeld }: InspectionTapOptions) {
    this.#options = { secrets, onHeld };
    this.#requestHeaders = headersOf(fields, omitted);
    this.#request = new KeptBody(maxBodyBytes, allow);
    this.#answer = new KeptBody(maxBodyBytes, allow);
    this.#hold(fields.text.length);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  requestBytes(view: Uint8Array): void {
    this.#hold(this.#request.add(view));
  }

  answerHead(_status: number, fields: FieldLines): void {
    this.#answerHeaders = headersOf(fields, []);
    this.#hold(fields.text.length);
  }

  answerBytes(view: Uint8Array): void {
    this.#hold(this.#answer.add(view));
  }

  messages(): { readonly request: InspectedMessage; readonly answer: InspectedMessage } {
    return {
      request: this.#message(this.#requestHeaders, this.#request),
      answer: this.#message(this.#answerHeaders, this.#answer),
    };
  }

  #message(headers: readonly Header[], body: KeptBody): InspectedMessage {
    const { secrets } = this.#options;
    const shown = redactedBody(body.bytes(), {
      contentType: headerOf(headers, 'content-type'),
      contentEncoding: headerOf(headers, 'content-encoding'),
      isWhole: body.keptBytes === body.totalBytes,
      secrets,
    });
    return {
      headers: redactedHeaders(headers, secrets),
      body: Buffer.from(shown ?? []).toString('base64'),
      bodyBytes: body.totalBytes,
      isTruncated: shown === undefined || body.keptBytes < body.totalBytes,
    };
  }

  #hold(bytes: number): void {
    if (bytes === 0) return;
    this.#heldBytes += bytes;
    this.#options.onHeld(bytes);
  }
}

/** An omitted line is listed by its name, as a secret. */
function headersOf(fields: FieldLines, omitted: readonly number[]): readonly Header[] {
  return Array.from({ length: fields.count }, (_, i): Header => [
    fields.name(i),
    omitted.includes(i) ? REDACTED : fields.value(i),
  ]);
}

function headerOf(headers: readonly Header[], name: string): string {
  return headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? '';
}
