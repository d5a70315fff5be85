/** An answer that the gateway gives itself and that is no failure: redirects, log-in pages, published keys. */
import { statusText } from './error-page.ts';

export interface LocalAnswer {
  readonly status: number;
  /** Header lines without line ends; `Content-Length`, `Date` and `Connection` are set here. */
  readonly lines: readonly string[];
  readonly body: string;
}

/** Head and body; for HEAD the head alone. */
export function encodeLocalAnswer(
  answer: LocalAnswer,
  asked: { readonly isHead: boolean; readonly keepAlive: boolean },
): Buffer {
  const body = Buffer.from(answer.body);
  const lines = [
    `HTTP/1.1 ${statusText(answer.status)}`,
    `Date: ${new Date().toUTCString()}`,
    ...answer.lines,
    `Content-Length: ${body.length}`,
  ];
  if (!asked.keepAlive) lines.push('Connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return asked.isHead ? head : Buffer.concat([head, body]);
}
