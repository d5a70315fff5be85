/**
 * How people and API accounts log in at the console, and how an invitation makes a person. Wrong names, wrong passwords
 * and unknown codes are refused alike, and take the same time.
 */
import { isUuid } from '#domain';
import { appendAudit } from '../audit/mod.ts';
import type { LoginFailures } from '../oauth/mod.ts';
import { hashPassword, isPasswordOf, PasswordQueueFull } from '../policy/mod.ts';
import {
  countPersonAttempt,
  endPersonAttempts,
  findInvitationByCode,
  findPerson,
  findPersonPassword,
  insertPerson,
  provenBySecret,
  putPersonPassword,
  takeInvitation,
  type AccessDirectory,
  type ConsoleSession,
  type InvitationRecord,
  type SessionOwner,
} from '../store/mod.ts';
import type { ConsoleClient, ConsoleParts, ConsoleSessions } from './console-sessions.ts';
import { MAX_PASSWORD_CHARS } from './password-rule.ts';
import type { BegunStep, SecondFactorLogIn } from './second-factor-log-in.ts';

export interface ConsoleLogInParts extends ConsoleParts {
  readonly access: AccessDirectory;
  readonly failures: LoginFailures;
  readonly sessions: ConsoleSessions;
  readonly secondFactor: SecondFactorLogIn;
}

/** A session, or the step with the second factor that comes before it. */
export type Begun = { readonly token: string } | BegunStep;

export type LogInResult =
  | Begun
  /** Name or password are wrong, or the password is locked: others do not find out which. */
  | { readonly problem: 'wrong' }
  | { readonly problem: 'later'; readonly afterMs: number };

/** Ten wrong passwords in a row, from any addresses, lock a password for a quarter of an hour. */
const MAX_ATTEMPTS = 10;
const LOCK_MS = 900_000;

export class ConsoleLogIn {
  readonly #parts: ConsoleLogInParts;

  constructor(parts: ConsoleLogInParts) {
    this.#parts = parts;
  }

  /** `name` is the e-mail address of a person, or the id of an API account whose token is the password. */
  async logIn(
    name: string,
    password: string,
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<LogInResult> {
    const { failures, store, secrets, sessions, secondFactor } = this.#parts;
    // Failures are counted by names of bounded length.
    const target = secrets.hmac(`log-in at the console ${name.toLowerCase()}`);
    const afterMs = failures.begin(target, client.address);
    if (afterMs > 0) return { problem: 'later', afterMs };
    let proven: SessionOwner | undefined;
    try {
      proven = isUuid(name)
        ? await this.#accountOf(name, password)
        : await this.#personOf(name.toLowerCase(), password);
    } catch (error) {
      failures.succeeded(target, client.address);
      if (!(error instanceof PasswordQueueFull)) throw error;
      return { problem: 'later', afterMs: error.retryAfterSeconds * 1_000 };
    }
    if (proven === undefined) return { problem: 'wrong' };
    failures.succeeded(target, client.address);
    const step = await store.transaction((trx) => secondFactor.begin(trx, proven));
    if (step !== undefined) return step;
    const token = await store.transaction((trx, touch) => sessions.open(trx, touch, proven, client, earlier));
    return { token };
  }

  /** Returns the invitation of a code, which stays valid. */
  invitationOf(code: string): Promise<InvitationRecord | undefined> {
    const { store, secrets, clock } = this.#parts;
    return findInvitationByCode(store.db, secrets, code, clock.nowMs());
  }

  /**
   * Uses the invitation up, makes its person, and begins the first log-in. Returns undefined if the code is not valid
   * (any more). Throws `conflict` for an e-mail address that another person has.
   */
  async accept(
    code: string,
    person: { readonly name: string; readonly email: string; readonly password: string },
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<Begun | undefined> {
    const { store, secrets, clock, sessions, secondFactor } = this.#parts;
    // The hash takes some time, which a code that is not valid does not get.
    if ((await this.invitationOf(code)) === undefined) return undefined;
    const passwordHash = await hashPassword(person.password);
    const nowMs = clock.nowMs();
    return store.transaction(async (trx, touch) => {
      const invitation = await takeInvitation(trx, secrets, code, nowMs);
      if (invitation === undefined) return undefined;
      const { organizationId, role } = invitation;
      const email = person.email.toLowerCase();
      const made = await insertPerson(trx, { organizationId, name: person.name, email, role, nowMs });
      await putPersonPassword(trx, { personId: made.id, email, passwordHash }, nowMs);
      const owner: SessionOwner = { kind: 'person', id: made.id, organizationId };
      const entry = {
        organizationId,
        actor: { kind: 'person', id: made.id },
        action: 'acceptInvitation',
        target: { kind: 'invitation', id: invitation.id },
        after: { personId: made.id, name: made.name, email, role },
        address: client.address,
        result: 'ok',
      } as const;
      await appendAudit(trx, touch, secrets, entry, nowMs);
      const step = await secondFactor.begin(trx, owner);
      return step ?? { token: await sessions.open(trx, touch, owner, client, earlier) };
    });
  }

  async #accountOf(id: string, token: string): Promise<SessionOwner | undefined> {
    const { access, secrets, clock } = this.#parts;
    const asked = access.caller('account', id.toLowerCase());
    const proven = provenBySecret(secrets, await asked, token, clock.nowMs());
    if (proven === undefined) {
      await access.evenOut('account', asked);
      return undefined;
    }
    return { kind: 'account', id: proven.id, organizationId: proven.organizationId };
  }

  async #personOf(email: string, password: string): Promise<SessionOwner | undefined> {
    const { store, clock } = this.#parts;
    if (password.length > MAX_PASSWORD_CHARS) return undefined;
    const known = await findPersonPassword(store.db, email);
    const limits = { nowMs: clock.nowMs(), maxAttempts: MAX_ATTEMPTS, lockMs: LOCK_MS };
    const isCounted = known === undefined || (await countPersonAttempt(store.db, known.personId, limits));
    const isRight = await isPasswordOf(password, isCounted ? known?.passwordHash : undefined);
    if (!isRight || known === undefined) return undefined;
    await endPersonAttempts(store.db, known.personId);
    const person = await findPerson(store.db, known.personId);
    return person && { kind: 'person', id: person.id, organizationId: person.organizationId };
  }
}
