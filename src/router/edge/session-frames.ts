/**
 * Handles the frames of an SDK that concern its API session, new tokens and the posture of the device, and refuses
 * dials without a service session.
 */
import type { Channel } from '#net/channel';
import { contentType, headerId, messageName, type Frame } from '#wire';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import { stateClosed } from './edge-circuit.ts';
import type { EdgePeerContext } from './edge-peer-context.ts';
import { TokenSession } from './token-session.ts';
import { answerTokenUpdate } from './token-update.ts';

const NO_DIRECT_DIALS = 'this router does not offer ConnectV2: dial with a service session';

type SessionContext = Pick<EdgePeerContext, 'log' | 'tokenSessions'>;

export function onSessionFrame(
  frame: Frame,
  channel: Channel,
  session: KnownApiSession,
  context: SessionContext,
): void {
  switch (frame.contentType) {
    case contentType.updateToken:
      void answerTokenUpdate(frame, channel, session, context);
      return;
    case contentType.postureResponse:
      // Controllers get the posture of sessions that they announce.
      if (session instanceof TokenSession) void keepPosture(frame, session, context);
      return;
    case contentType.connectV2:
      refuseDirectDial(frame, channel);
      return;
    default:
      // Late DialSuccess frames, probes and inspection answers.
      context.log.debug({ type: messageName(frame.contentType) }, 'edge message ignored');
  }
}

/** SDKs send it only to routers with the capability, which this one does not state (ADR 0042). */
function refuseDirectDial(frame: Frame, channel: Channel): void {
  const connId = frame.headers.u32(headerId.edge.connId);
  if (connId !== undefined) channel.reply(frame, stateClosed(connId, NO_DIRECT_DIALS));
}

/** The message has no answer. */
async function keepPosture(
  { body }: Frame,
  session: TokenSession,
  { tokenSessions, log }: SessionContext,
): Promise<void> {
  const reason = await tokenSessions.report(session, body);
  if (reason !== undefined) log.debug({ identity: session.identityId, reason }, 'posture report refused');
}
