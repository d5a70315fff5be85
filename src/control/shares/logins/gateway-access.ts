/**
 * The data that gateways need, besides shares, for access decisions: auth providers without their secrets, zones,
 * keys, and ended sessions. It reports changes; the feed serializes them.
 */
import type { GatewayKeys, GatewayProvider, GatewayZoneOwner } from '#domain/gateway-shapes';
import type { KnownProvider, ProviderDirectory } from './provider-directory.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { concerns, type Change, type Queries, type Store } from '../../store/mod.ts';
import type { IdentityKeys } from './identity-keys.ts';
import type { IssuerDirectory } from './issuer-directory.ts';

export type AccessChange =
  | { readonly type: 'provider'; readonly id: string }
  | { readonly type: 'zones' }
  | { readonly type: 'keys' }
  | { readonly type: 'ended-session'; readonly id: string }
  /** Some notifications may have been missed. */
  | { readonly type: 'missed' };

/** The interface for the feed. */
export interface GatewayAccessSource {
  provider(id: string): GatewayProvider | undefined;
  providers(): GatewayProvider[];
  zones(): readonly string[];
  /** The organizations of those zones that are custom frontends. */
  zoneOwners(): readonly GatewayZoneOwner[];
  /** Undefined for a frontdoor that was deleted. */
  organizationOf(frontdoorId: string): string | undefined;
  keys(): GatewayKeys;
  onChange(listener: (change: AccessChange) => void): void;
}

export interface StoredGatewayAccessOptions {
  readonly store: Pick<Store, 'db' | 'onChange'>;
  readonly secrets: Pick<Secrets, 'apiKeyPepper'>;
  readonly providers: ProviderDirectory;
  readonly issuers: IssuerDirectory;
  readonly identityKeys: IdentityKeys;
}

/** Rejects with errors of the store. */
export async function openGatewayAccess(options: StoredGatewayAccessOptions): Promise<StoredGatewayAccess> {
  const access = new StoredGatewayAccess(options);
  options.store.onChange((changes) => access.onChanges(changes));
  await access.readOrganizations();
  await access.readZones();
  return access;
}

export class StoredGatewayAccess implements GatewayAccessSource {
  readonly #options: StoredGatewayAccessOptions;
  readonly #apiKeyPepper: string;
  readonly #listeners: ((change: AccessChange) => void)[] = [];
  #zones: readonly string[] = [];
  #zoneOwners: readonly GatewayZoneOwner[] = [];
  /** Organizations by frontdoor. */
  readonly #organizations = new Map<string, string>();

  constructor(options: StoredGatewayAccessOptions) {
    this.#options = options;
    this.#apiKeyPepper = Buffer.from(options.secrets.apiKeyPepper()).toString('base64');
    options.providers.onChange((id) => this.#notify({ type: 'provider', id }));
    options.issuers.onChange((id) => this.#notify({ type: 'provider', id }));
    options.identityKeys.onChange(() => this.#notify({ type: 'keys' }));
  }

  provider(id: string): GatewayProvider | undefined {
    const provider = this.#options.providers.byId(id);
    return provider === undefined ? undefined : this.#gatewayProvider(provider);
  }

  providers(): GatewayProvider[] {
    return Array.from(this.#options.providers.all(), (provider) => this.#gatewayProvider(provider));
  }

  zones(): readonly string[] {
    return this.#zones;
  }

  zoneOwners(): readonly GatewayZoneOwner[] {
    return this.#zoneOwners;
  }

  organizationOf(frontdoorId: string): string | undefined {
    return this.#organizations.get(frontdoorId);
  }

  keys(): GatewayKeys {
    return { apiKeyPepper: this.#apiKeyPepper, identityKeys: this.#options.identityKeys.current() };
  }

  onChange(listener: (change: AccessChange) => void): void {
    this.#listeners.push(listener);
  }

  async onChanges(changes: readonly Change[]): Promise<void> {
    for (const { entity, id } of changes) {
      if (entity === 'login-session') this.#notify({ type: 'ended-session', id });
    }
    // Custom frontends are deleted with their frontdoor, and only that deletion is reported.
    if (changes.some(({ entity }) => entity === 'everything')) this.#notify({ type: 'missed' });
    if (changes.some(({ entity }) => entity === 'everything')) await this.readOrganizations();
    else
      await this.readOrganizations(changes.flatMap(({ entity, id }) => (entity === 'frontdoor' ? id : [])));
    if (concerns(changes, 'frontend', 'custom-frontend', 'frontdoor')) await this.readZones();
  }

  /** Reads those of some frontdoors, or of all. */
  async readOrganizations(frontdoorIds?: readonly string[]): Promise<void> {
    if (frontdoorIds?.length === 0) return;
    let query = this.#options.store.db.selectFrom('frontdoor').select(['id', 'organization_id']);
    if (frontdoorIds === undefined) this.#organizations.clear();
    else query = query.where('id', 'in', frontdoorIds);
    for (const id of frontdoorIds ?? []) this.#organizations.delete(id);
    for (const row of await query.execute()) this.#organizations.set(row.id, row.organization_id);
  }

  async readZones(): Promise<void> {
    const { zones, owners } = await zonesOf(this.#options.store.db);
    const text = (some: readonly string[], own: readonly GatewayZoneOwner[]) =>
      [...some, ...own.map(({ zone, organizationId }) => `${zone} ${organizationId}`)].join();
    if (text(zones, owners) === text(this.#zones, this.#zoneOwners)) return;
    this.#zones = zones;
    this.#zoneOwners = owners;
    this.#notify({ type: 'zones' });
  }

  #gatewayProvider(provider: KnownProvider): GatewayProvider {
    const { id, frontdoorId, name, type, enabled, version, apiKeys } = provider;
    const tokens = this.#options.issuers.tokensOf(provider);
    const logout = this.#options.issuers.logoutOf(provider);
    const sent = { id, frontdoorId, name, type, enabled, version, apiKeys, tokens };
    return logout === undefined ? sent : { ...sent, logout };
  }

  #notify(change: AccessChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

async function zonesOf(
  db: Queries,
): Promise<{ readonly zones: readonly string[]; readonly owners: readonly GatewayZoneOwner[] }> {
  const frontends = await db.selectFrom('frontend').select('zone').execute();
  const owners = await db
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .select(['hostname as zone', 'organization_id as organizationId'])
    .where('proof', '!=', 'PENDING')
    // The domains of shares are sent with these.
    .where('share_id', 'is', null)
    .orderBy('hostname')
    .execute();
  const zones = new Set([...frontends, ...owners].map(({ zone }) => zone));
  return { zones: [...zones].sort(), owners };
}
