/** Handles the frames of an SDK that concern its API session: new tokens, and the posture of the device. */
import type { Channel } from '#net';
import { contentType, messageName, type Frame } from '#wire';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { EdgePeerContext } from './edge-peer-context.ts';
import { TokenSession } from './token-session.ts';
import { answerTokenUpdate } from './token-update.ts';

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
    default:
      // Late DialSuccess frames, probes and inspection answers.
      context.log.debug({ type: messageName(frame.contentType) }, 'edge message ignored');
  }
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
