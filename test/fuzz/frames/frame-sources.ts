/**
 * The attackers of each listener: a router on links, an SDK on the edge, a controller at the router, a router at the
 * control plane. Each has a true hello of its own and, where it can have them, circuits of its own, so that what is
 * changed at random gets past the first checks.
 */
import { randomBytes } from 'node:crypto';
import { base62 } from '#base';
import {
  contentType,
  encodeFrame,
  FrameDecoder,
  headerId,
  makeHello,
  versionHeader,
  type Frame,
  type FrameHeaders,
} from '#wire';
import {
  decodeAcknowledgement,
  decodePayload,
  encodeAcknowledgement,
  encodePayloadHead,
  PayloadFrame,
} from '#wire/xgress';
import { ctrlMessages, encodeControllerHello } from '#wire/ctrl';
import { recordedFrames, recordedHellos } from '../../support/frame-mutation.ts';
import { linkHelloHeaders, routerHelloHeaders } from '../../support/hostile-router.ts';
import { bindFrame, connectFrame, dialOneself } from '../../support/hostile-sdk.ts';
import { edgeHelloHeaders, WirePeer } from '../../support/wire-peer.ts';
import type { AttackSource } from './frame-attack.ts';
import type { FrameFuzzMesh } from './frame-fuzz-mesh.ts';

const { channel } = headerId;

/** A listener, and the peers that attack it at the same time. */
export interface FrameTarget {
  readonly name: string;
  readonly workers: readonly AttackSource[];
}

export async function frameTargets(mesh: FrameFuzzMesh, workers: number): Promise<FrameTarget[]> {
  const indexes = Array.from({ length: workers }, (_, at) => at);
  return [
    { name: 'link listener of the router', workers: indexes.map((at) => linkSource(mesh, at)) },
    { name: 'edge listener of the router', workers: indexes.map(() => edgeSource(mesh)) },
    {
      name: 'ctrl listener of the router',
      workers: await Promise.all(indexes.map((at) => controllerSource(mesh, `fuzz-${at}`))),
    },
    { name: 'ctrl listener of the control plane', workers: indexes.map((at) => routerSource(mesh, at)) },
  ];
}

/** The first worker's link is reported, and a circuit led over it. */
function linkSource({ ports, hostile, target }: FrameFuzzMesh, worker: number): AttackSource {
  const linkId = base62(randomBytes(16));
  const facts = { linkId, dialedRouterId: target.id, binding: `fuzz-${worker}` };
  const hello = linkHelloHeaders({ ...facts, routerId: hostile.identity.id });
  const frames = recordedFrames('link');
  let iteration = 0;
  return {
    port: ports.link,
    alpn: 'ziti-link',
    credentials: hostile.identity.credentials,
    hellos: [...recordedHellos('link'), ...repeated(encodeFrame(makeHello(linkId, hello)))],
    frames,
    maxBodyBytes: 16 << 20,
    isMessage: () => true,
    open: async () => {
      iteration += 1;
      const peer = await hostile.link(ports.link, { ...facts, iteration });
      if (worker > 0) return { peer, frames };
      hostile.report(linkId, target.id, iteration);
      // A link that was just lost may still be thought of as the way.
      const lured = await hostile.lure(ports.trap, 500).catch(() => undefined);
      if (lured === undefined) return { peer, frames };
      peer.socket.once('close', () => lured.client.destroy());
      return { peer, frames: withCircuits(frames, [lured.circuitId]) };
    },
  };
}

/** The SDK dials its own service on the channel that hosts it. */
function edgeSource({ ports, edge: sdk }: FrameFuzzMesh): AttackSource {
  const headers = edgeHelloHeaders(sdk.sessionToken);
  const own = [bindFrame(sdk.bindToken), connectFrame(sdk.dialToken)].map(encodeFrame);
  const frames = [...recordedFrames('edge'), ...own.flatMap((frame) => repeated(frame, 4))];
  return {
    port: ports.edge,
    alpn: 'ziti-edge',
    credentials: sdk.credentials,
    hellos: [...recordedHellos('edge'), ...repeated(encodeFrame(makeHello(sdk.id, headers)))],
    frames,
    maxBodyBytes: 16 << 20,
    isMessage: () => true,
    open: async () => {
      const peer = await openPeer(ports.edge, 'ziti-edge', sdk, headers);
      if (peer === undefined) return undefined;
      const circuitId = await dialOneself(peer, sdk.bindToken, sdk.dialToken);
      return { peer, frames: circuitId === undefined ? frames : withCircuits(frames, [circuitId]) };
    },
  };
}

