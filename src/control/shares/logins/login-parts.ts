/** Composes the control plane's half of log-ins over its store. */
import type { Clock, Log } from '#base';
import { waitAtMost, type EgressClient } from '#net';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import { ProviderDirectory } from './provider-directory.ts';
import type { Secrets } from '../../secrets/mod.ts';
import type { Store } from '../../store/mod.ts';
import { openGatewayAccess, type StoredGatewayAccess } from './gateway-access.ts';
import { openIdentityKeys, type IdentityKeys } from './identity-keys.ts';
import { IssuerDirectory } from './issuer-directory.ts';
import { LoginSweep } from './login-sweep.ts';
import { ProviderSteps } from './provider-steps.ts';
import { ShareLogins } from './share-logins.ts';
import { SignInPages } from './sign-in-pages.ts';
import { SignInTests } from './sign-in-tests.ts';

export interface LoginPartsOptions {
  readonly store: Store;
  readonly secrets: Secrets;
  /** Opened before, so that it has the shares when providers are loaded. */
  readonly catalog: ShareCatalog;
  readonly egress: Pick<EgressClient, 'get' | 'send'>;
  /** The address of the console, to which test sign-ins return; undefined without one. */
  readonly consoleUrl?: (() => string) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LoginParts {
  readonly access: StoredGatewayAccess;
  readonly logins: ShareLogins;
  readonly providers: ProviderDirectory;
  readonly steps: ProviderSteps;
  readonly tests: SignInTests;
  readonly issuers: IssuerDirectory;
  readonly signInPages: SignInPages;
  readonly identityKeys: IdentityKeys;
  close(): Promise<void>;
}

/** How long the start waits for the issuers' metadata, so that gateways that reconnect at once get the keys. */
const FIRST_LOOK_MS = 2_000;

/** Rejects with errors of the store. */
export async function openLoginParts(options: LoginPartsOptions): Promise<LoginParts> {
  const { store } = options;
  const providers = await ProviderDirectory.open(store);
  const issuers = new IssuerDirectory({ ...options, providers });
  const identityKeys = await openIdentityKeys(options);
  const access = await openGatewayAccess({ ...options, providers, issuers, identityKeys });
  const steps = new ProviderSteps({ ...options, issuers });
  const logins = new ShareLogins({ ...options, providers, steps });
  const sweep = new LoginSweep(options);
  await waitAtMost(issuers.look(), FIRST_LOOK_MS);
  return {
    access,
    logins,
    providers,
    steps,
    tests: new SignInTests({ ...options, providers, steps }),
    issuers,
    signInPages: new SignInPages({ ...options, access }),
    identityKeys,
    close: async () => {
      await sweep.close();
      await issuers.close();
    },
  };
}
