/** One line of the share feed, or the kept file, as a checked value. A string answer says what is wrong with it. */
import type { GatewayFeedEvent, GatewayShare } from '#domain';

/** How far the feed was taken in. */
export interface FeedPosition {
  readonly version: number;
  readonly epoch: string;
}

export interface KeptShares extends FeedPosition {
  readonly shares: readonly GatewayShare[];
}

export function parseFeedEvent(line: string): GatewayFeedEvent | string {
  const value = parseObject(line);
  if (value === undefined) return 'a line of the feed is not a JSON object';
  const { type, version, epoch, shares, set, removed } = value;
  if (type === 'heartbeat') return { type };
  if (!isVersion(version)) return 'an event of the feed has no version';
  if (type === 'snapshot') {
    if (typeof epoch !== 'string' || !isShares(shares)) return 'a snapshot of the feed is malformed';
    return { type, version, epoch, shares };
  }
  if (type !== 'delta' || !isShares(set) || !isTexts(removed)) return 'a change of the feed is malformed';
  return { type, version, set, removed };
}

export function parseSnapshotFile(text: string): KeptShares | string {
  const value = parseObject(text);
  if (value === undefined) return 'not a JSON object';
  const { version, epoch, shares } = value;
  if (!isVersion(version) || typeof epoch !== 'string' || !isShares(shares)) return 'malformed';
  return { version, epoch, shares };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
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
  if (typeof value !== 'object' || value === null) return false;
  const { id, token, hosts, authProviderIds, frontdoorId, environmentId, updatedAtMs } = value as Record<
    string,
    unknown
  >;
  const texts = [id, token, frontdoorId, environmentId];
  return (
    texts.every((text) => typeof text === 'string') &&
    isTexts(hosts) &&
    isTexts(authProviderIds) &&
    typeof updatedAtMs === 'number'
  );
}
