/**
 * The listener of links that a router under test dials: a server that answers hellos and keeps the frames
 * that arrive.
 */
import { once } from 'node:events';
import * as tls from 'node:tls';
import { acceptHello, CHANNEL_HEADERS, contentType, encodeFrame, FrameDecoder, type Frame } from '#wire';
import { encodePayloadHead, PayloadFrame } from '#wire/xgress';
import { PeerState, type CtrlInit } from '#wire/ctrl';
import type { TestIdentity } from './certificates.ts';
import { until } from './deadline.ts';

export class LinkPeer {
  readonly id: string;
  /** Hellos of the links, oldest first. */
  readonly hellos: Frame[] = [];
  /** Everything else, heartbeats too. */
  readonly frames: Frame[] = [];
  readonly #server: tls.Server;
  readonly #sockets = new Set<tls.TLSSocket>();
  #sequence = 0;

  private constructor(id: string, server: tls.Server) {
    this.id = id;
    this.#server = server;
  }

  /** `isSilent`: it answers no hello. */
  static async open(id: string, identity: TestIdentity, isSilent = false): Promise<LinkPeer> {
    const server = tls.createServer({
      ...identity,
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: ['ziti-link'],
    });
    const peer = new LinkPeer(id, server);
    server.on('secureConnection', (socket) => peer.#onSocket(socket, isSilent));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return peer;
  }

  /** Connections that stand. */
  get connectionCount(): number {
    return this.#sockets.size;
  }

  get linkId(): string {
    return Buffer.from(this.hellos[0]!.body).toString();
  }

  get heartbeatCount(): number {
    return this.frames.filter(({ headers }) => headers.has(CHANNEL_HEADERS.heartbeat)).length;
  }

  /** Its entry in a controller's list of routers. */
  get news(): CtrlInit<'peerStateChanges'> {
    const { port } = this.#server.address() as { port: number };
    const listeners = [{ address: `tls:127.0.0.1:${port}`, protocol: 'tls', groups: ['default'] }];
    return { changes: [{ id: this.id, version: 'v1.7.2', state: PeerState.HEALTHY, listeners }] };
  }

  async linked(count = 1): Promise<void> {
    await until(
      `${count} links to ${this.id}`,
      () => this.hellos.length,
      (length) => length >= count,
    );
  }

  /** Over every link. */
  sendPayload(circuitId: string, sequence: number, flags: number, data: Uint8Array): void {
    this.#sequence += 1;
    const payload = new PayloadFrame(circuitId, sequence, flags, data);
    for (const socket of this.#sockets) {
      socket.write(encodePayloadHead(payload, this.#sequence));
      socket.write(data);
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #onSocket(socket: tls.TLSSocket, isSilent: boolean): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket));
    if (isSilent) return;
    const decoder = new FrameDecoder({ maxHeadersBytes: 65_536, maxBodyBytes: 1 << 20 });
    socket.on('data', (chunk: Buffer) => {
      decoder.push(chunk, (frame) => {
        if (frame.contentType === contentType.hello) {
          this.hellos.push({ ...frame, body: frame.body.slice() });
          socket.write(encodeFrame(acceptHello(frame, { connectionId: 'c', ownId: this.id })));
        } else this.frames.push({ ...frame, body: frame.body.slice() });
      });
    });
  }
}
