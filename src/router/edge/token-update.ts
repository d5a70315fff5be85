/**
 * Answers UpdateToken, by which an SDK replaces the token of its session before it expires. A refused token leaves the
 * channel as it is: it ends with its own token.
 */
import type { Log } from '#base';
import type { Channel } from '#net/channel';
import { contentType, makeFrame, textOfBody, type Frame } from '#wire';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import { TokenSession } from './token-session.ts';
import type { TokenSessions } from './token-sessions.ts';

/** Channels whose update is being checked: one at a time. */
const pending = new WeakSet<Channel>();

/** Never rejects. */
export async function answerTokenUpdate(
  frame: Frame,
  channel: Channel,
  session: KnownApiSession,
  context: { readonly tokenSessions: Pick<TokenSessions, 'renew'>; readonly log: Log },
): Promise<void> {
  const fault = await updateFault(textOfBody(frame), channel, session, context.tokenSessions);
  const fields = { identity: session.identityId, peer: channel.peer.address };
  if (fault === undefined) {
    context.log.info(fields, 'API session token replaced');
    channel.reply(frame, makeFrame(contentType.updateTokenSuccess));
    return;
  }
  context.log.warn({ ...fields, reason: fault }, 'API session token refused');
  channel.reply(frame, makeFrame(contentType.updateTokenFailure, { body: fault }));
}

async function updateFault(
  token: string,
  channel: Channel,
  session: KnownApiSession,
  sessions: Pick<TokenSessions, 'renew'>,
): Promise<string | undefined> {
  if (!(session instanceof TokenSession)) return 'the session of this channel is not one with a token';
  if (pending.has(channel)) return 'another token is being checked';
  pending.add(channel);
  try {
    return await sessions.renew(session, token);
  } finally {
    pending.delete(channel);
  }
}
