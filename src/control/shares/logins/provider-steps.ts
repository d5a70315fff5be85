/**
 * Steps of log-ins that wait for an identity provider: each has a deadline, and a provider that hangs delays only its
 * own log-ins, because the steps that wait for one provider, and for all, are limited.
 */
import type { Clock, Log } from '#base';
import type { LoginRefusal } from '#domain/gateway-shapes';
import { PROVIDER_TYPES, type AuthProviderType, type ProviderType } from '#domain/provider-types';
import type { Secrets } from '../../secrets/mod.ts';
import { githubLogin } from './github-login.ts';
import type { IssuerDirectory } from './issuer-directory.ts';
import { loginFailureOf, type LoginFailure, type LoginProtocol, type LoginTools } from './login-protocol.ts';
import { openIdLogin } from './openid-login.ts';
import type { Outward } from './protocol-client.ts';
import type { KnownProvider } from './provider-directory.ts';

export interface ProviderStepsOptions {
  readonly secrets: Secrets;
  readonly issuers: IssuerDirectory;
  readonly egress: Outward;
  readonly clock: Clock;
  readonly log: Log;
  /** Deadline for all requests of one step to a provider; 7 s by default, below the timeout of gateways. */
  readonly stepTimeoutMs?: number;
}

/** By the protocol that a type of provider names. Nobody logs in with keys. */
type LoginProtocols = Readonly<Record<ProviderType['protocol'], LoginProtocol | undefined>>;

const STEP_TIMEOUT_MS = 7_000;
const MAX_STEPS_OF_A_PROVIDER = 64;
const MAX_STEPS = 512;

export class ProviderSteps {
  readonly #options: ProviderStepsOptions;
  readonly #protocols: LoginProtocols;
  readonly #running = new Map<string, number>();
  #count = 0;

  constructor(options: ProviderStepsOptions) {
    this.#options = options;
    this.#protocols = { openid: openIdLogin(options.issuers), github: githubLogin, keys: undefined };
  }

  /** Whether people can log in with providers of the type. */
  has(type: AuthProviderType): boolean {
    return this.#protocols[PROVIDER_TYPES[type].protocol] !== undefined;
  }

  /** Failures of the provider are logged, and are results; `onFailure` gets their message, which has no secret. */
  async run<T>(
    provider: KnownProvider,
    work: (protocol: LoginProtocol, tools: LoginTools) => Promise<T>,
    onFailure?: (failure: LoginFailure) => void,
  ): Promise<T | LoginRefusal> {
    const count = this.#running.get(provider.id) ?? 0;
    if (count >= MAX_STEPS_OF_A_PROVIDER || this.#count >= MAX_STEPS)
      return { type: 'refused', reason: 'too-many' };
    this.#running.set(provider.id, count + 1);
    this.#count += 1;
    const { secrets, egress, clock, log, stepTimeoutMs = STEP_TIMEOUT_MS } = this.#options;
    try {
      const signal = AbortSignal.timeout(stepTimeoutMs);
      return await work(this.#protocols[PROVIDER_TYPES[provider.type].protocol]!, {
        secrets,
        egress,
        clock,
        signal,
      });
    } catch (error) {
      const failure = loginFailureOf(error);
      const { reason, message } = failure;
      onFailure?.(failure);
      log.warn({ provider: provider.id, reason, cause: message }, 'a sign-in failed');
      return { type: 'refused', reason };
    } finally {
      const left = this.#running.get(provider.id)! - 1;
      if (left === 0) this.#running.delete(provider.id);
      else this.#running.set(provider.id, left);
      this.#count -= 1;
    }
  }
}
