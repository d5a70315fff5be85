/**
 * An SDK at the first of two linked routers. Circuits that it dials end at the second router, and services that it
 * hosts are dialed from there.
 */
import type { TestContext } from 'node:test';
import { silentLog } from '#base';
import { SummedLog } from '#net';
import { openMemoryChannel, type Channel, type ChannelPeer } from '#net/channel';
import { contentType, FrameHeaders, HeaderWriter, headerId, makeFrame, type Frame } from '#wire';
import { encodeCircuitCreated, type PeerData } from '#wire/circuits';
import { PAYLOAD_TYPE, type DataFrame, type PayloadFrame } from '#wire/xgress';
import { within } from '../../../../test/support/deadline.ts';
import type { XgressConfig } from '../../config/router-config.ts';
import { XGRESS_CONFIG_DEFAULTS } from '../../config/testing/router-config-defaults.ts';
import { CircuitAsker } from '../../ctrl/circuit-asker.ts';
import type { MemoryLink, MemoryLinkOptions } from '../../forwarder/testing/memory-link.ts';
import { MemoryMesh, type MemoryRouter } from '../../forwarder/testing/memory-mesh.ts';
import { edgeDialer } from '../edge-dialer.ts';
import type { EdgePeerContext } from '../edge-peer-context.ts';
import { EdgePeer } from '../edge-peer.ts';
import type { EdgeTerminator } from '../edge-terminator-registry.ts';

const { edge } = headerId;
export const FIN = 1;

export class Sdk {
  readonly channel: Channel;
  readonly frames: Frame[] = [];
  readonly data: DataFrame[] = [];

  constructor(channel: Channel) {
    this.channel = channel;
    channel.handle({
      onFrame: (frame) => void this.frames.push(frame),
      onData: (frame) => void this.data.push(frame),
    });
  }

  async connect(
    connId: number,
    takesXgress = false,
    publicKey?: Uint8Array,
    token = 'session',
  ): Promise<Frame> {
    const headers = new HeaderWriter().u32(edge.connId, connId).bool(edge.useXgressToSdk, takesXgress);
    if (publicKey !== undefined) headers.bytes(edge.publicKey, publicKey);
    return this.channel.request(makeFrame(contentType.connect, { headers, body: token }), 30_000);
  }

  send(connId: number, body: Uint8Array, isEnd = false): void {
    const headers = new HeaderWriter().u32(edge.connId, connId).u32(edge.flags, isEnd ? FIN : 0);
    this.channel.send(makeFrame(contentType.data, { headers, body }));
  }

  closed(connId: number): void {
    this.channel.send(
      makeFrame(contentType.stateClosed, { headers: new HeaderWriter().u32(edge.connId, connId) }),
    );
  }

  received(): Frame[] {
    return this.frames.filter((frame) => frame.contentType === contentType.data);
  }
}

export interface EdgeWorld {
  readonly mesh: MemoryMesh;
  readonly near: MemoryRouter;
  readonly far: MemoryRouter;
  readonly link: MemoryLink;
  readonly sdk: Sdk;
  readonly payloads: PayloadFrame[];
  /** Sends a Data frame whose body arrives in parts of this length. */
  sendParts(connId: number, body: Uint8Array, partBytes: number): void;
  /** Ends a service session, as a controller does. */
  endServiceSession(token: string): void;
  /** Drains like a router that is asked to stop. */
  drain(): void;
  /** Forgets the hosted terminator, or has another bind under its id, as the registry does when a channel ends. */
  endBind(successor: 'none' | 'another'): void;
}

