/**
 * One TLS socket that several listeners share. The protocols that the client offers (ALPN) select the listener,
 * as in OpenZiti: the last one of the client's list that has a handler. The client hello is read first, so that
 * each listener may have its own certificates and versions.
 */
import * as net from 'node:net';
import * as tls from 'node:tls';
import { FrontdoorError, messageOf, type Log } from '#base';
import { decodeClientHello, type ClientHello } from './client-hello-decoder.ts';
import { containSocket } from './containment.ts';
import { listenOn, portOf } from './listen-on.ts';
import { QuietLog } from './quiet-log.ts';
import {
  checkServerTls,
  ServerCertificates,
  type ServerTls,
  type TlsVersions,
} from './server-certificates.ts';

export interface TlsPortOptions {
  /** Without brackets; '' for all interfaces. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Absent: each handler has its own, or there is none, and `others` takes all connections. */
  readonly tls?: ServerTls | undefined;
  /** From the connection to the end of the TLS handshake. */
  readonly handshakeTimeoutMs: number;
  /** Where the address comes from, such as a key of a file, for errors. */
  readonly place?: string | undefined;
  /**
   * Takes connections for which there is no handler, before TLS begins: they hold all bytes that were received. Undefined
   * for bytes that are no client hello. Returns false for connections that are refused.
   */
  readonly others?: ((hello: ClientHello | undefined, socket: net.Socket) => boolean) | undefined;
  readonly log: Log;
}

/** Settings that a handler of a port may override. */
export interface TlsHandlerOptions {
  /** Name of the handler in errors. */
  readonly name?: string;
  /** Replaces the port's settings. */
  readonly tls?: ServerTls | undefined;
  readonly versions?: TlsVersions;
  /** Whether clients are asked for a certificate, which is not verified here. True by default. */
  readonly requestsCertificate?: boolean;
}

/** A port at which clients prove a certificate: of TLS, or of TLS inside WebSocket. */
export interface ChannelPort {
  readonly port: number;
  /**
   * `protocols` are ALPN names, `''` for clients that offer none. `onSocket` receives sockets after their
   * handshake; a client certificate was requested but not verified. Returns a function that removes the handler.
   * Throws `conflict` if another handler has one of the protocols.
   */
  handle(
    protocols: readonly string[],
    onSocket: (socket: tls.TLSSocket) => void,
    options?: TlsHandlerOptions,
  ): () => void;
  /** Applies to new handshakes. Throws `invalid` and keeps the former certificates if these cannot be used. */
  setTls(tls: ServerTls): void;
  /** Accepts no new connections. */
  close(): Promise<void>;
}

interface Handler {
  readonly name: string;
  /** In order of preference, if the client offers several of them. */
  readonly protocols: readonly string[];
  readonly options: TlsHandlerOptions;
  readonly server: tls.Server;
  certificates: ServerCertificates;
}

interface Handshake {
  readonly socket: net.Socket;
  readonly address: string | undefined;
  readonly sinceMs: number;
  done(): void;
}

/** Limit for connections with an unfinished handshake, about 60 KiB each. */
const MAX_HANDSHAKES = 1_024;
/** Limit per address. A load balancer or a whole site may share one. */
const MAX_HANDSHAKES_PER_ADDRESS = 512;
/**
 * A handshake that takes longer may be closed in favour of others, so that the first of many simultaneous peers
 * complete first.
 */
const PATIENCE_MS = 2_000;
/** `15 03 01 00 02`: alert, fatal, no application protocol. */
const NO_APPLICATION_PROTOCOL = Uint8Array.of(0x15, 3, 1, 0, 2, 2, 120);

export class TlsPort implements ChannelPort {
  readonly #options: TlsPortOptions;
  readonly #quietLog: QuietLog;
  readonly #server: net.Server;
  readonly #handlers = new Map<string, Handler>();
  /** Unfinished handshakes in the order in which they began. */
  readonly #unfinished = new Map<string, Handshake>();
  readonly #perAddress = new Map<string | undefined, number>();
  #tls: ServerTls | undefined;

