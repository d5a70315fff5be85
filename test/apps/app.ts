/**
 * A real application behind a share, as `npm run apps` runs it: a file of `rows/` that exports one as `app`. It is installed
 * below `.cache/apps/`, started on a free port and shared in public under its name.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { ShareUpstreamChange } from '#domain/upstream';

export interface AppPlace {
  /** Where its packages are: `node_modules`, or `python/bin`. */
  readonly folder: string;
  readonly port: number;
}

export interface AppProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface App {
  /** Also the name of its share. */
  readonly name: string;
  /** What works, in a sentence. */
  readonly shows: string;
  /** Programs from PATH, without which the row is skipped by name. */
  readonly needs?: readonly string[];
  /** Packages with their versions. */
  readonly npm?: readonly string[];
  readonly pip?: readonly string[];
  /** The path of the target, for an application below one. */
  readonly path?: string;
  /** The settings that a person gives with the share. */
  readonly upstream?: ShareUpstreamChange;
  /** Writes its files and returns how it is started. */
  readonly program: (place: AppPlace) => AppProgram;
  /** Throws when the application does not work behind its share. */
  readonly check: (share: AppShare) => Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The share as its visitors reach it. */
export class AppShare {
  readonly host: string;
  readonly #port: number;
  readonly #set: (upstream: ShareUpstreamChange) => Promise<void>;

  constructor(host: string, port: number, set: (upstream: ShareUpstreamChange) => Promise<void>) {
    this.host = host;
    this.#port = port;
    this.#set = set;
  }

  /** As browsers write it. */
  get origin(): string {
    return `http://${this.host}:${this.#port}`;
  }

  /** Changes the upstream settings, which the next request has. */
  set(upstream: ShareUpstreamChange): Promise<void> {
    return this.#set(upstream);
  }

  ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const asked = httpRequest(
      { ...this.#target(path), method, headers: this.#headers(headers) },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    asked.on('error', reject);
    asked.end(body);
    return promise;
  }

  /** Opens a WebSocket, and closes it again. */
  async opened(path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const { socket } = await this.#upgraded(path, headers);
    socket.destroy();
  }

  /** Opens a WebSocket and resolves with the text of its first frame, of at most 125 bytes. */
  async firstMessage(path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const { socket, first } = await this.#upgraded(path, headers);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let received = first;
    const read = (more: Buffer = Buffer.alloc(0)): void => {
      received = Buffer.concat([received, more]);
      const length = received[1] ?? Infinity;
      if (received.length < 2 + length) return;
      socket.destroy();
      resolve(received.toString('utf8', 2, 2 + length));
    };
    socket.on('data', read);
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the WebSocket closed before its first message')));
    read();
    return promise;
  }

  #upgraded(
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly socket: Socket; readonly first: Buffer }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ socket: Socket; first: Buffer }>();
    const asked = httpRequest({
      ...this.#target(path),
      headers: this.#headers({
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16, 7).toString('base64'),
        origin: this.origin,
        ...headers,
      }),
    });
    asked.on('response', ({ statusCode }) =>
      reject(new Error(`the upgrade was answered with ${statusCode}`)),
    );
    asked.on('error', reject);
    asked.on('upgrade', (_response, socket: Socket, first: Buffer) => resolve({ socket, first }));
    asked.end();
    return promise;
  }

  #target(path: string) {
    return { host: '127.0.0.1', port: this.#port, path, agent: false } as const;
  }

  #headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    return { host: `${this.host}:${this.#port}`, ...headers };
  }
}
