/**
 * The step of a log-in after a right password: a code of the person's authenticator app, or the enrollment that the
 * organization demands. What the log-in has proven so far is in a cookie of the browser, sealed; the count of wrong codes
 * and the codes that were used are in the database, for all control planes.
 */
import { FrontdoorError } from '#base';
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { isUuid } from '#domain';
import { appendAudit } from '../audit/mod.ts';
import {
  findPerson,
  hasPassword,
  lockPerson,
  passwordOf,
  type ConsoleSession,
  type SessionOwner,
} from '../credentials/people/mod.ts';
import type { StoreTransaction, Touch } from '../store/mod.ts';
import {
  beginPersonFactor,
  confirmPersonFactor,
  personFactorNeed,
  provisioningUrlOf,
  renewPersonRecovery,
  usePersonCode,
  type PersonCodeCheck,
} from '../credentials/totp/mod.ts';
import { ATTEMPT_MS } from './console-cookie.ts';
import { recordRefusedLogIn, type LogInRefusals } from './log-in-refusals.ts';
import type { ConsoleClient, ConsoleParts, ConsoleSessions } from './console-sessions.ts';

export interface SecondFactorParts extends ConsoleParts {
  readonly sessions: ConsoleSessions;
  readonly refusals: LogInRefusals;
}

export interface BegunStep {
  readonly need: LogInStep['need'];
  /** The content of the cookie. */
  readonly sealed: string;
}

/** A log-in whose password was right. */
const stepSchema = Type.Object({
  need: Part.oneOf('code', 'enrollment'),
  personId: Part.text(),
  /** When the password was set: the step ends with it. */
  passwordSetAtMs: Type.Number(),
  /** The address by which an app takes the secret of the enrollment. */
  url: Part.nullable(Part.text()),
  expiresAtMs: Type.Number(),
});
export type LogInStep = ShapeOf<typeof stepSchema>;
const readStep = jsonReader(stepSchema);

export type StepResult =
  /** The recovery codes of an enrollment, which are shown once. */
  { readonly token: string; readonly recoveryCodes?: readonly string[] | undefined } | RefusedStep;

type RefusedStep = Extract<PersonCodeCheck, { readonly ok: false }>;

/** Nothing else that is sealed is taken for a step. */
const PURPOSE = 'second factor of a log-in';

export class SecondFactorLogIn {
  readonly #parts: SecondFactorParts;

  constructor(parts: SecondFactorParts) {
    this.#parts = parts;
  }