  private constructor(options: TlsPortOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#quietLog = new QuietLog(options.log);
    this.#server = net.createServer(
      { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 },
      (socket) => containSocket(socket, options.log, () => this.#onConnection(socket)),
    );
  }

  /**
   * Rejects with `conflict` if the port is taken, `invalid` for certificates that cannot be used, otherwise
   * `unavailable`.
   */
  static async open(options: TlsPortOptions): Promise<TlsPort> {
    if (options.tls !== undefined) checkServerTls(options.tls);
    const port = new TlsPort(options);
    await listenOn(port.#server, options, options.log);
    return port;
  }

  get port(): number {
    return portOf(this.#server);
  }

  handle(
    protocols: readonly string[],
    onSocket: (socket: tls.TLSSocket) => void,
    options: TlsHandlerOptions = {},
  ): () => void {
    const name = options.name ?? protocols.map((protocol) => protocol || 'no protocol').join(', ');
    for (const protocol of protocols) {
      const other = this.#handlers.get(protocol);
      if (other === undefined) continue;
      throw new FrontdoorError(
        'conflict',
        'protocol-taken',
        `${name} and ${other.name} cannot share ${this.#options.host}:${this.#options.port}: ` +
          `both take ${protocol === '' ? 'connections without a protocol' : protocol}`,
      );
    }
    const own = options.tls ?? this.#tls;
    if (own === undefined) throw new Error(`${name} has no certificate`);
    const certificates = new ServerCertificates(own, options.versions);
    const handler: Handler = {
      name,
      protocols,
      options,
      certificates,
      server: this.#tlsServer(() => handler, options.requestsCertificate),
    };
    handler.server.setSecureContext(certificates.defaultOptions);
    let isReleased = false;
    handler.server.on('secureConnection', (socket) => {
      this.#unfinished.get(connectionOf(socket))?.done();
      if (isReleased) socket.destroy();
      else onSocket(socket);
    });
    for (const protocol of protocols) this.#handlers.set(protocol, handler);
    return () => {
      isReleased = true;
      for (const protocol of protocols) {
        if (this.#handlers.get(protocol) === handler) this.#handlers.delete(protocol);
      }
    };
  }

  /**
   * Applies to new handshakes of handlers without certificates of their own; existing connections keep theirs.
   * Throws `invalid` and keeps the former certificates if the new ones cannot be used.
   */
  setTls(tls: ServerTls): void {
    const handlers = [...new Set(this.#handlers.values())].filter(({ options }) => options.tls === undefined);
    const renewed = handlers.map(({ options }) => new ServerCertificates(tls, options.versions));
    if (handlers.length === 0) checkServerTls(tls);
    this.#tls = tls;
    for (const [index, handler] of handlers.entries()) {
      handler.certificates = renewed[index]!;
      handler.server.setSecureContext(handler.certificates.defaultOptions);
    }
  }

  /** Accepts no new connections. Connections that were handed over belong to their handlers. */
  close(): Promise<void> {
    this.#handlers.clear();
    this.#server.close();
    for (const { socket } of this.#unfinished.values()) socket.destroy();
    // The listening socket itself is closed in this turn of the event loop, even while connections exist.
    return new Promise((resolve) => void setImmediate(resolve));
  }

  #tlsServer(handler: () => Handler, requestCert = true): tls.Server {
    const server = tls.createServer({ ...handshakeOptions(handler), requestCert });
    server.on('tlsClientError', (error, socket) => {
      const { remoteAddress: peer } = socket;
      this.#options.log.info({ peer, err: messageOf(error) }, 'TLS handshake failed');
      socket.destroy();
    });
    return server;
  }

  /** Reads the client hello and passes all received bytes to the selected handler. */
  #onConnection(socket: net.Socket): void {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    socket.on('error', () => {});
    if (!this.#makeRoomFor(socket)) {
      this.#quietLog.warn({ peer }, 'too many unfinished TLS handshakes, connection closed');
      socket.destroy();
      return;
    }
    const { log, handshakeTimeoutMs } = this.#options;
    const refuse = (reason: string, answer?: Uint8Array): void => {
      log.info({ peer, reason }, 'TLS handshake failed');
      if (answer !== undefined) socket.write(answer);
      socket.destroySoon();
    };
    const deadline = setTimeout(() => {
      log.info({ peer, reason: 'not completed in time' }, 'TLS handshake failed');
      socket.destroy();
    }, handshakeTimeoutMs);
    const key = connectionOf(socket);
    const address = socket.remoteAddress;
    const done = (): void => {
      clearTimeout(deadline);
      if (!this.#unfinished.delete(key)) return;
      const left = this.#perAddress.get(address)! - 1;
      if (left > 0) this.#perAddress.set(address, left);
      else this.#perAddress.delete(address);
    };
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1);
    this.#unfinished.set(key, { socket, address, sinceMs: performance.now(), done });
    socket.on('close', done);
    let bytes: Buffer = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const outcome = decodeClientHello(bytes);
      if (outcome.kind === 'incomplete') return;
      socket.off('data', onData);
      socket.pause();
      const hello = outcome.kind === 'hello' ? outcome : undefined;
      const handler = hello && this.#handlerFor(hello.protocols);
      if (handler === undefined && this.#options.others !== undefined) {
        done();
        socket.off('close', done);
        socket.unshift(bytes);
        if (!this.#options.others(hello, socket)) refuse('no server for this name', NO_APPLICATION_PROTOCOL);
        return;
      }
      if (outcome.kind === 'malformed') {
        refuse('not a TLS client hello');
        return;
      }
      if (handler === undefined) {
        const offered = (outcome.protocols ?? []).slice(0, 4).map((name) => name.slice(0, 32));
        refuse(
          `no handler for ${offered.join(', ') || 'connections without a protocol'}`,
          NO_APPLICATION_PROTOCOL,
        );
        return;
      }
      socket.unshift(bytes);
      handler.server.emit('connection', socket);
    };
    socket.on('data', onData);
  }

  /**
   * If there are too many unfinished handshakes, closes the oldest, of the same address if that has many. Returns
   * false if none may be closed.
   */
  #makeRoomFor({ remoteAddress: address }: net.Socket): boolean {
    const hasMany = (this.#perAddress.get(address) ?? 0) >= MAX_HANDSHAKES_PER_ADDRESS;
    if (!hasMany && this.#unfinished.size < MAX_HANDSHAKES) return true;
    for (const oldest of this.#unfinished.values()) {
      if (hasMany && oldest.address !== address) continue;
      if (performance.now() - oldest.sinceMs < PATIENCE_MS) return false;
      const peer = `${oldest.socket.remoteAddress}:${oldest.socket.remotePort}`;
      this.#quietLog.warn({ peer }, 'too many unfinished TLS handshakes, the oldest connection closed');
      oldest.done();
      oldest.socket.destroy();
      return true;
    }
    return false;
  }

  #handlerFor(offered: readonly string[] | undefined): Handler | undefined {
    if (offered !== undefined) {
      const protocol = offered.findLast((name) => this.#handlers.has(name));
      return protocol === undefined ? undefined : this.#handlers.get(protocol);
    }
    // Clients of the other servers may offer none, too.
    if (this.#options.others !== undefined) return undefined;
    const [first] = this.#handlers.values();
    return this.#handlers.size === 1 ? first : this.#handlers.get('');
  }
}

/** Options of a handshake: `acceptor` returns the current protocols and certificates. */
export function handshakeOptions(acceptor: () => Pick<Handler, 'protocols' | 'certificates'>) {
  return {
    requestCert: true,
    rejectUnauthorized: false,
    ALPNCallback: ({ protocols }) => acceptor().protocols.find((name) => protocols.includes(name)),
    SNICallback: (serverName, done) => {
      try {
        done(null, acceptor().certificates.contextFor(serverName));
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  } satisfies tls.TlsOptions;
}

/** The same key for a connection and for the TLS socket that was made of it. */
function connectionOf(socket: net.Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
}
