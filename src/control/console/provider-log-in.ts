/**
 * Log-ins at the console through an identity provider. What a log-in has to remember until the browser comes back is in
 * a cookie of that browser, sealed: no other browser can end the log-in, and nobody fills the database with attempts.
 */
import { randomNonce, randomPKCECodeVerifier } from 'openid-client';
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { apiSpelling } from '#domain';
import type { LoginRefusal } from '#domain/gateway-shapes';
import { PROVIDER_TYPES } from '#domain/provider-types';
import { appendAudit, UNPROVEN } from '../audit/mod.ts';
import {
  isLoginState,
  makeLoginState,
  type KnownProvider,
  type ProvenPerson,
  type ProviderDirectory,
  type ProviderSteps,
} from '../shares/logins/mod.ts';
import type { LoginFailures } from '../credentials/oauth/mod.ts';
import {
  bindAccount,
  changePerson,
  findConsoleLogInOf,
  findInvitationByCode,
  firstOrganization,
  insertPerson,
  lockPerson,
  offeredConsoleLogIns,
  personOfAccount,
  takeInvitation,
  takeInvitationOf,
  waitingPeople,
  type ConsoleLogInRecord,
  type ConsoleSession,
  type InvitationRecord,
  type PersonRecord,
} from '../credentials/people/mod.ts';
import { providerCredential, type RuleParts } from '../credentials/accounts/mod.ts';
import type { StoreTransaction, Touch } from '../store/mod.ts';
import { ATTEMPT_MS } from './console-cookie.ts';
import type { ConsoleClient, ConsoleParts, ConsoleSessions } from './console-sessions.ts';
import type { LogInRefusals } from './log-in-refusals.ts';
import { roleOf } from './role-rule.ts';

export interface ProviderLogInParts extends ConsoleParts {
  readonly sessions: ConsoleSessions;
  readonly providers: Pick<ProviderDirectory, 'byId'>;
  readonly steps: ProviderSteps;
  readonly refusals: LogInRefusals;
  readonly failures: LoginFailures;
  readonly rule: () => RuleParts;
}

/** What the cookie of a log-in has, sealed. */
const attemptSchema = Type.Object({
  providerId: Part.text(),
  providerVersion: Type.Number(),
  state: Part.text(),
  verifier: Part.nullable(Part.text()),
  nonce: Part.text(),
  to: Part.text(),
  /** The code of the invitation that the person accepts with the log-in. */
  invitation: Part.nullable(Part.text()),
  /** The session of the browser, whose cookie it does not send when another site redirects it. */
  sessionId: Part.nullable(Part.text()),
  expiresAtMs: Type.Number(),
});
type Attempt = ShapeOf<typeof attemptSchema>;
const readAttempt = jsonReader(attemptSchema);

export interface ProviderOffer {
  readonly providerId: string;
  readonly name: string;
}

export type ProviderReturn =
  | { readonly token: string; readonly to: string }
  | LoginRefusal
  /** The invitation was used in the meantime, or has expired. */
  | { readonly type: 'uninvited' }
  /** The organization has too many people who wait for a role. */
  | { readonly type: 'crowded' };

/** Everyone with an account at a public provider can come to wait for a role. */
const MAX_WAITING_PEOPLE = 200;
const MAX_OFFERS = 10;
const NOT_VALID: LoginRefusal = { type: 'refused', reason: 'attempt-not-valid' };

export class ProviderLogIn {
  readonly #parts: ProviderLogInParts;

  constructor(parts: ProviderLogInParts) {
    this.#parts = parts;
  }

  /** Returns the providers of an organization; of the oldest one by default. */
  async offers(organizationId: string | undefined): Promise<readonly ProviderOffer[]> {
    const { db } = this.#parts.store;
    const asked = organizationId ?? (await firstOrganization(db));
    if (asked === undefined) return [];
    const offered = await offeredConsoleLogIns(db, asked, MAX_OFFERS);
    return offered.map(({ authProviderId, name }) => ({ providerId: authProviderId, name }));
  }