/** `hostData` is the peer data of the hosts at both routers. */
export function makeEdgeWorld(
  t: TestContext,
  xgress: Partial<XgressConfig> = {},
  link: MemoryLinkOptions = {},
  sdkHello = FrameHeaders.empty,
  hostData: PeerData = new Map(),
): EdgeWorld {
  const mesh = new MemoryMesh(2);
  t.after(() => mesh.close());
  const payloads: PayloadFrame[] = [];
  const memoryLink = mesh.link(0, 1, {
    ...link,
    onData: (frame) => void (frame.contentType === PAYLOAD_TYPE && payloads.push(frame)),
  });
  const [near, far] = mesh.routers as [MemoryRouter, MemoryRouter];
  let count = 0;
  near.controller.answers.set(contentType.createCircuitV2, (request, channel) => {
    const circuitId = `c${(count += 1)}`;
    void mesh.route(circuitId, [0, 1], 0).then(() => {
      const created = { circuitId, address: `${circuitId}-in`, peerData: hostData, tags: new Map() };
      channel.send(encodeCircuitCreated(request, created));
    });
  });
  const bound = new Map<string, EdgeTerminator>();
  const context: EdgePeerContext = {
    log: silentLog,
    summedLog: new SummedLog(silentLog),
    forwarder: near.forwarder,
    terminators: { byId: (id: string) => bound.get(id) } as unknown as EdgePeerContext['terminators'],
    asker: new CircuitAsker(near.controllers),
    grants: undefined!,
    tokenSessions: undefined!,
    sendToControllers: () => true,
    reportFault: (...fault) => near.faults.onCircuitClosed(...fault),
    ends: near.ends,
    xgress: { ...XGRESS_CONFIG_DEFAULTS, ...xgress },
  };
  const peer = (id: string): ChannelPeer => ({
    id,
    hello: id === 'sdk' ? sdkHello : FrameHeaders.empty,
    fingerprint: 'ff',
    address: 'memory',
  });
  const [dialer, listener] = openMemoryChannel(
    { id: 'x', log: silentLog, peer: peer('router') },
    { id: 'x', log: silentLog, peer: peer('sdk') },
  );
  const session = {
    id: 's',
    token: 'token',
    identityId: 'me',
    fingerprints: ['ff'],
  } as unknown as EdgePeer['session'];
  const edgePeer = new EdgePeer(listener, session, context);
  listener.handle({
    onFrame: (frame) => edgePeer.onFrame(frame),
    onData: (frame) => edgePeer.onData(frame),
    onBodyPart: (part) => edgePeer.onBodyPart(part),
    onDrain: () => edgePeer.onDrain(),
    onClose: () => edgePeer.onClosed(),
  });
  const terminator = {
    id: 'hosted',
    token: Buffer.from('bind token'),
    tokenText: 'bind token',
    connId: 7,
    channel: listener,
    takesConnId: true,
    takesXgress: false,
    peerData: hostData,
  } as unknown as EdgeTerminator;
  bound.set('hosted', terminator);
  const terminators = { hostFor: (id: string) => (id === 'hosted' ? terminator : undefined) };
  near.dialers.add('edge', edgeDialer({ terminators, peerOf: () => edgePeer, config: context.xgress }));
  return {
    mesh,
    near,
    far,
    link: memoryLink,
    sdk: new Sdk(dialer),
    payloads,
    sendParts: (connId, body, partBytes) => {
      const frame = makeFrame(contentType.data, { headers: new HeaderWriter().u32(edge.connId, connId) });
      for (let at = 0; at < body.length; at += partBytes) {
        const bytes = body.subarray(at, at + partBytes);
        listener.receiveBodyPart({ frame, bodyBytes: body.length, at, bytes });
      }
    },
    endServiceSession: (token) => edgePeer.endServiceSessions(new Set([token])),
    drain: () => edgePeer.announceStop(),
    endBind: (successor) =>
      void (successor === 'none' ? bound.delete('hosted') : bound.set('hosted', { ...terminator })),
  };
}

/** Resolves with all data that the service of a circuit receives. */
export function textAt(far: MemoryRouter, circuitId: string): Promise<Buffer> {
  const service = far.services.get(circuitId)!;
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  service.on('data', (chunk: Buffer) => void chunks.push(chunk));
  service.on('end', () => resolve(Buffer.concat(chunks)));
  return within('the end', promise);
}
