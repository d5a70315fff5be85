/** What a DNS provider is opened with. */
import type { OutwardDialer } from '#net';
import type { ProviderSecret } from './provider-settings.ts';

export interface ProviderContext {
  /** They are checked. */
  readonly settings: Readonly<Record<string, string>>;
  /** Undefined for a provider without one in its row. */
  readonly secret: ProviderSecret | undefined;
  /** What the secret must allow, for messages. */
  readonly rights: string;
  /** The folder of the gateway's account, state and certificates. */
  readonly folder: string;
  readonly outward: OutwardDialer;
  /** Replaces the address of the provider's API in tests. */
  readonly origin?: string | undefined;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}