  /** Whether the code is that of an invitation to the organization whose people log in with the provider. */
  async isInvited(providerId: string, code: string): Promise<boolean> {
    const { store, secrets, clock } = this.#parts;
    const logIn = (await this.#enabled(providerId))?.logIn;
    const invitation = logIn && (await findInvitationByCode(store.db, secrets, code, clock.nowMs()));
    return invitation !== undefined && invitation.organizationId === logIn!.organizationId;
  }

  /**
   * Returns where the browser goes, and the content of the log-in's cookie. A browser with a session wants a
   * recent log-in, so that the provider asks again.
   */
  async begin(
    providerId: string,
    redirectUri: string,
    to: string,
    earlier: ConsoleSession | undefined,
    invitation: string | null = null,
  ): Promise<{ readonly url: string; readonly sealed: string } | LoginRefusal> {
    const { secrets, steps, clock } = this.#parts;
    const found = await this.#enabled(providerId);
    if (found === undefined) return { type: 'refused', reason: 'provider-not-available' };
    const { provider } = found;
    const usesPkce = PROVIDER_TYPES[provider.type].usesPkce(provider.data);
    const attempt: Attempt = {
      providerId: provider.id,
      providerVersion: provider.version,
      state: makeLoginState(secrets),
      verifier: usesPkce ? randomPKCECodeVerifier() : null,
      nonce: randomNonce(),
      to,
      invitation,
      sessionId: earlier?.id ?? null,
      expiresAtMs: clock.nowMs() + ATTEMPT_MS,
    };
    const { state } = attempt;
    const isAnew = earlier !== undefined;
    const beginning = { redirectUri, state, secrets: { ...attempt, returnTo: to }, isAnew };
    const url = await steps.run(provider, (protocol, tools) =>
      protocol.authorizationUrl(provider, beginning, tools),
    );
    if (typeof url !== 'string') return url;
    return { url, sealed: secrets.seal(JSON.stringify(attempt)) };
  }

  /** The provider sent the browser back to `url`. Begins a session for the person, who may be new and wait for a role. */
  async finish(
    providerId: string,
    url: URL,
    sealed: string,
    client: ConsoleClient,
    earlier: ConsoleSession | undefined,
  ): Promise<ProviderReturn> {
    const { secrets, steps, clock, store, sessions, failures, rule } = this.#parts;
    const attempt = this.#attemptOf(sealed);
    const state = url.searchParams.get('state') ?? '';
    if (attempt === undefined || attempt.providerId !== providerId || attempt.expiresAtMs <= clock.nowMs())
      return NOT_VALID;
    if (!isLoginState(secrets, state) || state !== attempt.state) return NOT_VALID;
    const found = await this.#enabled(providerId);
    if (found === undefined || found.provider.version !== attempt.providerVersion)
      return { type: 'refused', reason: 'provider-not-available' };
    const { provider, logIn } = found;
    // One attempt would do for any number of requests to the provider, each with a code that someone has made up.
    if (failures.begin(provider.id, client.address) > 0) return { type: 'refused', reason: 'too-many' };
    const person = await steps.run(provider, (protocol, tools) =>
      protocol.identify(provider, { url, state, secrets: { ...attempt, returnTo: attempt.to } }, tools),
    );
    if ('type' in person) {
      this.#recordRefusal(logIn, person, client);
      return person;
    }
    failures.succeeded(provider.id, client.address);
    return store.transaction(async (trx, touch): Promise<ProviderReturn> => {
      const known = await personOfAccount(trx, provider.id, person.subject);
      const present = known === undefined ? undefined : await lockPerson(trx, known);
      // Someone who has a role keeps it, and the invitation stays for another.
      const code = present === undefined || present.role === null ? attempt.invitation : null;
      const invitation = code === null ? undefined : await takeInvitation(trx, secrets, code, rule());
      if (code !== null && invitation === undefined) return { type: 'uninvited' };
      const owner =
        present === undefined ? await this.#arrive(trx, touch, logIn, person, client, invitation) : present;
      if (owner === undefined) return { type: 'crowded' };
      if (present !== undefined && invitation !== undefined)
        await this.#promote(trx, touch, present, invitation, client);
      const { id, organizationId } = owner;
      const credential = providerCredential(logIn.id, attempt.providerVersion);
      const proof = { authProviderId: provider.id, credential, provenAtMs: person.authenticatedAtMs };
      const from = { ...client, ...proof };
      const begun = attempt.sessionId === null ? undefined : { id: attempt.sessionId };
      const token = await sessions.open(
        trx,
        touch,
        { kind: 'person', id, organizationId },
        from,
        earlier ?? begun,
      );
      return { token, to: attempt.to };
    });
  }

  /** The account that was to log in is not known. */
  #recordRefusal(
    { organizationId, authProviderId }: ConsoleLogInRecord,
    { reason }: LoginRefusal,
    { address }: ConsoleClient,
  ): void {
    this.#parts.refusals.record({
      ...UNPROVEN,
      owner: { organizationId },
      action: 'consoleLogIn',
      target: { kind: 'auth-provider', id: authProviderId },
      address,
      reason: apiSpelling(reason),
    });
  }

  /** Makes the person of an account that comes for the first time. Returns undefined if too many others wait. */
  async #arrive(
    trx: StoreTransaction,
    touch: Touch,
    { organizationId, authProviderId, roles }: ConsoleLogInRecord,
    person: ProvenPerson,
    client: ConsoleClient,
    accepted: InvitationRecord | undefined,
  ): Promise<PersonRecord | undefined> {
    const { secrets, clock, rule } = this.#parts;
    const nowMs = clock.nowMs();
    const { email } = person;
    const invitation =
      accepted ?? (email === null ? undefined : await takeInvitationOf(trx, organizationId, email, rule()));
    const role = invitation?.role ?? roleOf(roles, person);
    if (role === null && (await waitingPeople(trx, organizationId)) >= MAX_WAITING_PEOPLE) return undefined;
    const name = invitation?.name ?? person.name ?? email ?? person.subject;
    const made = await insertPerson(trx, { organizationId, name, email, role, nowMs });
    await bindAccount(trx, authProviderId, person.subject, made.id);
    const entry = {
      organizationId,
      actor: { kind: 'person', id: made.id },
      action: 'firstConsoleLogIn',
      target: { kind: 'person', id: made.id },
      after: { name, email, role, authProviderId, invitationId: invitation?.id },
      address: client.address,
      result: 'ok',
    } as const;
    await appendAudit(trx, touch, secrets, entry, nowMs);
    return made;
  }

  /** Gives someone who waits for a role the one of the invitation. */
  async #promote(
    trx: StoreTransaction,
    touch: Touch,
    present: PersonRecord,
    { id: invitationId, role }: InvitationRecord,
    { address }: ConsoleClient,
  ): Promise<void> {
    const { secrets, clock } = this.#parts;
    await changePerson(trx, present, { role });
    const entry = {
      organizationId: present.organizationId,
      actor: { kind: 'person', id: present.id },
      action: 'acceptInvitation',
      target: { kind: 'invitation', id: invitationId },
      after: { personId: present.id, name: present.name, email: present.email, role },
      address,
      result: 'ok',
    } as const;
    await appendAudit(trx, touch, secrets, entry, clock.nowMs());
  }

  async #enabled(
    providerId: string,
  ): Promise<{ readonly provider: KnownProvider; readonly logIn: ConsoleLogInRecord } | undefined> {
    const { store, providers, steps } = this.#parts;
    const logIn = await findConsoleLogInOf(store.db, providerId);
    const provider = logIn && providers.byId(logIn.authProviderId);
    return provider?.enabled === true && steps.has(provider.type) ? { provider, logIn: logIn! } : undefined;
  }

  #attemptOf(sealed: string): Attempt | undefined {
    try {
      return readAttempt(this.#parts.secrets.unseal(sealed));
    } catch {
      // Another installation, or nobody, has sealed it.
      return undefined;
    }
  }
}
