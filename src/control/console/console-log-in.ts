/**
 * How people and API accounts log in at the console, and how an invitation makes a person. Wrong names, wrong passwords
 * and unknown codes are refused alike, and take the same time.
 */
import { isUuid } from '#domain';
import { appendAudit } from '../audit/mod.ts';
import type { LoginFailures } from '../credentials/oauth/mod.ts';
import { findPasswordOf, PasswordQueueFull } from '../credentials/passwords/mod.ts';
import { storeHashed } from './stored-password.ts';
import {
  countPersonAttempts,
  endPersonAttempts,
  findInvitationByCode,
  findOrganization,
  findPersonPasswords,
  insertPerson,
  lockPerson,
  putPersonPassword,
  takeInvitation,
  uncountPersonAttempts,
  type ConsoleSession,
  type InvitationRecord,
  type KnownPassword,
  type SessionOwner,
} from '../credentials/people/mod.ts';
import { provenBySecret, type CallerDirectory, type RuleParts } from '../credentials/accounts/mod.ts';
import type { StoreTransaction } from '../store/mod.ts';
import type { ConsoleClient, ConsoleParts, ConsoleSessions } from './console-sessions.ts';
import { recordRefusedLogIn, type LogInRefusals, type RefusedLogIn } from './log-in-refusals.ts';
import { MAX_PASSWORD_CHARS } from './password-rule.ts';
import type { BegunStep, SecondFactorLogIn } from './second-factor-log-in.ts';

export interface ConsoleLogInParts extends ConsoleParts {
  readonly access: CallerDirectory;
  readonly failures: LoginFailures;
  readonly sessions: ConsoleSessions;
  readonly secondFactor: SecondFactorLogIn;
  readonly refusals: LogInRefusals;
  readonly rule: () => RuleParts;
}

/** A session, or the step with the second factor that comes before it. */
export type Begun = { readonly token: string } | BegunStep;

export type NotProven =
  /** Name or password are wrong, or the password is locked: others do not find out which. */
  { readonly problem: 'wrong' } | { readonly problem: 'later'; readonly afterMs: number };

export type LogInResult = Begun | NotProven;

/** Someone who has given a right password or token. */
export interface Proven {
  readonly owner: SessionOwner;
  /** That of the password; undefined for an API account. */
  readonly passwordHash?: string;
  /** Names the token of an API account; undefined for a person. */
  readonly credential?: string;
}

/** With a reason, the owners are those of the address whose log-ins were refused. */
type Examined =
  | Proven
  | { readonly owners?: readonly SessionOwner[]; readonly reason: typeof WRONG | 'locked' };

interface LogInForm {
  readonly name: string;
  readonly password: string;
  readonly organizationId?: string | undefined;
}

interface ProofForm extends Pick<LogInForm, 'name' | 'password'> {
  readonly only?: Parameters<typeof findPersonPasswords>[2];
}

const WRONG = 'wrong_credentials';
/** Ten wrong passwords in a row, from any addresses, lock a password for a quarter of an hour. */
const MAX_ATTEMPTS = 10;
const LOCK_MS = 900_000;

export class ConsoleLogIn {
  readonly #parts: ConsoleLogInParts;

  constructor(parts: ConsoleLogInParts) {
    this.#parts = parts;
  }