  /** Returns the step that the log-in of a right password needs, or undefined. */
  async begin(trx: StoreTransaction, owner: SessionOwner): Promise<BegunStep | undefined> {
    if (owner.kind !== 'person') return undefined;
    const need = await personFactorNeed(trx, this.#parts, owner);
    if (need === 'none') return undefined;
    const step = await (need === 'code'
      ? this.#sealed(trx, need, owner.id, null)
      : this.#enroll(trx, owner.id));
    // A log-in that needs a step gets no session without it.
    if (step === undefined) throw new FrontdoorError('conflict', 'conflict', 'The person was removed');
    return step;
  }

  /** Begins an enrollment in a session whose log-in is fresh. Returns undefined for anybody without a password. */
  enrollAgain({ kind, id }: SessionOwner): Promise<BegunStep | undefined> {
    if (kind !== 'person') return Promise.resolve(undefined);
    return this.#parts.store.transaction((trx) => this.#enroll(trx, id));
  }

  /** Replaces the recovery codes in a session whose log-in is fresh. Returns undefined for anybody without a second factor. */
  renewRecovery(owner: SessionOwner, client: ConsoleClient): Promise<readonly string[] | undefined> {
    if (owner.kind !== 'person') return Promise.resolve(undefined);
    return this.#parts.store.transaction(async (trx, touch) => {
      const codes = await renewPersonRecovery(trx, this.#factorParts(), owner.id);
      const after = { recoveryCodesLeft: codes?.length };
      if (codes !== undefined) await this.#record(trx, touch, owner, client, 'renewRecoveryCodes', after);
      return codes;
    });
  }

  /** Whether the owner of a session has a second factor; undefined for anybody without a password. */
  async stateOf({ kind, id }: SessionOwner): Promise<'none' | 'enrolled' | undefined> {
    const { db } = this.#parts.store;
    if (kind !== 'person' || !(await hasPassword(db, id))) return undefined;
    return (await findPerson(db, id))?.secondFactor === true ? 'enrolled' : 'none';
  }

  /** Returns the step that a cookie has, unless it is over. */
  stepOf(sealed: string | undefined): LogInStep | undefined {
    if (sealed === undefined) return undefined;
    try {
      const step = readStep(this.#parts.secrets.unseal(sealed, PURPOSE));
      return isUuid(step.personId) && step.expiresAtMs > this.#parts.clock.nowMs() ? step : undefined;
    } catch {
      // Another installation, or nobody, has sealed it.
      return undefined;
    }
  }

  /** Begins a session for a right code, which ends the enrollment if the step is one. */
  async prove(
    { need, personId, passwordSetAtMs }: LogInStep,
    code: string,
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<StepResult> {
    const { store, sessions, refusals } = this.#parts;
    const parts = this.#factorParts();
    return store.transaction(async (trx, touch): Promise<StepResult> => {
      const person = await lockPerson(trx, personId);
      const password = await passwordOf(trx, personId);
      if (person === undefined || password?.setAtMs !== passwordSetAtMs) return { ok: false, reason: 'none' };
      const owner = { kind: 'person', id: person.id, organizationId: person.organizationId } as const;
      const open = () => sessions.open(trx, touch, owner, { ...client, secondFactor: true }, earlier);
      const record = (action: string, after: object) =>
        this.#record(trx, touch, owner, client, action, after);
      const refuse = (refused: RefusedStep): RefusedStep => {
        const reason = refused.reason === 'later' ? 'locked' : 'wrong_code';
        recordRefusedLogIn(refusals, { reason, address: client.address, owner });
        return refused;
      };
      if (need === 'enrollment') {
        const confirmed = await confirmPersonFactor(trx, parts, personId, code);
        if (!confirmed.ok) return refuse(confirmed);
        await record('confirmSecondFactor', { secondFactor: true });
        return { token: await open(), recoveryCodes: confirmed.recoveryCodes };
      }
      const checked = await usePersonCode(trx, parts, personId, code);
      if (!checked.ok) return refuse(checked);
      const { recoveryCodesLeft } = checked;
      if (checked.usedRecovery) await record('useRecoveryCode', { recoveryCodesLeft });
      return { token: await open() };
    });
  }

  async #record(
    trx: StoreTransaction,
    touch: Touch,
    { id, organizationId }: SessionOwner,
    { address }: ConsoleClient,
    action: string,
    after: object,
  ): Promise<void> {
    const { secrets, clock } = this.#parts;
    const who = { kind: 'person', id } as const;
    const entry = { organizationId, actor: who, action, target: who, after, address, result: 'ok' } as const;
    await appendAudit(trx, touch, secrets, entry, clock.nowMs());
  }

  async #enroll(trx: StoreTransaction, personId: string): Promise<BegunStep | undefined> {
    const secret = await beginPersonFactor(trx, this.#factorParts(), personId);
    const person = await findPerson(trx, personId);
    if (secret === undefined || person === undefined) return undefined;
    const url = provisioningUrlOf(secret, person.email ?? person.name);
    return this.#sealed(trx, 'enrollment', personId, url);
  }

  #factorParts() {
    return { secrets: this.#parts.secrets, nowMs: this.#parts.clock.nowMs() };
  }

  async #sealed(
    trx: StoreTransaction,
    need: LogInStep['need'],
    personId: string,
    url: string | null,
  ): Promise<BegunStep | undefined> {
    const { secrets, clock } = this.#parts;
    const password = await passwordOf(trx, personId);
    if (password === undefined) return undefined;
    const expiresAtMs = clock.nowMs() + ATTEMPT_MS;
    const step: LogInStep = { need, personId, passwordSetAtMs: password.setAtMs, url, expiresAtMs };
    return { need, sealed: secrets.seal(JSON.stringify(step), PURPOSE) };
  }
}
