/**
 * Keeps edge routers up to date about API sessions: all of them in chunks after the hello, then each change.
 * Routers report the tokens in use, so that those sessions do not expire. Routers verify signed tokens themselves:
 * of their sessions they get only the end, as a revocation of the data model.
 */
import { randomUUID } from 'node:crypto';
import { headerId, HeaderWriter, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { ApiSession, ApiSessions } from '../model/api-sessions.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';

const CHUNK_SESSIONS = 100;
const MAX_HEARTBEAT_TOKENS = 100_000;
/** Minimum interval between two complete sets to one router. */
const MIN_RESYNC_MS = 1_000;

export class SessionFeed {
  readonly #sessions: ApiSessions;
  readonly #routers: RouterRegistry;
  readonly #lastFullMs = new WeakMap<ConnectedRouter, number>();
  readonly #resyncDue = new Set<ConnectedRouter>();

  constructor(sessions: ApiSessions, routers: RouterRegistry) {
    this.#sessions = sessions;
    this.#routers = routers;
    sessions.onAdded((session) => {
      if (!session.isSigned) this.#notify(addedFrame([session], false, true, randomUUID(), 0));
    });
    sessions.onUpdated((session) => {
      if (!session.isSigned) this.#notify(updatedFrame(session));
    });
    sessions.onRemoved(({ id, token, isSigned }) => {
      if (isSigned) return;
      this.#notify(ctrlMessages.apiSessionRemoved.frame({ tokens: [token], ids: [id] }));
    });
  }

  sendAll(router: ConnectedRouter, nowMs: number): void {
    this.#lastFullMs.set(router, nowMs);
    const all = [...this.#sessions.all()].filter(({ isSigned }) => !isSigned);
    const setId = randomUUID();
    let sequence = 0;
    do {
      const chunk = all.slice(sequence * CHUNK_SESSIONS, (sequence + 1) * CHUNK_SESSIONS);
      const isLast = (sequence + 1) * CHUNK_SESSIONS >= all.length;
      router.send(addedFrame(chunk, true, isLast, setId, sequence));
      sequence += 1;
    } while (sequence * CHUNK_SESSIONS < all.length);
  }

  onResyncRequest(router: ConnectedRouter): void {
    this.#resyncDue.add(router);
  }

  onHeartbeat(frame: Frame): void {
    const { tokens } = ctrlMessages.apiSessionHeartbeat.decode(frame.body);
    this.#sessions.touch(tokens.slice(0, MAX_HEARTBEAT_TOKENS));
  }

  tick(nowMs: number): void {
    for (const router of this.#resyncDue) {
      if (nowMs - (this.#lastFullMs.get(router) ?? 0) < MIN_RESYNC_MS) continue;
      this.#resyncDue.delete(router);
      if (this.#routers.isCurrent(router)) this.sendAll(router, nowMs);
    }
  }

  #notify(frame: Frame): void {
    // Each channel numbers its own frames, so every router gets a separate frame.
    for (const router of this.#routers.all()) if (router.hasEdge) router.send({ ...frame });
  }
}

function addedFrame(
  sessions: readonly ApiSession[],
  isFullState: boolean,
  isLast: boolean,
  setId: string,
  sequence: number,
): Frame {
  const body = { isFullState, apiSessions: sessions.map(recordOf) };
  return ctrlMessages.apiSessionAdded.frame(body, syncHeaders(setId, isLast, sequence));
}

function updatedFrame(session: ApiSession): Frame {
  const headers = syncHeaders(randomUUID(), true, 0);
  return ctrlMessages.apiSessionUpdated.frame({ apiSessions: [recordOf(session)] }, headers);
}

function syncHeaders(id: string, isLast: boolean, sequence: number): HeaderWriter {
  return new HeaderWriter()
    .text(headerId.apiSessions.strategy, 'instant')
    .text(headerId.apiSessions.state, JSON.stringify({ id, isLast, sequence }));
}

function recordOf({ token, fingerprints, id, identityId }: ApiSession) {
  return { token, certFingerprints: [...fingerprints], id, identityId };
}
