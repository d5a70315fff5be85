/** The auth providers from the feed, and the guards of hosts that follow from them. */
import type { GatewayDelta, GatewayKeys, GatewayProvider } from '#domain/gateway-shapes';
import { failAlone } from '#net';
import type { GatewayHost } from '../circuits/upstream.ts';
import { guardOf, type HostGuard } from './host-guard.ts';
import { Provider } from './provider.ts';

export class ProviderRegistry {
  readonly #providers = new Map<string, Provider>();
  #guards = new WeakMap<GatewayHost, HostGuard>();
  #pepper: Buffer | undefined;
  #waiters = new Set<() => void>();

  /** Whether the secrets for checking credentials have arrived from the control plane. */
  get hasKeys(): boolean {
    return this.#pepper !== undefined;
  }

  find(id: string): Provider | undefined {
    return this.#providers.get(id);
  }

  guardOf(host: GatewayHost): HostGuard {
    const known = this.#guards.get(host);
    if (known !== undefined) return known;
    const guard = guardOf(host, this.#providers);
    this.#guards.set(host, guard);
    return guard;
  }

  replaceAll(providers: readonly GatewayProvider[], keys: GatewayKeys): void {
    this.#pepper = pepperOf(keys);
    this.#providers.clear();
    for (const record of providers) this.#set(record);
    this.#changed();
  }

  change({ providers = [], removedProviders = [], keys }: GatewayDelta): void {
    if (providers.length === 0 && removedProviders.length === 0 && keys === undefined) return;
    for (const id of removedProviders) this.#providers.delete(id);
    for (const record of providers) this.#set(record);
    const pepper = keys === undefined ? this.#pepper : pepperOf(keys);
    if (pepper?.toString('hex') !== this.#pepper?.toString('hex')) {
      this.#pepper = pepper;
      const all = Array.from(this.#providers.values(), ({ record }) => record);
      for (const record of all) this.#set(record);
    }
    this.#changed();
  }

  /** Returns the providers without their secrets, for the file on disk. */
  kept(): GatewayProvider[] {
    return Array.from(this.#providers.values(), ({ record }) => ({
      ...record,
      apiKeys: record.apiKeys === null ? null : { ...record.apiKeys, keys: [] },
      tokens: record.tokens === null ? null : { ...record.tokens, keys: [] },
    }));
  }

  /** Calls the listener once, at the next change. */
  onceChanged(listener: () => void): () => void {
    this.#waiters.add(listener);
    return () => this.#waiters.delete(listener);
  }

  /** A provider whose record cannot be used admits nobody. */
  #set(record: GatewayProvider): void {
    try {
      this.#providers.set(record.id, new Provider(record, this.#pepper));
    } catch (error) {
      const fail = (): void => void this.#providers.delete(record.id);
      failAlone({ kind: 'record', id: `the auth provider ${record.id}`, fail }, error);
    }
  }

  #changed(): void {
    this.#guards = new WeakMap();
    const waiters = this.#waiters;
    this.#waiters = new Set();
    for (const listener of waiters) listener();
  }
}

function pepperOf({ apiKeyPepper }: GatewayKeys): Buffer | undefined {
  const pepper = Buffer.from(apiKeyPepper, 'base64');
  return pepper.length < 16 ? undefined : pepper;
}
