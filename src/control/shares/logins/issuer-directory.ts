/**
 * The OpenID providers behind auth providers. Where the type demands it, metadata is kept up to date while a share or
 * custom frontend uses the provider, because gateways verify tokens of programs with its keys and redirect people to
 * its log-out; other metadata is fetched at a log-in.
 */
import { messageOf, type Clock, type Log } from '#base';
import type { GatewayProviderLogout, GatewayTokenIssuer } from '#domain/gateway-shapes';
import {
  acceptsTokens,
  PROVIDER_TYPES,
  type AuthProviderType,
  type IssuerAddress,
} from '#domain/provider-types';
import type { EgressClient } from '#net';
import type { KnownProvider, ProviderDirectory } from './provider-directory.ts';
import { concerns, type Queries, type Store } from '../../store/mod.ts';
import { PublishedIssuer } from './issuer-metadata.ts';

export interface IssuerDirectoryOptions {
  readonly store: Pick<Store, 'db' | 'onChange'>;
  readonly providers: ProviderDirectory;
  readonly egress: Pick<EgressClient, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_EVERY_MS = 10_000;
const LOOK_SOON_MS = 200;
const MAX_AT_ONCE = 8;
const CHUNK = 500;

interface Entry {
  readonly published: PublishedIssuer;
  /** The address it was fetched from. Another address makes a new entry. */
  readonly address: string;
}

export class IssuerDirectory {
  readonly #options: IssuerDirectoryOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners: ((providerId: string) => void)[] = [];
  readonly #timer: NodeJS.Timeout;
  #used: ReadonlySet<string> = new Set();
  /** Providers whose keys gateways have. */
  readonly #notified = new Set<string>();
  #looking: Promise<void> | undefined;
  #soon: NodeJS.Timeout | undefined;
  #lookAgain = false;
  #closed = false;

  constructor(options: IssuerDirectoryOptions) {
    this.#options = options;
    options.providers.onChange((id) => {
      const provider = options.providers.byId(id);
      const entry = this.#entries.get(id);
      if (entry !== undefined && (provider === undefined || addressOf(provider) !== entry.address))
        this.#entries.delete(id);
    });
    options.store.onChange((changes) => {
      // Writers do not wait for metadata.
      if (concerns(changes, 'share', 'custom-frontend', 'auth-provider')) this.#lookSoon();
    });
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#looking;
  }

  /** Calls the listener with the id of a provider whose keys changed. */
  onChange(listener: (providerId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** `provider` must be of a type whose providers publish metadata. */
  of(provider: KnownProvider): PublishedIssuer {
    const { egress, clock, log } = this.#options;
    const { issuer, discoveryUrl } = issuerAddressOf(provider)!;
    const address = addressOf(provider);
    let entry = this.#entries.get(provider.id);
    if (entry?.address !== address) {
      const { id } = provider;
      const onNews = (): void => {
        if (this.#entries.get(id) === made) this.#notify(id);
      };
      const published = new PublishedIssuer({ issuer, discoveryUrl, egress, clock, log, onNews });
      const made: Entry = { address, published };
      this.#entries.set(id, made);
      entry = made;
    }
    return entry.published;
  }

  /** Returns the data for gateways that verify tokens of programs; null if there are none, or no keys yet. */
  tokensOf(provider: KnownProvider): GatewayTokenIssuer | null {
    if (!acceptsTokens(provider.type)) return null;
    const held = this.#entries.get(provider.id)?.published.held;
    if (held === undefined) return null;
    const { client_id: audience } = provider.data as { client_id: string };
    const { server, algorithms, keys } = held;
    return { issuer: server.issuer, audience, algorithms, keys };
  }

  /**
   * Returns where gateways redirect people for the log-out at the provider, or undefined if there is no such
   * endpoint.
   */
  logoutOf(provider: KnownProvider): GatewayProviderLogout | undefined {
    if (!keepsMetadata(provider.type)) return undefined;
    const endpoint = this.#entries.get(provider.id)?.published.held?.server.end_session_endpoint;
    if (endpoint === undefined) return undefined;
    return { endpoint, clientId: (provider.data as { client_id: string }).client_id };
  }

  /** A gateway encountered an unknown key. The fetch is rate-limited. */
  async refresh(providerId: string): Promise<void> {
    const provider = this.#options.providers.byId(providerId);
    if (provider?.enabled !== true || !acceptsTokens(provider.type)) return;
    if (!this.#used.has(providerId)) await this.look();
    else await this.of(provider).refresh();
  }

  /** Fetches the metadata that is in use and due. Resolves when all fetches are done. */
  look(): Promise<void> {
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return this.#looking;
    }
    this.#looking = this.#lookUntilDone().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /** Combines changes in quick succession. */
  #lookSoon(): void {
    if (this.#closed) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.look();
    }, LOOK_SOON_MS).unref();
  }

  async #lookUntilDone(): Promise<void> {
    do {
      this.#lookAgain = false;
      try {
        await this.#look();
      } catch (error) {
        this.#options.log.warn(
          { cause: messageOf(error) },
          'the identity providers in use could not be read',
        );
        return;
      }
    } while (this.#lookAgain && !this.#closed);
  }

  async #look(): Promise<void> {
    const { store, providers } = this.#options;
    const candidates = [...providers.all()].filter(({ type, enabled }) => keepsMetadata(type) && enabled);
    const used = await usedOf(
      store.db,
      candidates.map(({ id }) => id),
    );
    this.#used = used;
    const due = candidates.filter((provider) => used.has(provider.id) && this.of(provider).isDue);
    const next = async (): Promise<void> => {
      for (let provider = due.pop(); provider !== undefined && !this.#closed; provider = due.pop())
        await this.of(provider).renew();
    };
    await Promise.all(Array.from({ length: MAX_AT_ONCE }, next));
    for (const { id } of candidates) {
      // Too old to be trusted any longer.
      if (this.#notified.has(id) && this.#entries.get(id)?.published.held === undefined) this.#notify(id);
    }
  }

  #notify(id: string): void {
    const provider = this.#options.providers.byId(id);
    if (provider === undefined || !keepsMetadata(provider.type)) return;
    if (this.#entries.get(id)?.published.held === undefined) this.#notified.delete(id);
    else this.#notified.add(id);
    for (const listener of this.#listeners) listener(id);
  }
}

function addressOf(provider: KnownProvider): string {
  return JSON.stringify(issuerAddressOf(provider) ?? null);
}

function keepsMetadata(type: AuthProviderType): boolean {
  return PROVIDER_TYPES[type].openId?.keepsMetadata === true;
}

/** Where the provider publishes its metadata; undefined if it publishes none. */
export function issuerAddressOf({
  type,
  data,
}: Pick<KnownProvider, 'type' | 'data'>): IssuerAddress | undefined {
  return PROVIDER_TYPES[type].metadata(data);
}

/** Returns those of `ids` that a share or a custom frontend uses. */
async function usedOf(db: Queries, ids: readonly string[]): Promise<Set<string>> {
  const used = new Set<string>();
  for (let at = 0; at < ids.length; at += CHUNK) {
    const some = ids.slice(at, at + CHUNK);
    for (const table of ['share_auth_provider', 'custom_frontend_auth_provider'] as const) {
      const rows = await db
        .selectFrom(table)
        .select('auth_provider_id')
        .distinct()
        .where('auth_provider_id', 'in', some)
        .execute();
      for (const row of rows) used.add(row.auth_provider_id);
    }
  }
  return used;
}
