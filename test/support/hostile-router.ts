/**
 * A router in the hands of a test: enrolled, with a real certificate. Its control channel behaves and accepts every
 * circuit that it is given; what its links do is up to the test.
 */
import { connect, type Socket } from 'node:net';
import { silentLog } from '#base';
import { dialChannel, type Channel } from '#net/channel';
import { enrollRouter } from '#sdk';
import {
  contentType,
  headerId,
  HeaderWriter,
  LATENCY_TYPE,
  makeFrame,
  versionHeader,
  type Frame,
  type FrameHeaders,
} from '#wire';
import { encodeRouteResult } from '#wire/circuits';
import { ctrlMessages, encodeRouterHello } from '#wire/ctrl';
import { until } from './deadline.ts';
import { WirePeer, type WireCredentials } from './wire-peer.ts';

const { channel, linkHello } = headerId;

export interface HostileIdentity {
  readonly id: string;
  readonly credentials: WireCredentials;
  /** PEM of the authority of the other routers' certificates. */
  readonly ca: string;
}

export interface LinkHelloFacts {
  readonly linkId: string;
  readonly routerId: string;
  readonly dialedRouterId?: string;
  readonly binding?: string;
  readonly iteration?: number;
}

export async function enrollHostileRouter(jwt: string): Promise<HostileIdentity> {
  const { id, certPem, keyPem, caPem } = await enrollRouter({ jwt, hosts: ['localhost'] });
  return { id, credentials: { cert: certPem, key: keyPem }, ca: caPem };
}

export function routerHelloHeaders(): FrameHeaders {
  return encodeRouterHello(versionHeader('linux', 'x64'), []);
}

export function linkHelloHeaders(facts: LinkHelloFacts): FrameHeaders {
  const { linkId, routerId, dialedRouterId, binding = '', iteration = 1 } = facts;
  const headers = new HeaderWriter()
    .text(linkHello.connectionId, `of-${linkId}`)
    .text(linkHello.routerId, routerId)
    .text(linkHello.routerVersion, 'v1.7.2')
    .text(linkHello.binding, binding)
    .u32(linkHello.iteration, iteration);
  if (dialedRouterId !== undefined) headers.text(linkHello.dialedRouterId, dialedRouterId);
  return headers.text(linkHello.linkId, linkId).build();
}

export class HostileRouter {
  readonly identity: HostileIdentity;
  /** Circuits that were routed over it, oldest first. */
  readonly circuitIds: string[] = [];
  readonly #channel: Channel;

  private constructor(identity: HostileIdentity, control: Channel) {
    this.identity = identity;
    this.#channel = control;
    control.handle({ onFrame: (frame) => this.#onFrame(frame) });
  }

  static async connect(identity: HostileIdentity, controlPort: number): Promise<HostileRouter> {
    const control = await dialChannel({
      host: 'localhost',
      port: controlPort,
      tls: { ...identity.credentials, ca: identity.ca },
      alpn: 'ziti-ctrl',
      helloId: identity.id,
      helloHeaders: routerHelloHeaders(),
      timeoutMs: 30_000,
      heartbeat: { sendIntervalMs: 5_000, closeAfterMs: 30_000 },
      log: silentLog,
    });
    return new HostileRouter(identity, control);
  }

  /** A link that its listener took in: the first probe was answered. It is not reported yet. */
  async link(port: number, facts: Omit<LinkHelloFacts, 'routerId'>): Promise<WirePeer> {
    const { id, credentials } = this.identity;
    const peer = await WirePeer.open({ port, alpn: 'ziti-link', credentials });
    const answer = await peer.hello(facts.linkId, linkHelloHeaders({ ...facts, routerId: id }));
    if (answer?.headers.bool(channel.resultSuccess) !== true) throw new Error('the link was refused');
    await peer.ask(makeFrame(LATENCY_TYPE));
    peer.frames.length = 0;
    return peer;
  }

  /** Reports the link, so that controllers may route circuits over it. */
  report(linkId: string, destRouterId: string, iteration = 1): void {
    const link = { id: linkId, destRouterId, linkProtocol: 'tls', dialAddress: 'tls:localhost:1', iteration };
    this.#channel.send(ctrlMessages.routerLinks.frame({ links: [link], fullRefresh: false }));
  }

  /** Connects to a listener whose service ends at this router, until a circuit comes of it. */
  async lure(
    port: number,
    timeoutMs = 30_000,
  ): Promise<{ readonly client: Socket; readonly circuitId: string }> {
    const before = this.circuitIds.length;
    let client: Socket | undefined;
    try {
      await until(
        'a circuit over the hostile router',
        () => {
          // A reset means that the controller has no path to this router yet.
          if (client?.destroyed !== false)
            client = connect({ host: '127.0.0.1', port, noDelay: true }).on('error', () => {});
          return this.circuitIds.length;
        },
        (count) => count > before,
        timeoutMs,
      );
    } catch (error) {
      client?.destroy();
      throw error;
    }
    return { client: client!, circuitId: this.circuitIds.at(-1)! };
  }

  close(): void {
    this.#channel.close('the test ends');
  }

  #onFrame(frame: Frame): void {
    if (frame.contentType !== contentType.route) return;
    const { circuitId, attempt } = ctrlMessages.route.decode(frame.body);
    this.circuitIds.push(circuitId);
    const result = { circuitId, attempt, isSuccess: true, error: '', errorCode: 0, peerData: new Map() };
    this.#channel.send(encodeRouteResult(frame, result));
  }
}
