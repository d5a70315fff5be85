/** A client of HTTP/2 for tests: Node's own, over a connection without TLS, and the whole response of a stream. */
import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { within } from '../../../test/support/deadline.ts';
import { once } from './gateway-world.ts';

export interface Http2Answer {
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: string;
  /** The code of a reset; 0: none. */
  readonly code: number;
  /** The statuses of interim responses. */
  readonly interim: readonly (number | undefined)[];
}

export async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let [headers, trailers]: IncomingHttpHeaders[] = [{}, {}];
  let body = '';
  const interim: (number | undefined)[] = [];
  stream.setEncoding('latin1');
  stream.on('headers', (received) => interim.push(received[':status']));
  stream.on('response', (received) => (headers = received));
  stream.on('trailers', (received) => (trailers = received));
  stream.on('data', (text: string) => (body += text));
  stream.on('error', () => {});
  await within('the end of a stream', once(stream, 'close'));
  return { headers: headers!, trailers: trailers!, body, code: stream.rstCode ?? 0, interim };
}

/** A session with knowledge of what the port speaks. */
export function openH2c(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  return session;
}

export function begin(
  session: ClientHttp2Session,
  name: string,
  headers: OutgoingHttpHeaders = {},
  options: { endStream?: boolean; waitForTrailers?: boolean } = { endStream: true },
): ClientHttp2Stream {
  return session.request({ ':authority': `${name}.share.localhost`, ...headers }, options);
}

export function ask(
  session: ClientHttp2Session,
  name: string,
  headers: OutgoingHttpHeaders = {},
  body?: string | Buffer,
): Promise<Http2Answer> {
  const stream = begin(session, name, headers, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return answerOf(stream);
}
