/** A public share as its visitors use it, over HTTPS at its own name, by this process or by real clients. */
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { runClient } from './client-run.ts';
import type { AppEntrance } from './entrance.ts';

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

export class AppShare {
  readonly host: string;
  readonly #entrance: AppEntrance;
  readonly #change: (options: readonly string[]) => Promise<void>;

  constructor(host: string, entrance: AppEntrance, change: (options: readonly string[]) => Promise<void>) {
    this.host = host;
    this.#entrance = entrance;
    this.#change = change;
  }

  get origin(): string {
    return `https://${this.host}`;
  }

  /** Runs `frontdoor shares upstream change` with these options. The next request has the settings. */
  change(...options: readonly string[]): Promise<void> {
    return this.#change(options);
  }

  /** Runs a client that reaches the share at its name and trusts its certificate. Resolves to its output. */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    return runClient(command, args, { ...this.#entrance.env, ...env });
  }

  ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const asked = httpsRequest(
      { ...this.#entrance.to(this.host), path, method, headers: { host: this.host, ...headers } },
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
    const asked = httpsRequest({
      ...this.#entrance.to(this.host),
      path,
      headers: {
        host: this.host,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16, 7).toString('base64'),
        origin: this.origin,
        ...headers,
      },
    });
    asked.on('response', ({ statusCode }) =>
      reject(new Error(`the upgrade was answered with ${statusCode}`)),
    );
    asked.on('error', reject);
    asked.on('upgrade', (_response, socket: Socket, first: Buffer) => resolve({ socket, first }));
    asked.end();
    return promise;
  }
}