  /**
   * `name` is the e-mail address of a person, or the id of an API account whose token is the password. People of several
   * organizations may have one address: the password decides who it is, among those of `organizationId` if it is given.
   */
  async logIn(
    { name, password, organizationId }: LogInForm,
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<LogInResult> {
    const proven = await this.prove({ name, password, only: { organizationId } }, client);
    return 'problem' in proven ? proven : this.begin(proven, client, earlier);
  }

  /**
   * Begins a session, or the step before it. A password that was changed since it was examined, which takes seconds while
   * many wait, is wrong: its change has ended the sessions of this person.
   */
  async begin(
    proven: Proven,
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<LogInResult> {
    const { store, sessions, secondFactor } = this.#parts;
    return store.transaction(async (trx, touch): Promise<LogInResult> => {
      if (!(await isStillProven(trx, proven))) return { problem: 'wrong' };
      const { owner, credential } = proven;
      const step = await secondFactor.begin(trx, owner);
      return step ?? { token: await sessions.open(trx, touch, owner, { ...client, credential }, earlier) };
    });
  }

  /** Returns whose name and password they are. A wrong password is counted, and recorded as a refusal of `action`. */
  async prove(
    { name, password, only = {} }: ProofForm,
    client: ConsoleClient,
    action?: RefusedLogIn['action'],
  ): Promise<Proven | NotProven> {
    const { failures, secrets, refusals } = this.#parts;
    const { address } = client;
    // Failures are counted by names of bounded length.
    const target = secrets.hmac(`log-in at the console ${name.toLowerCase()}`);
    const afterMs = failures.begin(target, address);
    if (afterMs > 0) {
      recordRefusedLogIn(refusals, { reason: 'rate_limited', address, action });
      return { problem: 'later', afterMs };
    }
    let examined: Examined;
    try {
      examined = isUuid(name)
        ? await this.#accountOf(name, password)
        : await this.#personOf({ name: name.toLowerCase(), password, only }, client);
    } catch (error) {
      failures.succeeded(target, address);
      if (!(error instanceof PasswordQueueFull)) throw error;
      return { problem: 'later', afterMs: error.retryAfterSeconds * 1_000 };
    }
    if ('reason' in examined) {
      const { reason, owners = [] } = examined;
      for (const owner of owners.length === 0 ? [undefined] : owners)
        recordRefusedLogIn(refusals, { reason, owner, address, action });
      return { problem: 'wrong' };
    }
    failures.succeeded(target, address);
    return examined;
  }

  /** Returns the invitation of a code, which stays valid. */
  async invitationOf(code: string, { address }: ConsoleClient): Promise<InvitationRecord | undefined> {
    const { store, secrets, clock, refusals } = this.#parts;
    const found = await findInvitationByCode(store.db, secrets, code, clock.nowMs());
    if (found === undefined)
      recordRefusedLogIn(refusals, { reason: 'unknown_code', address, action: 'acceptInvitation' });
    return found;
  }

  async organizationNameOf(organizationId: string): Promise<string | undefined> {
    return (await findOrganization(this.#parts.store.db, organizationId))?.name;
  }

  /**
   * Uses the invitation up, makes its person, and begins the first log-in. Returns undefined if the code is not valid
   *. Throws `conflict` for an e-mail address that another person of the organization has; who has it elsewhere is
   * nobody's to find out.
   */
  async accept(
    code: string,
    person: { readonly name: string; readonly email: string; readonly password: string },
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<Begun | undefined> {
    const { store, secrets, clock, sessions, secondFactor, rule } = this.#parts;
    // The hash takes some time, which a code that is not valid does not get.
    if ((await this.invitationOf(code, client)) === undefined) return undefined;
    const email = person.email.toLowerCase();
    const nowMs = clock.nowMs();
    const wanted = { email, password: person.password };
    return storeHashed(store, wanted, async (passwordHash, trx, touch) => {
      const invitation = await takeInvitation(trx, secrets, code, rule());
      if (invitation === undefined) return undefined;
      const { organizationId, role } = invitation;
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

  async #accountOf(id: string, token: string): Promise<Examined> {
    const { access, secrets, clock } = this.#parts;
    const asked = access.caller('account', id.toLowerCase());
    const proven = provenBySecret(secrets, await asked, token, clock.nowMs());
    if (proven === undefined) {
      await access.evenOut('account', asked);
      return { reason: WRONG };
    }
    const { id: accountId, organizationId, credential } = proven;
    return { owner: { kind: 'account', id: accountId, organizationId }, credential };
  }

  async #personOf(
    { name: email, password, only }: ProofForm,
    { address, signal }: ConsoleClient,
  ): Promise<Examined> {
    const { store, clock } = this.#parts;
    if (password.length > MAX_PASSWORD_CHARS) return { reason: WRONG };
    const known = await findPersonPasswords(store.db, email, only);
    const ids = known.map(({ personId }) => personId);
    let open: ReadonlySet<string> = new Set();
    const begun = async (): Promise<void> => {
      const limits = { nowMs: clock.nowMs(), maxAttempts: MAX_ATTEMPTS, lockMs: LOCK_MS };
      open = await countPersonAttempts(store.db, ids, limits);
    };
    const hashes = known.map(({ passwordHash }) => passwordHash);
    const right = known[await findPasswordOf(password, hashes, { address, signal, begun })];
    if (right === undefined) {
      const isLocked = known.length > 0 && open.size === 0;
      return { reason: isLocked ? 'locked' : WRONG, owners: known.map(ownerOf) };
    }
    const others = ids.filter((id) => id !== right.personId && open.has(id));
    await uncountPersonAttempts(store.db, others, { maxAttempts: MAX_ATTEMPTS });
    if (!open.has(right.personId)) return { reason: 'locked', owners: [ownerOf(right)] };
    return { owner: ownerOf(right), passwordHash: right.passwordHash };
  }
}

function ownerOf({ personId: id, organizationId }: KnownPassword): SessionOwner {
  return { kind: 'person', id, organizationId };
}

/** Ends the count of wrong passwords. Returns false if the password was changed since it was examined. */
async function isStillProven(trx: StoreTransaction, { owner, passwordHash }: Proven): Promise<boolean> {
  if (passwordHash === undefined) return true;
  if ((await lockPerson(trx, owner.id)) === undefined) return false;
  return endPersonAttempts(trx, owner.id, passwordHash);
}
