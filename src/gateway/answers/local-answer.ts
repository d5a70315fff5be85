/** A response of the gateway itself that is not a failure: redirects, log-in pages, published keys. */
import { statusText } from './error-page.ts';

export interface LocalAnswer {
  readonly status: number;
  /** Header lines without line ends. `Content-Length`, `Date` and `Connection` are added. */
  readonly lines: readonly string[];
  readonly body: string;
}

/** Returns head and body, or only the head for HEAD. */
export function encodeLocalAnswer(
  answer: LocalAnswer,
  asked: { readonly isHead: boolean; readonly keepAlive: boolean },
): Buffer {
  const body = Buffer.from(answer.body);
  const lines = [
    `HTTP/1.1 ${statusText(answer.status)}`,
    `Date: ${new Date().toUTCString()}`,
    ...answer.lines,
  ];
  // RFC 9110 §8.6 forbids it there.
  if (answer.status !== 204) lines.push(`Content-Length: ${body.length}`);
  if (!asked.keepAlive) lines.push('Connection: close');
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return asked.isHead ? head : Buffer.concat([head, body]);
}
