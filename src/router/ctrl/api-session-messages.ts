/**
 * Handles the controllers' messages about API sessions. A full set is sent in chunks and takes effect once it is
 * complete.
 */
import { FrontdoorError } from '#base';
import { contentType, headerId, type Frame } from '#wire';
import { ctrlMessages, type ApiSessionRecord } from '#wire/ctrl';
import type { ApiSessionRegistry } from './api-session-registry.ts';
import type { Controller, Controllers, CtrlHandlers } from './controllers.ts';

interface UnfinishedSet {
  readonly id: string;
  readonly sessions: ApiSessionRecord[];
}

const MAX_SESSIONS = 10_000_000;

export class ApiSessionMessages {
  readonly #sessions: ApiSessionRegistry;
  /** Incomplete sets by controller. */
  readonly #unfinished = new Map<string, UnfinishedSet>();

  constructor(sessions: ApiSessionRegistry, controllers: Controllers) {
    this.#sessions = sessions;
    controllers.onDisconnected(({ id }) => this.#unfinished.delete(id));
  }

  handlers(): CtrlHandlers {
    return new Map([
      [contentType.apiSessionAdded, (frame, from) => this.#onAdded(frame, from)],
      [
        contentType.apiSessionUpdated,
        (frame: Frame, from: Controller) =>
          this.#sessions.add(ctrlMessages.apiSessionUpdated.decode(frame.body).apiSessions, from.id),
      ],
      [
        contentType.apiSessionRemoved,
        (frame: Frame) => this.#sessions.remove(ctrlMessages.apiSessionRemoved.decode(frame.body).tokens),
      ],
    ]);
  }

  #onAdded(frame: Frame, from: Controller): void {
    const { isFullState, apiSessions } = ctrlMessages.apiSessionAdded.decode(frame.body);
    if (!isFullState) {
      this.#sessions.add(apiSessions, from.id);
      return;
    }
    const { id, isLast } = chunkState(frame);
    let unfinished = this.#unfinished.get(from.id);
    if (unfinished?.id !== id) unfinished = { id, sessions: [] };
    this.#unfinished.set(from.id, unfinished);
    unfinished.sessions.push(...apiSessions);
    if (unfinished.sessions.length > MAX_SESSIONS) {
      throw new FrontdoorError('protocol', 'too-many-sessions', 'the session set never ends');
    }
    if (!isLast) return;
    this.#unfinished.delete(from.id);
    this.#sessions.replaceAll(unfinished.sessions, from.id);
  }
}

/** Header 1014 of a full session set: the id of the set, and whether this chunk is the last one. */
function chunkState(frame: Frame): { id: string; isLast: boolean } {
  try {
    const state: unknown = JSON.parse(frame.headers.text(headerId.apiSessions.state) ?? '{"isLast":true}');
    const { id, isLast } = state as { id?: unknown; isLast?: unknown };
    return { id: typeof id === 'string' ? id : '', isLast: isLast === true };
  } catch (cause) {
    throw new FrontdoorError('protocol', 'malformed-headers', 'malformed session set', { cause });
  }
}
