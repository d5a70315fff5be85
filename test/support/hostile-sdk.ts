/** An SDK in the hands of a test, which hosts a service and dials it over one and the same channel. */
import { asReplyTo, contentType, headerId, HeaderWriter, makeFrame, type Frame } from '#wire';
import type { WirePeer } from './wire-peer.ts';

const { edge } = headerId;
const HOST_CONN_ID = 1;
const DIAL_CONN_ID = 2;

/** The id of the circuit; undefined when there is none, which is the control plane's right under load. */
export async function dialOneself(
  peer: WirePeer,
  bindToken: string,
  dialToken: string,
): Promise<string | undefined> {
  const find = (...types: number[]): Frame | undefined =>
    peer.frames.find((frame) => types.includes(frame.contentType));
  try {
    peer.send(bindFrame(bindToken));
    await peer.until(
      'the bind',
      () => find(contentType.bindSuccess, contentType.stateClosed) !== undefined,
      1_000,
    );
    peer.send(connectFrame(dialToken));
    await peer.until('the dial', () => find(contentType.dial, contentType.stateClosed) !== undefined, 1_000);
    const dial = find(contentType.dial);
    if (dial === undefined) return undefined;
    const connId = dial.headers.bytes(edge.routerProvidedConnId) ?? new Uint8Array(4);
    const headers = new HeaderWriter().u32(edge.connId, HOST_CONN_ID);
    peer.send(asReplyTo(dial, makeFrame(contentType.dialSuccess, { headers, body: connId })));
    return dial.headers.text(edge.circuitId);
  } catch {
    return undefined;
  } finally {
    peer.frames.length = 0;
  }
}

export function bindFrame(token: string): Frame {
  const headers = new HeaderWriter()
    .u32(edge.connId, HOST_CONN_ID)
    .bool(edge.routerProvidedConnId, true)
    .bool(edge.supportsBindSuccess, true)
    .bool(edge.useXgressToSdk, true);
  return makeFrame(contentType.bind, { headers, body: token });
}

export function connectFrame(token: string): Frame {
  const headers = new HeaderWriter().u32(edge.connId, DIAL_CONN_ID).bool(edge.useXgressToSdk, true);
  return makeFrame(contentType.connect, { headers, body: token });
}
