/** What the log-in of each type of auth provider offers, and what goes wrong with it. */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { messageOf, type Clock } from '#base';
import type { LoginRefusalReason } from '#domain';
import { unsealedSecrets } from '../provider/mod.ts';
import type { KnownProvider } from './provider-directory.ts';
import type { Secrets } from '../secrets/mod.ts';
import type { AttemptSecrets } from './login-attempts.ts';
import type { ProvenPerson } from './proven-person.ts';
import type { Outward } from './protocol-client.ts';

export interface LoginTools {
  readonly secrets: Pick<Secrets, 'unseal'>;
  readonly egress: Outward;
  readonly clock: Clock;
  /** Of the whole step. */
  readonly signal: AbortSignal;
}

export interface LoginBeginning {
  readonly redirectUri: string;
  readonly state: string;
  readonly secrets: AttemptSecrets;
}

export interface LoginReturn {
  /** As the browser was sent to it, with its query. */
  readonly url: URL;
  readonly state: string;
  readonly secrets: AttemptSecrets;
}

/** Both throw `LoginFailure` for what goes wrong outside, and anything for what goes wrong here. */
export interface LoginProtocol {
  /** Where the browser is sent. */
  authorizationUrl(provider: KnownProvider, beginning: LoginBeginning, tools: LoginTools): Promise<string>;
  /** Who came back. */
  identify(provider: KnownProvider, back: LoginReturn, tools: LoginTools): Promise<ProvenPerson>;
}

export class LoginFailure extends Error {
  readonly reason: LoginRefusalReason;

  constructor(reason: LoginRefusalReason, message: string) {
    super(message);
    this.name = 'LoginFailure';
    this.reason = reason;
  }
}

/** Not with the library's causes: answers of the provider stand in them. */
export function loginFailureOf(error: unknown): LoginFailure {
  if (error instanceof LoginFailure) return error;
  if (error instanceof AuthorizationResponseError)
    return new LoginFailure('denied', `the provider says ${codeText(error.error)}`);
  if (error instanceof ResponseBodyError)
    return new LoginFailure('provider-failed', `the token endpoint says ${codeText(error.error)}`);
  const { cause } = error as { cause?: unknown };
  // Failures to reach it lie below the library's own words.
  const inner = error instanceof ClientError && cause instanceof Error ? `: ${messageOf(cause)}` : '';
  return new LoginFailure('provider-failed', `${messageOf(error)}${inner}`.slice(0, 300));
}

export function clientSecretOf(provider: KnownProvider, tools: LoginTools): string | undefined {
  return unsealedSecrets(tools.secrets, provider.secretsSealed)['client_secret'];
}

/** An error code as RFC 6749 spells them, and nothing that could be anything else. */
function codeText(code: string): string {
  return /^[a-z0-9_]{1,64}$/i.test(code) ? code : 'an unreadable error';
}
