/** Opens what changes TXT records by its settings, and checks these, its files and variables for that. */
import { setTimeout as wait } from 'node:timers/promises';
import { misspelledName, type FrontdoorError } from '#base';
import type { OutwardDialer } from '#net';
import type { DnsProviderChoice } from '../acme-settings.ts';
import { DnsHook } from '../dns-hook.ts';
import type { DnsProvider } from './dns-provider.ts';
import { DNS_PROVIDERS } from './dns-providers.ts';
import { checkProviderSettings, readProviderSecret, refused, type Variables } from './provider-settings.ts';

export interface ProviderSurroundings {
  /** The folder of the gateway's account, state and certificates. */
  readonly folder: string;
  readonly environment: Variables;
  readonly outward: OutwardDialer;
}

/** The name under which the journal has the records of a provider. */
export function providerNameOf(choice: DnsProviderChoice): string {
  return 'hook' in choice ? 'hook' : choice.provider;
}

/** Rejects with `acme-options`. Connects to nothing. Secrets are read now, so that a replaced file counts for the next order. */
export async function openDnsProvider(
  choice: DnsProviderChoice,
  { folder, environment, outward }: ProviderSurroundings,
): Promise<DnsProvider> {
  if ('hook' in choice) return new DnsHook(choice.hook);
  const { provider: name, settings } = choice;
  const row = Object.hasOwn(DNS_PROVIDERS, name) ? DNS_PROVIDERS[name] : undefined;
  if (row === undefined) throw unknownProvider(name);
  checkProviderSettings(name, row, settings);
  const secret = row.secret && (await readProviderSecret(name, row.secret, settings, environment));
  return row.open({ settings, secret, rights: row.rights, folder, outward, pause });
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal });
}

function unknownProvider(name: string): FrontdoorError {
  const names = Object.keys(DNS_PROVIDERS);
  const near = misspelledName(name, names);
  const hint = near === undefined ? '' : `did you mean ${near}? `;
  return refused(
    `--acme-dns-provider ${name} is not known: ${hint}the providers are ${names.join(', ')}; ` +
      'for others, give a program with --acme-dns-hook',
  );
}
