/** One line of the share feed, or the kept file, as a checked value. A string answer says what is wrong with it. */
import type {
  GatewayDelta,
  GatewayFeedEvent,
  GatewayKeys,
  GatewayProvider,
  GatewayReplay,
  GatewayShare,
} from '#domain';

/** How far the feed was taken in. */
export interface FeedPosition {
  readonly version: number;
  readonly epoch: string;
}

/** What a gateway keeps on disk: nothing of it proves who somebody is. */
export interface KeptShares extends FeedPosition {
  readonly shares: readonly GatewayShare[];
  readonly providers: readonly GatewayProvider[];
  readonly zones: readonly string[];
}

export function parseFeedEvent(line: string): GatewayFeedEvent | string {
  const value = parseObject(line);
  if (value === undefined) return 'a line of the feed is not a JSON object';
  const { type, version, epoch } = value;
  if (type === 'heartbeat') return { type };
  if (type === 'replay')
    return isReplay(value) ? (value as unknown as GatewayReplay) : 'a replay of the feed is malformed';
  if (!isVersion(version)) return 'an event of the feed has no version';
  if (type === 'snapshot') {
    const { shares, providers, zones, keys } = value;
    const isWhole = isShares(shares) && isProviders(providers) && isTexts(zones) && isKeys(keys);
    if (typeof epoch !== 'string' || !isWhole) return 'a snapshot of the feed is malformed';
    return { type, version, epoch, shares, providers, zones, keys };
  }
  if (type !== 'delta' || !isDelta(value)) return 'a change of the feed is malformed';
  return value as unknown as GatewayDelta;
}

/** Kept by an earlier version, it has shares only. */
export function parseSnapshotFile(text: string): KeptShares | string {
  const value = parseObject(text);
  if (value === undefined) return 'not a JSON object';
  const { version, epoch, shares, providers = [], zones = [] } = value;
  const isWhole = isShares(shares) && isProviders(providers) && isTexts(zones);
  if (!isVersion(version) || typeof epoch !== 'string' || !isWhole) return 'malformed';
  return { version, epoch, shares, providers, zones };
}

function isDelta(value: Record<string, unknown>): boolean {
  const { set, removed, providers, removedProviders, endedSessions, zones, keys } = value;
  return (
    isShares(set) &&
    isTexts(removed) &&
    (providers === undefined || isProviders(providers)) &&
    (keys === undefined || isKeys(keys)) &&
    [removedProviders, endedSessions, zones].every((texts) => texts === undefined || isTexts(texts))
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isShares(value: unknown): value is GatewayShare[] {
  return Array.isArray(value) && value.every(isShare);
}

function isShare(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { id, token, hosts, authProviderIds, customHosts, frontdoorId, environmentId, updatedAtMs } = value;
  return (
    areTexts(id, token, frontdoorId, environmentId) &&
    isTexts(hosts) &&
    isTexts(authProviderIds) &&
    Array.isArray(customHosts) &&
    customHosts.every(
      (each) => isRecord(each) && areTexts(each['host']) && isTexts(each['authProviderIds']),
    ) &&
    isRecordOrNull(value['rules']) &&
    isRecordOrNull(value['inspection']) &&
    typeof updatedAtMs === 'number'
  );
}

function isProviders(value: unknown): value is GatewayProvider[] {
  return Array.isArray(value) && value.every(isProvider);
}

function isProvider(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { id, frontdoorId, name, type, enabled, version, apiKeys, tokens, logout } = value;
  return (
    areTexts(id, frontdoorId, name, type) &&
    typeof enabled === 'boolean' &&
    isVersion(version) &&
    (apiKeys === null || (isRecord(apiKeys) && Array.isArray(apiKeys['keys']))) &&
    (tokens === null ||
      (isRecord(tokens) && Array.isArray(tokens['keys']) && isTexts(tokens['algorithms']))) &&
    (logout === undefined || (isRecord(logout) && areTexts(logout['endpoint'], logout['clientId'])))
  );
}

function isKeys(value: unknown): value is GatewayKeys {
  return (
    isRecord(value) &&
    areTexts(value['apiKeyPepper']) &&
    Array.isArray(value['identityKeys']) &&
    value['identityKeys'].every((key) => isRecord(key) && areTexts(key['kid'], key['privateKey']))
  );
}

function isReplay(value: Record<string, unknown>): boolean {
  const { id, replayOf, shareId, method, target, headers, body } = value;
  return (
    areTexts(id, replayOf, shareId, method, target, body) &&
    Array.isArray(headers) &&
    headers.every((header) => isTexts(header) && header.length === 2)
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRecordOrNull(value: unknown): boolean {
  return value === null || isRecord(value);
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}
