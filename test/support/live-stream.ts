/**
 * A stream that a caller holds open at a guarded share (a WebSocket, an event stream or a download), and the
 * time when it is cut.
 */
import { once } from 'node:events';
import WebSocket from 'ws';
import type { Entrance } from './visitor.ts';
import { within } from './deadline.ts';
import type { Visitor } from './visitor.ts';

export interface LiveStream {
  readonly name: string;
  readonly isOpen: boolean;
  /** Resolves when the stream has ended, by either side. */
  readonly ended: Promise<void>;
  close(): void;
}

export type CredentialHeaders = Readonly<Record<string, string>>;

/** A WebSocket that has echoed a message. */
export async function openSocket(
  entrance: Entrance,
  host: string,
  headers: CredentialHeaders,
): Promise<LiveStream> {
  const { securePort: port, ca } = entrance;
  const options = { headers: { host: `${host}:${port}`, ...headers }, servername: host, ca };
  const socket = new WebSocket(`wss://127.0.0.1:${port}/socket`, options);
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  await within(`a WebSocket to ${host} is open`, Promise.race([once(socket, 'open'), failed(socket)]));
  const echoed = once(socket, 'message');
  socket.send('hello');
  await within('a message comes back', echoed);
  return {
    name: 'WebSocket',
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    ended,
    close: () => socket.terminate(),
  };
}

async function failed(socket: WebSocket): Promise<never> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode?: number }];
  throw new Error(`refused: ${response.statusCode}`);
}

/** A stream of `/events` or `/download` whose first piece has arrived. */
export async function openAnswer(
  visitor: Visitor,
  host: string,
  path: string,
  headers: CredentialHeaders,
): Promise<LiveStream> {
  const { response } = await visitor.open(host, path, { headers, navigates: false });
  if (response.statusCode !== 200) throw new Error(`${path} was refused: ${response.statusCode}`);
  let isOpen = true;
  const ended = new Promise<void>((resolve) => {
    response.once('close', () => {
      isOpen = false;
      resolve();
    });
  });
  response.on('error', () => {});
  await within(`the first piece of ${path}`, once(response, 'data'));
  response.resume();
  return {
    name: path,
    get isOpen() {
      return isOpen;
    },
    ended,
    close: () => response.destroy(),
  };
}

/** One stream of each kind. */
export function openAll(
  entrance: Entrance,
  visitor: Visitor,
  host: string,
  headers: CredentialHeaders,
): Promise<readonly LiveStream[]> {
  return Promise.all([
    openSocket(entrance, host, headers),
    openAnswer(visitor, host, '/events', headers),
    openAnswer(visitor, host, '/download', headers),
  ]);
}