async function controllerSource({ ports, authority }: FrameFuzzMesh, id: string): Promise<AttackSource> {
  const credentials = await authority.issue(id, { uris: [`spiffe://fuzz/controller/${id}`] });
  const headers = encodeControllerHello(versionHeader('linux', 'x64'), []);
  const frames = recordedFrames('ctrl').filter((frame) => !MOVING_TYPES.has(typeOf(frame)));
  return {
    port: ports.routerCtrl,
    alpn: 'ziti-ctrl',
    credentials,
    hellos: [...recordedHellos('ctrl'), ...repeated(encodeFrame(makeHello(id, headers)))],
    frames,
    maxBodyBytes: 64 << 20,
    isMessage: isCtrlMessage,
    open: async () => {
      const peer = await openPeer(ports.routerCtrl, 'ziti-ctrl', { id, credentials }, headers);
      return peer === undefined ? undefined : { peer, frames };
    },
  };
}

function routerSource({ ports, idleRouters }: FrameFuzzMesh, worker: number): AttackSource {
  const { id, credentials } = idleRouters[worker]!;
  const headers = routerHelloHeaders();
  const frames = recordedFrames('ctrl');
  return {
    port: ports.controlPlane,
    alpn: 'ziti-ctrl',
    credentials,
    hellos: [...recordedHellos('ctrl'), ...repeated(encodeFrame(makeHello(id, headers)))],
    frames,
    maxBodyBytes: 64 << 20,
    isMessage: isCtrlMessage,
    open: async () => {
      const peer = await openPeer(ports.controlPlane, 'ziti-ctrl', { id, credentials }, headers);
      return peer === undefined ? undefined : { peer, frames };
    },
  };
}

/** Undefined: refused; the channel before may still be on its way out. */
async function openPeer(
  port: number,
  alpn: string,
  { id, credentials }: Pick<FrameFuzzMesh['edge'], 'id' | 'credentials'>,
  headers: FrameHeaders,
): Promise<WirePeer | undefined> {
  const peer = await WirePeer.open({ port, alpn, credentials });
  const answer = await peer.hello(id, headers);
  peer.frames.length = 0;
  if (answer?.headers.bool(channel.resultSuccess) === true) return peer;
  peer.close();
  return undefined;
}

/** Controllers may send a router elsewhere, and it goes: what follows would be no test now. */
const MOVING_TYPES: ReadonlySet<number> = new Set([
  contentType.settings,
  contentType.updateCtrlAddresses,
  contentType.updateClusterLeader,
]);

const CTRL_CODECS = new Map(Object.values(ctrlMessages).map((codec) => [codec.contentType, codec]));

function isCtrlMessage({ contentType: type, body }: Frame): boolean {
  try {
    CTRL_CODECS.get(type)?.decode(body);
    return true;
  } catch {
    return false;
  }
}

function typeOf(frame: Uint8Array): number {
  return new DataView(frame.buffer, frame.byteOffset).getInt32(4, true);
}

function repeated(frame: Uint8Array, times = 8): Uint8Array[] {
  return Array.from({ length: times }, () => frame);
}

/** Returns as many frames again, for these circuits. */
function withCircuits(frames: readonly Uint8Array[], circuitIds: readonly string[]): Uint8Array[] {
  const own = circuitIds.flatMap((id) => frames.flatMap((frame) => ofCircuit(frame, id) ?? []));
  return [...frames, ...own];
}

function ofCircuit(bytes: Uint8Array, circuitId: string): Uint8Array | undefined {
  const frames: Frame[] = [];
  const decoder = new FrameDecoder({ maxHeadersBytes: 65_536, maxBodyBytes: 1 << 20 });
  decoder.push(bytes.slice(), (frame) => void frames.push(frame));
  const [frame] = frames;
  if (frame === undefined) return undefined;
  if (frame.contentType === contentType.control) {
    const body = Buffer.concat([frame.body.subarray(0, 1), Buffer.from(circuitId)]);
    return encodeFrame({ ...frame, body });
  }
  const data =
    frame.contentType === contentType.payload
      ? decodePayload(frame)
      : frame.contentType === contentType.acknowledgement
        ? decodeAcknowledgement(frame)
        : undefined;
  if (data === undefined) return undefined;
  data.circuitId = circuitId;
  return data instanceof PayloadFrame ? payloadBytes(data) : encodeAcknowledgement(data, 1);
}

function payloadBytes(payload: PayloadFrame): Uint8Array {
  return Buffer.concat([encodePayloadHead(payload, 1), payload.data]);
}
