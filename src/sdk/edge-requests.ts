/** The messages with which a client asks a router for a circuit, or to host a service. */
import { HeaderWriter, headerId, makeFrame, contentType, type Frame } from '#wire';
import type { ChannelBind, ChannelDial } from './edge-channel-options.ts';
import { STANDBY_MARK } from './standby-mark.ts';
import { PRECEDENCE, type TerminatorOptions, type TerminatorRank } from './terminator-options.ts';

const { edge } = headerId;

/** `publicKey` is the dialer's key for end-to-end encryption. */
export function connectFrame(dial: ChannelDial, connId: number, publicKey: Uint8Array): Frame {
  const headers = new HeaderWriter()
    .u32(edge.connId, connId)
    .bytes(edge.publicKey, publicKey)
    .text(edge.callerId, dial.callerId)
    .bool(edge.useXgressToSdk, true);
  const appData = dial.isStandby === true ? STANDBY_MARK : dial.appData;
  if (appData !== undefined) headers.bytes(edge.appData, appData);
  if (dial.terminator !== undefined) headers.text(edge.terminatorIdentity, dial.terminator);
  return makeFrame(contentType.connect, { headers, body: dial.token });
}

/** Without `publicKey`, circuits are in clear. With `isLowered`, this host is used after all others. */
export function bindFrame(
  bind: ChannelBind,
  listenerId: string,
  publicKey: Uint8Array | undefined,
  isLowered: boolean,
): Frame {
  const headers = new HeaderWriter()
    .u32(edge.connId, bind.connId)
    .bool(edge.routerProvidedConnId, true)
    .text(edge.listenerId, listenerId)
    .bool(edge.supportsBindSuccess, true)
    .bool(edge.useXgressToSdk, true);
  if (publicKey !== undefined) headers.bytes(edge.publicKey, publicKey);
  addTerminator(headers, bind.terminator ?? {}, isLowered);
  return makeFrame(contentType.bind, { headers, body: bind.token });
}

/** Changes cost and precedence of a bind, as far as they are given. */
export function updateFrame(bind: ChannelBind, { cost, precedence }: TerminatorRank): Frame {
  const headers = new HeaderWriter().u32(edge.connId, bind.connId);
  if (cost !== undefined) headers.u16(edge.cost, cost);
  if (precedence !== undefined) headers.u8(edge.precedence, PRECEDENCE[precedence]);
  return makeFrame(contentType.updateBind, { headers, body: bind.token });
}

function addTerminator(
  headers: HeaderWriter,
  { identity, secret, cost, precedence }: TerminatorOptions,
  isLowered: boolean,
): void {
  if (identity !== undefined) headers.text(edge.terminatorIdentity, identity);
  if (secret !== undefined) headers.bytes(edge.terminatorIdentitySecret, secret);
  if (cost !== undefined) headers.u16(edge.cost, cost);
  const applied = isLowered ? 'failed' : precedence;
  if (applied !== undefined) headers.u8(edge.precedence, PRECEDENCE[applied]);
}

export function healthFrame(bind: ChannelBind, passed: boolean): Frame {
  const headers = new HeaderWriter().u32(edge.connId, bind.connId).bool(edge.healthStatus, passed);
  return makeFrame(contentType.edgeHealthEvent, { headers, body: bind.token });
}

/** The host's answer to a dial that it refuses. */
export function dialFailedFrame(bindConnId: number, reason: string, routeCode: number): Frame {
  const headers = new HeaderWriter().u32(edge.connId, bindConnId).u8(headerId.ctrl.routeErrorCode, routeCode);
  return makeFrame(contentType.dialFailed, { headers, body: reason || 'refused' });
}
