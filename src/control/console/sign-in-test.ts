/** Test sign-ins of people at the console: who may make one, its limits, its audit event, and the role that rules would give. */
import type { Role } from '#domain';
import type { LoginFailures } from '../credentials/oauth/mod.ts';
import { appendAudit } from '../audit/mod.ts';
import { findConsoleLogInOf, type ConsoleSession } from '../credentials/people/mod.ts';
import type { SignInTestResult, SignInTests } from '../shares/logins/mod.ts';
import type { ConsoleParts } from './console-sessions.ts';
import { roleOf } from './role-rule.ts';

export interface SignInTestParts extends ConsoleParts {
  readonly tests: SignInTests;
  readonly failures: LoginFailures;
}

export interface TestTarget {
  readonly frontdoorId: string;
  readonly providerId: string;
}

/** The role that the rules of the console sign-in would give a newcomer; undefined if people do not sign in there with it. */
export type TestedRole = Role | null | undefined;

export type BegunTest =
  | { readonly url: string; readonly sealed: string }
  | SignInTestResult
  | 'not-permitted'
  | 'not-found';

export class SignInTest {
  readonly #parts: SignInTestParts;

  constructor(parts: SignInTestParts) {
    this.#parts = parts;
  }

  /** `redirectUri` is a callback URL of the provider at a frontdoor of the session's organization. */
  async begin(
    session: ConsoleSession,
    { frontdoorId, providerId }: TestTarget,
    redirectUri: string,
    address: string,
  ): Promise<BegunTest> {
    const { tests, store, secrets, clock } = this.#parts;
    if (!session.scopes.includes('frontdoor.write')) return 'not-permitted';
    const { kind, id, organizationId } = session.owner;
    const provider = tests.providerOf(frontdoorId, providerId);
    if (provider === undefined) return 'not-found';
    await store.transaction((trx, touch) =>
      appendAudit(
        trx,
        touch,
        secrets,
        {
          organizationId,
          actor: { kind, id },
          action: 'testAuthProviderSignIn',
          target: { kind: 'auth-provider', id: provider.id },
          after: { redirectUri },
          address,
          result: 'ok',
        },
        clock.nowMs(),
      ),
    );
    return tests.begin(provider, redirectUri, session.id);
  }

  /** Returns undefined if the session began no such test. */
  async finish(
    session: ConsoleSession,
    sealed: string,
    parameters: URLSearchParams,
    address: string,
  ): Promise<{ readonly result: SignInTestResult; readonly role: TestedRole } | 'too-many' | undefined> {
    const { tests, failures, store } = this.#parts;
    // One test would do for any number of requests to the provider, each with a code that someone has made up.
    if (failures.begin(session.id, address) > 0) return 'too-many';
    const result = await tests.finish(sealed, session.id, parameters);
    if (result === undefined) return undefined;
    if (!('person' in result.outcome)) return { result, role: undefined };
    failures.succeeded(session.id, address);
    const logIn = await findConsoleLogInOf(store.db, result.provider.id);
    return { result, role: logIn && roleOf(logIn.roles, result.outcome.person) };
  }
}
