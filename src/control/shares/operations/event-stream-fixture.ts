/** Reads streams of events of a listening Management API in tests. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { within } from '../../../../test/support/deadline.ts';

const DEADLINE_MS = 30_000;
/** For the error of a stream that does not match. */
const KEPT_CHARS = 1_000;

export interface StreamReader {
  readonly response: IncomingMessage;
  /** The text so far. */
  readonly text: string;
  /** Resolves with the text when it matches. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves when the server has ended the stream. */
  readonly ended: Promise<void>;
}

/** The API must listen. */
export async function openStream(
  app: FastifyInstance,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<StreamReader> {
  const { port } = app.server.address() as AddressInfo;
  const request = get({
    port,
    host: '127.0.0.1',
    path,
    headers: { accept: 'text/event-stream', ...headers },
  });
  const [response] = (await once(request, 'response', { signal: AbortSignal.timeout(DEADLINE_MS) })) as [
    IncomingMessage,
  ];
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => (text += chunk));
  response.on('error', () => {});
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  return {
    response,
    get text() {
      return text;
    },
    async until(pattern) {
      const ended = closed.then(() => {
        throw new Error(`the stream ended without ${pattern}: ${text}`);
      });
      const matched = async (): Promise<void> => {
        while (!pattern.test(text)) await Promise.race([once(response, 'data'), ended]);
      };
      ended.catch(() => {});
      await within(
        () => `${pattern} in a stream; so far: ${text.slice(-KEPT_CHARS)}`,
        matched(),
        DEADLINE_MS,
      );
      return text;
    },
    get ended() {
      return within('the end of the stream', closed);
    },
  };
}
