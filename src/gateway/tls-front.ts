/**
 * Makes TLS connections from admitted ones. Most use one TLS server. Names that request a client certificate use
 * another one, selected by the client hello, so that no other client is asked; that server resumes no sessions,
 * so that a certificate is verified each time. A handshake may wait for a certificate that is on order. ALPN is
 * h2 or http/1.1; TLS 1.2 with forward secrecy, and 1.3.
 */
import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type SecureContext, type Server, type TLSSocket, type TlsOptions } from 'node:tls';
import { messageOf, type Log } from '#base';
import type { GatewayIngress } from '#domain/gateway-shapes';
import { decodeClientHello, TLS_CIPHERS, TLS_MIN_VERSION } from '#net';
import { NO_PROOF, proveClient, type ClientProof } from './certificates/client-certificate.ts';
import { ticketKeysAt, ticketKeysLastMs } from './certificates/ticket-keys.ts';
import { addressOf, type ConnectionOrigin } from './circuits/route-decision.ts';
import { canonicalHost } from './http/host-policy.ts';

export interface TlsSettings {
  /**
   * Returns the certificate for a server name (as the client sent it), or undefined for the default one. With
   * authorities (PEM), returns a context that requests their certificates. May throw.
   */
  readonly certificateFor: (
    serverName: string,
    clientAuthorities?: readonly string[],
  ) => SecureContext | undefined;
  /** For clients with no or an unknown server name; without it their handshake fails. Read again after a change. */
  readonly defaultCertificate?: { readonly key: string | Buffer; readonly cert: string | Buffer } | undefined;
  /** Calls the listener after the default certificate has changed. Returns a function that removes it. */
  readonly onChange?: (listener: () => void) => () => void;
  /** Shared by processes that resume each other's sessions. Without it each process has keys of its own. */
  readonly ticketSecret?: Uint8Array;
  /** Returns the authorities (PEM) for which a server name (canonical) requests client certificates, or undefined. */
  readonly clientAuthorities?: (serverName: string) => readonly string[] | undefined;
  /** Whether any name has authorities. If not, client hellos are not parsed. Absent: they are always parsed. */
  readonly hasClientAuthorities?: () => boolean;
  /**
   * For a server name (canonical) without a certificate: a promise that resolves in bounded time, to true when the handshake
   * continues and to false when it has to end. Undefined: it continues now. Absent: no certificates are obtained on demand.
   */
  readonly missing?: ((serverName: string) => Promise<boolean> | undefined) | undefined;
}

/** The names (canonical) of shares of streams. */
export interface NamedStreams {
  /** Whether there are any. If not, client hellos are not parsed for them. */
  readonly any: () => boolean;
  readonly kindOf: (serverName: string) => GatewayIngress['kind'] | undefined;
  /** Takes a connection that is passed on as it is, before TLS: its first bytes are unread. */
  readonly pass: (socket: Socket, origin: ConnectionOrigin, serverName: string) => void;
}

export interface TlsFrontOptions {
  readonly settings: TlsSettings;
  /** For the client hello, and for the handshake after it. */
  readonly handshakeTimeoutMs: number;
  /** The clock of `acceptedAtMs`. */
  readonly nowMs: () => number;
  /** Called for each handshake that failed. */
  readonly onFailed: () => void;
  readonly log: Log;
  readonly onSecure: (socket: TLSSocket, origin: ConnectionOrigin, proof: ClientProof) => void;
  /** Shares of streams, which are selected by their names; undefined: there are none here. */
  readonly streams?: NamedStreams | undefined;
  /** Called for a client that sends plain HTTP; its first bytes are unread. */
  readonly onPlain: (socket: Socket, origin: ConnectionOrigin) => void;
}

const HTTP: TlsOptions = { ALPNProtocols: ['h2', 'http/1.1'] };
/** The protocol is between the client and the service, which the gateway does not know. */
const ANY: TlsOptions = { ALPNCallback: ({ protocols }) => protocols[0] };
const ASKING = {
  requestCert: true,
  rejectUnauthorized: false,
  secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
} satisfies TlsOptions;

/** The kind of bytes that are absent or not read. */
const NO_HELLO = { kind: 'other' } as const;

/** A connection during its handshake. */
interface Entering {
  readonly origin: ConnectionOrigin;
  /** For how long the handshake waited for a certificate: the client could not continue. */
  waitedMs: number;
  /** The requested authorities, and the server name they belong to. */
  asked: { readonly name: string; readonly authorities: readonly string[] } | undefined;
}

