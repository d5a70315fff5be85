/**
 * All auth providers of the installation in memory, equal to the store: loaded at the start, and again after each
 * commit that changed one. Secrets stay encrypted here. It does not know which shares use a provider.
 */
import { compileReader, Part, readJsonObject, Type } from '#base/shapes';
import type { GatewayProvider } from '#domain/gateway-shapes';
import { hasKeys, type AuthProviderType, type ProviderData } from '#domain/provider-types';
import { mapAlone } from '#net';
import type { AuthProviderTable, Change, Queries, Store } from '../../store/mod.ts';

/** What gateways need of the data of a provider of API keys. */
const readApiKeyData = compileReader(
  Type.Object({
    placement: Part.oneOf('header', 'query', 'bearer'),
    name: Part.withDefault(Part.text(), ''),
    keys: Type.Array(Type.Object({ name: Part.text(), expiresAt: Type.Optional(Part.text()) })),
  }),
);

export interface KnownProvider {
  readonly id: string;
  readonly frontdoorId: string;
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
  readonly version: number;
  /** With every secret masked. */
  readonly data: ProviderData;
  readonly secretsSealed: string | null;
  /** Set for a provider with keys. */
  readonly apiKeys: GatewayProvider['apiKeys'];
}

const CHUNK = 500;

export class ProviderDirectory {
  readonly #db: Queries;
  readonly #byId = new Map<string, KnownProvider>();
  readonly #listeners: ((id: string) => void)[] = [];

  private constructor(db: Queries) {
    this.#db = db;
  }

  /** Rejects with errors of the store. */
  static async open(store: Pick<Store, 'db' | 'onChange'>): Promise<ProviderDirectory> {
    const directory = new ProviderDirectory(store.db);
    // Subscribed before the first read, because another control plane may write in between.
    store.onChange((changes) => directory.#onChanges(changes));
    await directory.#readAll();
    return directory;
  }

  byId(id: string): KnownProvider | undefined {
    return this.#byId.get(id);
  }

  all(): IterableIterator<KnownProvider> {
    return this.#byId.values();
  }

  /** Calls the listener with the ids of providers that were added, changed or removed. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  async #onChanges(changes: readonly Change[]): Promise<void> {
    if (changes.some(({ entity }) => entity === 'everything')) {
      await this.#readAll();
      return;
    }
    const ids = new Set<string>();
    const frontdoors = new Set<string>();
    for (const { entity, id } of changes) {
      if (entity === 'auth-provider') ids.add(id);
      else if (entity === 'frontdoor') frontdoors.add(id);
    }
    // Providers are deleted with their frontdoor, and only that deletion is reported.
    if (frontdoors.size > 0) {
      for (const { id, frontdoorId } of this.#byId.values()) if (frontdoors.has(frontdoorId)) ids.add(id);
    }
    const wanted = [...ids];
    for (let at = 0; at < wanted.length; at += CHUNK) {
      const some = wanted.slice(at, at + CHUNK);
      const rows = await this.#db.selectFrom('auth_provider').selectAll().where('id', 'in', some).execute();
      this.#put(some, await withKeys(this.#db, rows));
    }
  }

  async #readAll(): Promise<void> {
    const gone = new Set(this.#byId.keys());
    for (let after = ''; ;) {
      const rows = await this.#db
        .selectFrom('auth_provider')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(CHUNK)
        .execute();
      const found = await withKeys(this.#db, rows);
      for (const { id } of found) gone.delete(id);
      this.#put(
        found.map(({ id }) => id),
        found,
      );
      if (rows.length < CHUNK) break;
      after = rows.at(-1)!.id;
    }
    this.#put([...gone], []);
  }

  #put(ids: readonly string[], found: readonly KnownProvider[]): void {
    const foundIds = new Map(found.map((provider) => [provider.id, provider]));
    for (const id of ids) {
      const provider = foundIds.get(id);
      if (provider !== undefined) this.#byId.set(id, provider);
      else if (!this.#byId.delete(id)) continue;
      for (const listener of this.#listeners) listener(id);
    }
  }
}

async function withKeys(db: Queries, rows: readonly AuthProviderTable[]): Promise<KnownProvider[]> {
  const ids = rows.filter(({ type }) => hasKeys(type)).map(({ id }) => id);
  const keys =
    ids.length === 0
      ? []
      : await db
          .selectFrom('auth_provider_key')
          .select(['auth_provider_id', 'name', 'key_hmac'])
          .where('auth_provider_id', 'in', ids)
          .execute();
  const keysOf = Map.groupBy(keys, (key) => key.auth_provider_id);
  const id = (row: AuthProviderTable): string => `the auth provider ${row.id} of the store`;
  return mapAlone(rows, id, (row) => {
    const data = readJsonObject(row.data);
    const hmacOf = new Map((keysOf.get(row.id) ?? []).map((key) => [key.name, key.key_hmac]));
    return {
      id: row.id,
      frontdoorId: row.frontdoor_id,
      name: row.name,
      type: row.type,
      enabled: row.enabled === 1,
      version: row.version,
      data,
      secretsSealed: row.secrets_sealed,
      apiKeys: hasKeys(row.type) ? apiKeysOf(data, hmacOf) : null,
    };
  });
}

/** Throws if the data is damaged. */
function apiKeysOf(data: ProviderData, hmacOf: ReadonlyMap<string, string>): KnownProvider['apiKeys'] {
  const read = readApiKeyData(data);
  if ('rule' in read) throw new TypeError(`${read.field} ${read.rule}`);
  const { placement, name, keys } = read.value;
  return {
    placement,
    name: placement === 'bearer' ? '' : name,
    keys: keys.flatMap(({ name: keyName, expiresAt }) => {
      const hmac = hmacOf.get(keyName);
      // A key that was deleted between two statements of a reader admits nobody.
      if (hmac === undefined) return [];
      return [{ name: keyName, hmac, expiresAtMs: expiresAt === undefined ? null : Date.parse(expiresAt) }];
    }),
  };
}
