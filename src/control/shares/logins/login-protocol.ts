/** The interface of a log-in protocol for each type of auth provider, and its failures. */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { messageOf, type Clock } from '#base';
import type { LoginRefusalReason } from '#domain/gateway-shapes';
import { unsealedSecrets } from '../provider/provider-secrets.ts';
import type { KnownProvider } from './provider-directory.ts';
import type { Secrets } from '../../secrets/mod.ts';
import type { AttemptSecrets } from './login-attempts.ts';
import type { ProvenPerson } from './proven-person.ts';
import type { Outward } from './protocol-client.ts';

export interface LoginTools {
  readonly secrets: Pick<Secrets, 'unseal'>;
  readonly egress: Outward;
  readonly clock: Clock;
  /** For the whole step. */
  readonly signal: AbortSignal;
}

export interface LoginBeginning {
  readonly redirectUri: string;
  readonly state: string;
  readonly secrets: AttemptSecrets;
  /** Asks a provider that knows the person already to let the person log in again. */
  readonly isAnew?: boolean | undefined;
}

export interface LoginReturn {
  /** The URL to which the browser was redirected, with its query. */
  readonly url: URL;
  readonly state: string;
  readonly secrets: AttemptSecrets;
}

/** Both throw `LoginFailure` for foreign errors, and anything else for our own. */
export interface LoginProtocol {
  /** Returns where to redirect the browser. */
  authorizationUrl(provider: KnownProvider, beginning: LoginBeginning, tools: LoginTools): Promise<string>;
  /** Returns the person who came back. */
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

/** Without the library's causes, because they contain responses of the provider. */
export function loginFailureOf(error: unknown): LoginFailure {
  if (error instanceof LoginFailure) return error;
  if (error instanceof AuthorizationResponseError)
    return new LoginFailure('denied', `the provider says ${codeText(error.error)}`);
  if (error instanceof ResponseBodyError)
    return new LoginFailure('provider-failed', `the token endpoint says ${codeText(error.error)}`);
  const { cause } = error as { cause?: unknown };
  // The cause has the reason if the provider could not be reached.
  const inner = error instanceof ClientError && cause instanceof Error ? `: ${messageOf(cause)}` : '';
  return new LoginFailure('provider-failed', `${messageOf(error)}${inner}`.slice(0, 300));
}

export function clientSecretOf(provider: KnownProvider, tools: LoginTools): string | undefined {
  return unsealedSecrets(tools.secrets, provider.secretsSealed)['client_secret'];
}

/** Accepts only the spelling of RFC 6749 error codes. */
function codeText(code: string): string {
  return /^[a-z0-9_]{1,64}$/i.test(code) ? code : 'an unreadable error';
}