export class TlsFront {
  readonly #options: TlsFrontOptions;
  /** By remote address and port, because the TLS socket of a connection is another object. */
  readonly #entering = new Map<string, Entering>();
  readonly #open: Server;
  /** The server that requests certificates. */
  readonly #asking: Server | undefined;
  /** The two servers for shares of streams, whose clients may offer any protocol. */
  readonly #streams: { readonly open: Server; readonly asking: Server } | undefined;
  readonly #stopListening: (() => void) | undefined;
  #keysTimer: NodeJS.Timeout | undefined;

  constructor(options: TlsFrontOptions) {
    const { settings } = options;
    this.#options = options;
    this.#open = this.#server(HTTP);
    if (settings.clientAuthorities !== undefined) this.#asking = this.#server({ ...HTTP, ...ASKING });
    if (options.streams !== undefined)
      this.#streams = { open: this.#server(ANY), asking: this.#server({ ...ANY, ...ASKING }) };
    this.#stopListening = settings.onChange?.(() => this.#renewDefault());
    this.#renewTicketKeys();
  }

  /** From here on, this class handles the socket's errors. */
  accept(socket: Socket, origin: ConnectionOrigin): void {
    const peer = peerOf(socket);
    this.#entering.set(peer, { origin, waitedMs: 0, asked: undefined });
    socket.once('close', () => this.#entering.delete(peer));
    socket.on('error', () => {});
    // Until the handshake is complete: a client that sends its end in the meantime is gone, not waiting for a
    // response.
    socket.allowHalfOpen = false;
    const { settings, streams } = this.#options;
    const { clientAuthorities, hasClientAuthorities, missing } = settings;
    const mayAsk = clientAuthorities !== undefined && hasClientAuthorities?.() !== false;
    this.#readHello(socket, mayAsk || missing !== undefined || streams?.any() === true);
  }

  /** Connections in their handshake continue. */
  stop(): void {
    this.#stopListening?.();
    clearTimeout(this.#keysTimer);
  }

  /**
   * Passes all received bytes to the server for the name, which is read where `isNamed`. Bytes that are neither a hello nor HTTP
   * fail there, with TLS's own alert.
   */
  #readHello(socket: Socket, isNamed: boolean): void {
    const { missing } = this.#options.settings;
    const deadline = setTimeout(() => {
      this.#failed(socket, 'no client hello in time');
      socket.destroy();
    }, this.#options.handshakeTimeoutMs);
    socket.once('close', () => clearTimeout(deadline));
    let bytes: Buffer = Buffer.alloc(0);
    const enter = (name: string | undefined): void => {
      if (socket.destroyed) return;
      const server = this.#serverFor(socket, name);
      socket.unshift(bytes);
      server.emit('connection', socket);
    };
    const onEnd = (): void => void socket.destroy();
    const onData = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const isPlain = isLetter(bytes[0]!);
      const hello = isPlain || !isNamed ? NO_HELLO : decodeClientHello(bytes);
      if (hello.kind === 'incomplete') return;
      clearTimeout(deadline);
      socket.off('data', onData);
      socket.off('end', onEnd);
      socket.pause();
      if (isPlain) {
        this.#handOver(socket, bytes);
        return;
      }
      const name = hello.kind === 'hello' ? canonicalHost(hello.serverName ?? '') : undefined;
      if (name !== undefined && this.#options.streams?.kindOf(name) === 'tls-passthrough') {
        this.#pass(socket, bytes, name);
        return;
      }
      const certificate = name === undefined ? undefined : missing?.(name);
      if (certificate === undefined) {
        enter(name);
        return;
      }
      const { nowMs } = this.#options;
      const startMs = nowMs();
      void certificate.then((goesOn) => {
        if (!goesOn && !socket.destroyed) {
          this.#failed(socket, 'the certificate is on order and did not come in time');
          socket.destroy();
          return;
        }
        const entering = this.#entering.get(peerOf(socket));
        if (entering !== undefined) entering.waitedMs += nowMs() - startMs;
        enter(name);
      });
    };
    socket.on('data', onData);
    socket.on('end', onEnd);
    socket.resume();
  }

  #pass(socket: Socket, bytes: Buffer, name: string): void {
    const entering = this.#entering.get(peerOf(socket));
    if (entering === undefined || socket.destroyed) return;
    socket.allowHalfOpen = true;
    socket.unshift(bytes);
    this.#options.streams?.pass(socket, entering.origin, name);
  }

