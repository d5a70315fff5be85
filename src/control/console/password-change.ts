/**
 * How people replace their password: with the one that they have, or with a link of an administrator when they have forgotten
 * it. Either ends their other sessions; a second factor stays, and is asked for at the next log-in.
 */
import { appendAudit } from '../audit/mod.ts';
import { PasswordQueueFull } from '../credentials/passwords/mod.ts';
import {
  endSessionsOfOwner,
  findPasswordLink,
  isLinkOf,
  lockPerson,
  passwordOf,
  putPersonPassword,
  renewSessionToken,
  replacePersonPassword,
  type ConsoleSession,
  type LinkedPerson,
  type SessionOwner,
} from '../credentials/people/mod.ts';
import { touchResource, type StoreTransaction, type Touch } from '../store/mod.ts';
import type { RuleParts } from '../credentials/accounts/mod.ts';
import type { Begun, ConsoleLogIn, NotProven } from './console-log-in.ts';
import type { ConsoleClient, ConsoleParts, ConsoleSessions } from './console-sessions.ts';
import { recordRefusedLogIn, type LogInRefusals } from './log-in-refusals.ts';
import { passwordProblem, type PasswordProblem } from './password-rule.ts';
import type { SecondFactorLogIn } from './second-factor-log-in.ts';
import { storeHashed } from './stored-password.ts';

export interface PasswordChangeParts extends ConsoleParts {
  readonly logIn: Pick<ConsoleLogIn, 'prove'>;
  readonly sessions: Pick<ConsoleSessions, 'open'>;
  readonly secondFactor: Pick<SecondFactorLogIn, 'begin'>;
  readonly refusals: LogInRefusals;
  readonly rule: () => RuleParts;
}

type Unfit = { readonly problem: 'unfit'; readonly why: PasswordProblem };
type Later = Extract<NotProven, { readonly problem: 'later' }>;

export type PasswordChanged =
  /** The session's new token; undefined if someone has ended the session in the meantime. */
  { readonly token: string | undefined } | NotProven | Unfit;

export type LinkUsed =
  | Begun
  | Unfit
  | Later
  /** The code is wrong, was used, or has expired. */
  | { readonly problem: 'unknown' };

export class PasswordChange {
  readonly #parts: PasswordChangeParts;

  constructor(parts: PasswordChangeParts) {
    this.#parts = parts;
  }

  /** Returns the e-mail address that a password of the session's owner belongs to, or undefined. */
  async emailOf({ kind, id }: SessionOwner): Promise<string | undefined> {
    return kind === 'person' ? (await passwordOf(this.#parts.store.db, id))?.email : undefined;
  }

  /** Wrong current passwords count as those of log-ins do, and lock the password like these. */
  async change(
    { id: sessionId, owner, name }: ConsoleSession,
    email: string,
    { current, password }: { readonly current: string; readonly password: string },
    client: ConsoleClient,
  ): Promise<PasswordChanged> {
    const { store, clock, secrets, logIn } = this.#parts;
    const why = current === password ? 'is-the-same' : passwordProblem(password, [name, email]);
    if (why !== undefined) return { problem: 'unfit', why };
    const form = { name: email, password: current, only: { personId: owner.id } };
    const proven = await logIn.prove(form, client, 'changePassword');
    if ('problem' in proven) return proven;
    const wanted = { email, password, personId: owner.id };
    const stored = storeHashed(store, wanted, async (passwordHash, trx, touch): Promise<PasswordChanged> => {
      const former = proven.passwordHash;
      const next = { personId: owner.id, email, passwordHash };
      const isStill =
        former !== undefined &&
        (await lockPerson(trx, owner.id)) !== undefined &&
        (await replacePersonPassword(trx, next, former, clock.nowMs()));
      if (!isStill) return { problem: 'wrong' };
      await endSessionsOfOwner(trx, owner, sessionId);
      const token = await renewSessionToken(trx, secrets, { id: sessionId, personId: owner.id });
      await this.#record(trx, touch, owner, 'changePassword', client);
      return { token };
    });
    return stored.catch(laterOf);
  }

  /** Returns whose link has the code, which stays valid. */
  async linkOf(code: string, { address }: ConsoleClient): Promise<LinkedPerson | undefined> {
    const { store, secrets, clock, refusals } = this.#parts;
    const found = await findPasswordLink(store.db, secrets, code, clock.nowMs());
    if (found === undefined)
      recordRefusedLogIn(refusals, { reason: 'unknown_code', address, action: 'usePasswordLink' });
    return found;
  }

  /** Uses the link up, sets the password, and begins a session or the step before it. Of several attempts one succeeds. */
  async useLink(
    { id, name, email }: LinkedPerson,
    { code, password }: { readonly code: string; readonly password: string },
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<LinkUsed> {
    const { store, clock, secrets, sessions, secondFactor, rule } = this.#parts;
    const why = passwordProblem(password, [name, email]);
    if (why !== undefined) return { problem: 'unfit', why };
    const wanted = { email, password, personId: id };
    const stored = storeHashed(store, wanted, async (passwordHash, trx, touch): Promise<LinkUsed> => {
      const person = await lockPerson(trx, id);
      if (person === undefined || !(await isLinkOf(trx, secrets, code, person, rule())))
        return { problem: 'unknown' };
      const owner: SessionOwner = { kind: 'person', id, organizationId: person.organizationId };
      await putPersonPassword(trx, { personId: id, email, passwordHash }, clock.nowMs());
      await endSessionsOfOwner(trx, { kind: 'person', id }, undefined);
      await this.#record(trx, touch, owner, 'usePasswordLink', client);
      const step = await secondFactor.begin(trx, owner);
      return step ?? { token: await sessions.open(trx, touch, owner, client, earlier) };
    });
    return stored.catch(laterOf);
  }

  async #record(
    trx: StoreTransaction,
    touch: Touch,
    { id, organizationId }: SessionOwner,
    action: 'changePassword' | 'usePasswordLink',
    { address }: ConsoleClient,
  ): Promise<void> {
    const { secrets, clock } = this.#parts;
    const who = { kind: 'person', id } as const;
    // Streams of the sessions that have ended look at them.
    touchResource(touch, { ownerId: null, ...who });
    const entry = { organizationId, actor: who, action, target: who, address, result: 'ok' } as const;
    await appendAudit(trx, touch, secrets, entry, clock.nowMs());
  }
}

function laterOf(error: unknown): Later {
  if (!(error instanceof PasswordQueueFull)) throw error;
  return { problem: 'later', afterMs: error.retryAfterSeconds * 1_000 };
}
