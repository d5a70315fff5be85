/**
 * The TLS ports of a router: one socket per bind string `host:port`, shared by all its listeners. Port 0 means
 * another port each time.
 */
import type { Log } from '#base';
import { TlsPort, type TlsPortOptions } from './tls-port.ts';
import type { ServerTls } from './server-certificates.ts';
import type { WebSocketPort, WebSocketPortOptions } from './http/web-socket-port.ts';

export class TlsPorts {
  readonly #log: Log;
  readonly #ports = new Map<string, Promise<TlsPort>>();
  readonly #webSockets: WebSocketPort[] = [];
  readonly #shared: TlsPort | undefined;
  #unnamed = 0;

  /** `shared` is a port of the program that this router uses, for the bind string with its port. */
  constructor({ log, shared }: { readonly log: Log; readonly shared?: TlsPort | undefined }) {
    this.#log = log;
    this.#shared = shared;
  }

  /** Returns the port of the bind string; the first caller opens it. Rejects as `TlsPort.open` does. */
  open(options: Omit<TlsPortOptions, 'log' | 'tls'> & { readonly tls: ServerTls }): Promise<TlsPort> {
    if (this.#shared?.port === options.port) return this.#share(this.#shared, options.tls);
    let key = `${options.host}:${options.port}`;
    if (options.port === 0) key += `#${(this.#unnamed += 1)}`;
    const known = this.#ports.get(key);
    if (known !== undefined) return known;
    const opened = TlsPort.open({ ...options, log: this.#log });
    this.#ports.set(key, opened);
    // A port that could not be opened may be retried.
    opened.catch(() => this.#ports.delete(key));
    return opened;
  }

  #share(port: TlsPort, tls: ServerTls): Promise<TlsPort> {
    const key = String(port.port);
    const known = this.#ports.get(key);
    if (known !== undefined) return known;
    const shared = Promise.resolve(port);
    port.setTls(tls);
    this.#ports.set(key, shared);
    return shared;
  }

  /** Opens a port for TLS inside WebSocket, which nothing else shares. Rejects as `TlsPort.open` does. */
  async openWebSocket(options: Omit<WebSocketPortOptions, 'log'>): Promise<WebSocketPort> {
    // Its library is loaded only when a listener needs it.
    const { WebSocketPort } = await import('./http/web-socket-port.ts');
    const port = await WebSocketPort.open({ ...options, log: this.#log });
    this.#webSockets.push(port);
    return port;
  }

  /** Applies to new handshakes; existing connections keep their settings. */
  async setTls(tls: ServerTls): Promise<void> {
    for (const port of [...(await this.#opened()), ...this.#webSockets]) port.setTls(tls);
  }

  async close(): Promise<void> {
    const ports = [...(await this.#opened()), ...this.#webSockets.splice(0)];
    this.#ports.clear();
    await Promise.all(ports.map((port) => port.close()));
  }

  async #opened(): Promise<TlsPort[]> {
    const settled = await Promise.allSettled(this.#ports.values());
    return settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  }
}
