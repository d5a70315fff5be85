/** Sessions at the console: they begin with a log-in, and belong to the browser that has their cookie. */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '#base';
import { appendAudit, type AuditEntry } from '../audit/mod.ts';
import {
  CONSOLE_IDLE_MS,
  CONSOLE_LIFETIME_MS,
  isRecentProof,
  type ConsolePrincipal,
} from '../shares/operations/mod.ts';
import type { Secrets } from '../secrets/mod.ts';
import {
  endConsoleSession,
  findConsoleSession,
  noteSessionUse,
  openConsoleSession,
  type ConsoleSession,
  type SessionClient,
  type SessionOwner,
} from '../credentials/people/mod.ts';
import { touchResource, type Store, type StoreTransaction, type Touch } from '../store/mod.ts';
import { sessionTokenOf } from './console-cookie.ts';
import { noticeNetwork } from './sign-in-notice.ts';

export interface ConsoleParts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

export interface ConsoleClient {
  readonly address: string;
  /** The `User-Agent`, shortened. */
  readonly browser: string;
  /** Aborted when the answer is done, or nobody waits for it. */
  readonly signal?: AbortSignal | undefined;
}

/** A minute: the times of use are not more exact. */
const USE_INTERVAL_MS = 60_000;

export class ConsoleSessions {
  readonly #parts: ConsoleParts;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
  }

  /** Returns the owner of the session in the request's cookie, or undefined. */
  async principalOf(request: IncomingMessage, isUse: boolean): Promise<ConsolePrincipal | undefined> {
    const session = await this.find(request, isUse);
    if (session === undefined) return undefined;
    const { owner, scopes, credential, provenAtMs, id: sessionId } = session;
    return { ...owner, scopes, credential, provenAtMs, sessionId };
  }

  /** Returns the session of the request's cookie if it is not over, and notes its use, if it is one. */
  async find(request: IncomingMessage, isUse = true): Promise<ConsoleSession | undefined> {
    const { store, secrets, clock } = this.#parts;
    const token = sessionTokenOf(request);
    if (token === undefined) return undefined;
    const nowMs = clock.nowMs();
    const session = await findConsoleSession(store.db, secrets, token, { nowMs, idleMs: CONSOLE_IDLE_MS });
    if (isUse && session !== undefined && nowMs - session.lastUsedAtMs >= USE_INTERVAL_MS)
      await store.transaction((trx) => noteSessionUse(trx, session, nowMs));
    return session;
  }

  /** Begins a session in the transaction of a log-in, and returns its token. The browser's earlier session ends. */
  async open(
    trx: StoreTransaction,
    touch: Touch,
    owner: SessionOwner,
    client: SessionClient,
    earlier: Pick<ConsoleSession, 'id'> | undefined,
  ): Promise<string> {
    const { secrets, clock } = this.#parts;
    const nowMs = clock.nowMs();
    if (earlier !== undefined) await endConsoleSession(trx, earlier.id);
    const times = { nowMs, idleMs: CONSOLE_IDLE_MS, lifetimeMs: CONSOLE_LIFETIME_MS };
    const { id, token } = await openConsoleSession(trx, secrets, owner, client, times);
    const { browser, authProviderId, secondFactor } = client;
    const after = { browser, authProviderId, secondFactor };
    await noticeNetwork(trx, touch, owner, client, nowMs);
    await this.#record(trx, touch, owner, 'consoleLogIn', id, { after, address: client.address });
    return token;
  }

  /** Whether the session may do what needs a log-in of the last 15 minutes. */
  isRecent({ provenAtMs }: ConsoleSession): boolean {
    return isRecentProof(provenAtMs, this.#parts.clock.nowMs());
  }

  async end(session: ConsoleSession, address: string): Promise<void> {
    await this.#parts.store.transaction(async (trx, touch) => {
      if (!(await endConsoleSession(trx, session.id))) return;
      touchResource(touch, { ownerId: null, kind: 'console-session', id: session.id });
      const before = { browser: session.browser };
      await this.#record(trx, touch, session.owner, 'consoleLogOut', session.id, { before, address });
    });
  }

  async #record(
    trx: StoreTransaction,
    touch: Touch,
    { kind, id, organizationId }: SessionOwner,
    action: string,
    sessionId: string,
    more: Pick<AuditEntry, 'before' | 'after' | 'address'>,
  ): Promise<void> {
    const { secrets, clock } = this.#parts;
    const target = { kind: 'console-session', id: sessionId };
    const entry: AuditEntry = { organizationId, actor: { kind, id }, action, target, ...more, result: 'ok' };
    await appendAudit(trx, touch, secrets, entry, clock.nowMs());
  }
}
