/**
 * A tap between two peers of which a test has the keys: it ends the dialer's TLS with a certificate that the dialer
 * trusts, dials on with the dialer's own, and forwards the bytes unchanged. It reports each whole frame as it was sent.
 */
import { X509Certificate } from 'node:crypto';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { FrameDecoder, type Frame } from '#wire';

const KIND_OF_ALPN = { 'ziti-ctrl': 'ctrl', 'ziti-link': 'link', 'ziti-edge': 'edge' } as const;

export interface TapIdentity {
  readonly name: string;
  readonly cert: string;
  readonly key: string;
}

export interface FrameTapOptions {
  readonly alpn: keyof typeof KIND_OF_ALPN;
  /** The destination of the frames, on 127.0.0.1. */
  readonly target: { readonly name: string; readonly port: number };
  /** Shown to dialers; holds `localhost`. Asked at each connection: it may not be there before. */
  readonly server: () => Omit<TapIdentity, 'name'>;
  /** The peers that may dial, identified by their client certificates. Called at each connection. */
  readonly dialers: () => readonly TapIdentity[];
  onFrame(frame: TappedFrame): void;
}

export interface TappedFrame {
  /** Which connection of this process's taps, from 1. */
  readonly connection: number;
  readonly kind: (typeof KIND_OF_ALPN)[keyof typeof KIND_OF_ALPN];
  readonly from: string;
  readonly to: string;
  /** Valid during the call. */
  readonly frame: Frame;
}

const LIMITS = { maxHeadersBytes: 1 << 20, maxBodyBytes: 64 << 20 };
let connections = 0;

export class FrameTap {
  readonly port: number;
  readonly #close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>) {
    this.port = port;
    this.#close = close;
  }

  static async open(options: FrameTapOptions): Promise<FrameTap> {
    const sockets = new Set<TLSSocket>();
    const server = createServer({
      ALPNProtocols: [options.alpn],
      requestCert: true,
      rejectUnauthorized: false,
      SNICallback: (_name, done) => done(null),
    });
    server.on('connection', () => server.setSecureContext(options.server()));
    server.on('secureConnection', (socket) => {
      const tap = new TappedConnection(options, socket);
      for (const each of tap.sockets) {
        sockets.add(each);
        each.on('close', () => sockets.delete(each));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new FrameTap(port, async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  close(): Promise<void> {
    return this.#close();
  }
}

class TappedConnection {
  readonly sockets: readonly TLSSocket[];

  constructor(options: FrameTapOptions, dialing: TLSSocket) {
    const { alpn, target, onFrame } = options;
    const leaf = dialing.getPeerX509Certificate();
    const dialer = options
      .dialers()
      .find(({ cert }) => new X509Certificate(cert).fingerprint === leaf?.fingerprint);
    if (dialer === undefined) {
      this.sockets = [];
      dialing.destroy(new Error('a dialer whose key the tap does not have'));
      return;
    }
    const listening = connect({
      host: '127.0.0.1',
      port: target.port,
      servername: 'localhost',
      ALPNProtocols: [alpn],
      rejectUnauthorized: false,
      cert: dialer.cert,
      key: dialer.key,
    });
    this.sockets = [dialing, listening];
    connections += 1;
    const common = { connection: connections, kind: KIND_OF_ALPN[alpn] };
    const pass = (from: string, to: string, source: TLSSocket, sink: TLSSocket): void => {
      const decoder = new FrameDecoder(LIMITS);
      source.on('data', (bytes: Buffer) => {
        decoder.push(bytes, (frame) => onFrame({ ...common, from, to, frame }));
        if (sink.write(bytes)) return;
        source.pause();
        sink.once('drain', () => source.resume());
      });
      source.on('error', () => {});
      source.on('end', () => sink.end());
      source.on('close', () => sink.destroy());
    };
    pass(dialer.name, target.name, dialing, listening);
    pass(target.name, dialer.name, listening, dialing);
  }
}