  #handOver(socket: Socket, bytes: Buffer): void {
    const entering = this.#entering.get(peerOf(socket));
    if (entering === undefined || socket.destroyed) return;
    socket.allowHalfOpen = true;
    socket.unshift(bytes);
    this.#options.onPlain(socket, entering.origin);
    socket.resume();
  }

  /** Also notes which certificates of the client the connection will be asked for. */
  #serverFor(socket: Socket, name: string | undefined): Server {
    const authorities = name === undefined ? undefined : this.#options.settings.clientAuthorities?.(name);
    const entering = this.#entering.get(peerOf(socket));
    const isStream = name !== undefined && this.#options.streams?.kindOf(name) === 'tls';
    const streams = isStream ? this.#streams : undefined;
    if (name === undefined || authorities === undefined || entering === undefined)
      return streams?.open ?? this.#open;
    entering.asked = { name, authorities };
    return streams?.asking ?? this.#asking!;
  }

  #server(asking: TlsOptions): Server {
    const { settings, handshakeTimeoutMs, log } = this.#options;
    const asks = asking.requestCert === true;
    const server = createServer({
      ...this.#contextOptions(),
      ...asking,
      handshakeTimeout: handshakeTimeoutMs,
      SNICallback: (serverName, done) => {
        let context: SecureContext | undefined;
        try {
          const name = canonicalHost(serverName);
          const authorities = asks && name !== undefined ? settings.clientAuthorities?.(name) : undefined;
          context = settings.certificateFor(serverName, authorities);
        } catch (error) {
          log.warn({ hop: 'gateway', cause: messageOf(error) }, 'no certificate for a server name');
        }
        done(null, context);
      },
    });
    server.on('secureConnection', (socket: TLSSocket) => this.#onSecure(socket));
    server.on('tlsClientError', (error, socket) => {
      this.#failed(socket, messageOf(error));
      socket.destroy();
    });
    return server;
  }

  #onSecure(socket: TLSSocket): void {
    const entering = this.#entering.get(peerOf(socket));
    const serverName = typeof socket.servername === 'string' ? socket.servername : '';
    // A hello that TLS reads differently than we do is an attack.
    if (entering === undefined || (entering.asked && entering.asked.name !== canonicalHost(serverName))) {
      this.#failed(socket, 'the server name cannot be determined');
      socket.destroy();
      return;
    }
    const { origin, waitedMs, asked } = entering;
    socket.allowHalfOpen = true;
    const proof = asked === undefined ? NO_PROOF : proveClient(socket, asked.authorities, Date.now());
    const acceptedAtMs = origin.acceptedAtMs + waitedMs;
    this.#options.onSecure(socket, { ...origin, isSecure: true, acceptedAtMs }, proof);
  }

  #contextOptions(): TlsOptions {
    const { defaultCertificate, ticketSecret } = this.#options.settings;
    return {
      ...defaultCertificate,
      minVersion: TLS_MIN_VERSION,
      maxVersion: 'TLSv1.3',
      ciphers: TLS_CIPHERS,
      honorCipherOrder: true,
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ...(ticketSecret === undefined ? {} : { ticketKeys: ticketKeysAt(ticketSecret, Date.now()) }),
    };
  }

  #renewDefault(): void {
    // Ticket keys belong to a context and would change with it.
    const kept =
      this.#options.settings.ticketSecret === undefined ? { ticketKeys: this.#open.getTicketKeys() } : {};
    this.#open.setSecureContext({ ...this.#contextOptions(), ...kept });
    const { secureOptions } = ASKING;
    for (const asking of [this.#asking, this.#streams?.asking])
      asking?.setSecureContext({ ...this.#contextOptions(), secureOptions });
    this.#streams?.open.setSecureContext({ ...this.#contextOptions(), ...kept });
  }

  #renewTicketKeys(): void {
    const { ticketSecret } = this.#options.settings;
    if (ticketSecret === undefined) return;
    const nowMs = Date.now();
    for (const server of [this.#open, this.#streams?.open])
      server?.setTicketKeys(ticketKeysAt(ticketSecret, nowMs));
    this.#keysTimer = setTimeout(() => this.#renewTicketKeys(), ticketKeysLastMs(nowMs));
    this.#keysTimer.unref();
  }

  #failed(socket: Socket, cause: string): void {
    const client = this.#entering.get(peerOf(socket))?.origin.address ?? addressOf(socket);
    const fields = { hop: 'client', client, cause };
    this.#options.log.info(fields, 'TLS handshake failed');
    this.#options.onFailed();
  }
}

/** Methods of HTTP begin with one; records of TLS never do. */
function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`;
}
