/**
 * Settles the secrets of a provider's data at a write: which are new, which are kept because their mask was sent
 * back, and the data without them. A secret is shown only in the response to the write that set it.
 */
import { isDeepStrictEqual } from 'node:util';
import { definedFields } from '#base';
import { jsonReader, Part } from '#base/shapes';
import { invalidValue } from '#domain';
import { hasKeys, PROVIDER_TYPES, type AuthProviderType, type ProviderData } from '#domain/provider-types';
import { MASK, randomToken, type Secrets } from '../../secrets/mod.ts';

/** The stored part of an API_KEY provider's key that is not in the data. */
export interface StoredKey {
  readonly name: string;
  readonly hmac: string;
  readonly lastUsedAtMs: number | null;
}

/** A provider's stored secrets; both are empty for a new one. */
export interface StoredSecrets {
  readonly secretsSealed: string | null;
  readonly keys: readonly StoredKey[];
}

/** A provider before a write. */
export interface StoredProvider extends StoredSecrets {
  readonly type: AuthProviderType;
  readonly data: ProviderData;
}

export interface SettledData extends StoredSecrets {
  /** As it is stored and read later: with every secret masked. */
  readonly data: ProviderData;
  /** As the response to this write shows it. */
  readonly shown: ProviderData;
}

interface KeyItem {
  readonly name: string;
  readonly key?: string;
  readonly expiresAt?: string;
}

/** A prefix that identifies leaked keys, for people and for secret scanners. */
const KEY_PREFIX = 'fdk_';

/**
 * `data` satisfies its schema. Throws `invalid` for a mask without a stored secret, for one whose secret would be
 * sent to another address, and for repeated names or keys.
 */
export function settleProviderData(
  secrets: Secrets,
  type: AuthProviderType,
  data: ProviderData,
  stored?: StoredProvider,
): SettledData {
  return hasKeys(type)
    ? settleKeys(secrets, data, stored?.keys ?? [])
    : settleSealed(secrets, type, data, stored);
}

/** Returns the data as reads show them: each key with the time of its last use. */
export function shownProviderData(data: ProviderData, keys: readonly StoredKey[]): ProviderData {
  const items = data['keys'] as readonly KeyItem[] | undefined;
  if (items === undefined) return data;
  const storedOf = byName(keys);
  return { ...data, keys: items.map((item) => withLastUse(item, storedOf.get(item.name))) };
}

function settleSealed(
  secrets: Secrets,
  type: AuthProviderType,
  data: ProviderData,
  stored: StoredProvider | undefined,
): SettledData {
  const before = stored === undefined ? {} : unsealedSecrets(secrets, stored.secretsSealed);
  const mayKeep =
    stored?.type === type &&
    destinationsOf(type).every((property) => stored.data[property] === data[property]);
  const after: Record<string, string> = {};
  const masked: Record<string, unknown> = { ...data };
  for (const property of PROVIDER_TYPES[type].secrets) {
    const given = data[property] as string | undefined;
    if (given === undefined) continue;
    const value = given !== MASK ? given : mayKeep ? before[property] : undefined;
    if (value === undefined)
      throw invalidValue(`data.${property}`, 'secret, as none is stored that may be kept');
    after[property] = value;
    masked[property] = MASK;
  }
  return {
    data: masked,
    shown: data,
    // Encrypted again only if they changed, so that equal texts mean equal secrets.
    secretsSealed: isDeepStrictEqual(before, after)
      ? (stored?.secretsSealed ?? null)
      : Object.keys(after).length === 0
        ? null
        : secrets.seal(JSON.stringify(after)),
    keys: [],
  };
}

/**
 * The properties that decide where a secret is sent: all texts besides secrets. If one of them changes, the mask does not
 * keep the secret.
 */
function destinationsOf(type: AuthProviderType): readonly string[] {
  const { schema, secrets } = PROVIDER_TYPES[type];
  return Object.entries(schema.properties).flatMap(([name, property]) =>
    property['type'] === 'string' && !secrets.includes(name) ? name : [],
  );
}

const readSecrets = jsonReader(Part.mapOf(Part.text()));

/** Returns the secrets of a provider's data by property. Throws if they are damaged. */
export function unsealedSecrets(
  secrets: Pick<Secrets, 'unseal'>,
  sealed: string | null,
): Readonly<Record<string, string>> {
  return sealed === null ? {} : readSecrets(secrets.unseal(sealed));
}

function settleKeys(secrets: Secrets, data: ProviderData, stored: readonly StoredKey[]): SettledData {
  const storedOf = byName(stored);
  const keys = new Map<string, StoredKey>();
  const hmacs = new Set<string>();
  const masked: KeyItem[] = [];
  const shown: KeyItem[] = [];
  for (const [at, { name, key, expiresAt }] of (data['keys'] as readonly KeyItem[]).entries()) {
    if (keys.has(name)) throw invalidValue(`data.keys.${at}.name`, 'unique name');
    const before = storedOf.get(name);
    if (key === MASK && before === undefined)
      throw invalidValue(`data.keys.${at}.key`, 'key, as none is stored for this name');
    const value = key ?? KEY_PREFIX + randomToken();
    const hmac = value === MASK ? before!.hmac : secrets.apiKeyHmac(value);
    if (hmacs.has(hmac)) throw invalidValue(`data.keys.${at}.key`, 'unique key');
    hmacs.add(hmac);
    const kept = before?.hmac === hmac ? before : { name, hmac, lastUsedAtMs: null };
    keys.set(name, kept);
    const item = definedFields({ name, key: MASK, expiresAt });
    masked.push(item);
    shown.push(value === MASK ? withLastUse(item, kept) : { ...item, key: value });
  }
  return {
    data: { ...data, keys: masked },
    shown: { ...data, keys: shown },
    secretsSealed: null,
    keys: [...keys.values()],
  };
}

function byName(keys: readonly StoredKey[]): ReadonlyMap<string, StoredKey> {
  return new Map(keys.map((key) => [key.name, key]));
}

function withLastUse(item: KeyItem, stored: StoredKey | undefined) {
  const lastUsedAtMs = stored?.lastUsedAtMs ?? null;
  return { ...item, lastUsedAt: lastUsedAtMs === null ? null : new Date(lastUsedAtMs).toISOString() };
}
