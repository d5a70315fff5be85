/** How a response is framed for the client. RFC 9112 §6. */
import { BODY_CHUNKED, BODY_UNTIL_END, type BodyDecoder } from './body-decoder.ts';
import type { ResponseHead } from './response-head-policy.ts';

/** Whether the client gets the body in chunks, because its length is not known. HTTP/1.0 has none. */
export function isChunkedFor(isHttp10: boolean, { mode }: BodyDecoder): boolean {
  return !isHttp10 && (mode === BODY_CHUNKED || mode === BODY_UNTIL_END);
}

/** Returns the lines that frame the body and end the connection after it, unless the connection is kept. */
export function framingLines(head: ResponseHead, isChunked: boolean, isKept: boolean): string {
  const { contentLength, status } = head;
  let lines = '';
  if (isChunked) lines = 'Transfer-Encoding: chunked\r\n';
  else if (contentLength >= 0 && status !== 204) lines = `Content-Length: ${contentLength}\r\n`;
  return isKept ? lines : `${lines}Connection: close\r\n`;
}
