/**
 * Decodes one share or provider of the feed. An unreadable entry affects only itself: such a share is closed,
 * because its rules are unknown, and such a provider admits nobody. Unknown fields are ignored, except those of a
 * share's rules, which `access-rules-codec.ts` reads.
 */
import { readAccessRules, type AccessRules, type GatewayProvider, type GatewayShare } from '#domain';

/** A share as this gateway applied it. */
export interface TakenShare extends GatewayShare {
  /** The field of its record that cannot be read. The share admits nobody. */
  readonly unreadable?: string;
}

export interface FeedProblem {
  readonly kind: 'share' | 'provider' | 'key' | 'zone' | 'replay' | 'event';
  /** Id of the entry; '' if it cannot be read. */
  readonly id: string;
  /** Name of a share, if it can be read. */
  readonly token?: string;
  /** Path of the invalid field in the entry. */
  readonly field: string;
}

export type ReadShare =
  | { readonly share: TakenShare; readonly problem: FeedProblem | undefined }
  /** The entry does not identify its share. */
  | { readonly share: undefined; readonly problem: FeedProblem };

export function readShare(value: unknown): ReadShare {
  const record = recordOf(value);
  const { id, token = '', hosts } = record;
  const name = typeof token === 'string' ? token : '';
  if (typeof id !== 'string' || id === '')
    return { share: undefined, problem: { kind: 'share', id: '', token: name, field: 'id' } };
  const rules = rulesOf(record['rules']);
  const unreadable = shareProblem(record) ?? (typeof rules === 'string' ? rules : undefined);
  if (unreadable === undefined)
    return { share: { ...record, rules } as unknown as GatewayShare, problem: undefined };
  const custom = Array.isArray(record['customHosts']) ? record['customHosts'].map(recordOf) : [];
  const names = [...(Array.isArray(hosts) ? hosts : []), ...custom.map(({ host }) => host)];
  const { frontdoorId, environmentId, updatedAtMs } = record;
  const identified = {
    ...{ id, token: name, frontdoorId: textOr(frontdoorId), environmentId: textOr(environmentId) },
    ...{ updatedAtMs: typeof updatedAtMs === 'number' ? updatedAtMs : 0 },
  };
  return {
    share: closedShare(
      { ...identified, hosts: names.filter((host) => typeof host === 'string') },
      unreadable,
    ),
    problem: { kind: 'share', id, token: name, field: unreadable },
  };
}

/** Keeps the share's names, which answer that it is closed. */
export function closedShare(
  share: Pick<GatewayShare, 'id' | 'token' | 'hosts' | 'frontdoorId' | 'environmentId' | 'updatedAtMs'>,
  unreadable: string,
): TakenShare {
  const { id, token, hosts, frontdoorId, environmentId, updatedAtMs } = share;
  return {
    ...{ id, token, hosts: [...new Set(hosts)], frontdoorId, environmentId, updatedAtMs },
    ...{ authProviderIds: [], customHosts: [], rules: null, inspection: null, unreadable },
  };
}

export type ReadProvider =
  | { readonly provider: GatewayProvider; readonly problem: undefined }
  | { readonly provider: undefined; readonly problem: FeedProblem };

export function readProvider(value: unknown): ReadProvider {
  const record = recordOf(value);
  const field = providerProblem(record);
  if (field === undefined) return { provider: record as unknown as GatewayProvider, problem: undefined };
  return { provider: undefined, problem: { kind: 'provider', id: textOr(record['id']), field } };
}

/** Returns a string with the field if it cannot be read. */
function rulesOf(value: unknown): AccessRules | null | string {
  if (value === null) return null;
  const read = readAccessRules(value);
  if ('rules' in read) return read.rules;
  return read.unreadable === '' ? 'rules' : `rules.${read.unreadable}`;
}

function shareProblem(record: Readonly<Record<string, unknown>>): string | undefined {
  const { hosts, authProviderIds, customHosts, inspection, updatedAtMs, unreadable } = record;
  // As it was kept on disk.
  if (typeof unreadable === 'string') return unreadable;
  const texts = firstThat(record, ['token', 'frontdoorId', 'environmentId'], isNotText);
  if (texts !== undefined) return texts;
  if (!isTexts(hosts)) return 'hosts';
  if (!isTexts(authProviderIds)) return 'authProviderIds';
  if (!Array.isArray(customHosts) || !customHosts.every(isCustomHost)) return 'customHosts';
  if (typeof updatedAtMs !== 'number') return 'updatedAtMs';
  return inspection === null || isInspection(inspection) ? undefined : 'inspection';
}

function isCustomHost(value: unknown): boolean {
  const { host, authProviderIds } = recordOf(value);
  return typeof host === 'string' && isTexts(authProviderIds);
}

function isInspection(value: unknown): boolean {
  const { maxBodyBytes, untilMs } = recordOf(value);
  return Number.isFinite(maxBodyBytes) && Number.isFinite(untilMs);
}

function providerProblem(record: Readonly<Record<string, unknown>>): string | undefined {
  const texts = firstThat(record, ['id', 'frontdoorId', 'name', 'type'], isNotText);
  if (texts !== undefined) return texts;
  const { enabled, version, apiKeys, tokens, logout } = record;
  if (typeof enabled !== 'boolean') return 'enabled';
  if (!isVersion(version)) return 'version';
  if (apiKeys !== null && !isApiKeys(recordOf(apiKeys))) return 'apiKeys';
  if (tokens !== null && !isTokenIssuer(recordOf(tokens))) return 'tokens';
  if (logout === undefined) return undefined;
  return firstThat(recordOf(logout), ['endpoint', 'clientId'], isNotText) === undefined
    ? undefined
    : 'logout';
}

function isApiKeys({ placement, name, keys }: Readonly<Record<string, unknown>>): boolean {
  return (
    (placement === 'header' || placement === 'query' || placement === 'bearer') &&
    typeof name === 'string' &&
    Array.isArray(keys) &&
    keys.map(recordOf).every(({ name: keyName, hmac, expiresAtMs }) => {
      const isTimed = expiresAtMs === null || Number.isFinite(expiresAtMs);
      return typeof keyName === 'string' && typeof hmac === 'string' && isTimed;
    })
  );
}

function isTokenIssuer({ issuer, audience, algorithms, keys }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof issuer === 'string' &&
    typeof audience === 'string' &&
    isTexts(algorithms) &&
    Array.isArray(keys) &&
    keys.every(isRecord)
  );
}

function firstThat(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
  isWrong: (value: unknown) => boolean,
): string | undefined {
  return names.find((name) => isWrong(record[name]));
}

function isNotText(value: unknown): boolean {
  return typeof value !== 'string';
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value that is not an object is read as one without fields. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
