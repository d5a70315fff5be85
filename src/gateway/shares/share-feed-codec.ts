/**
 * Decodes a line of the share feed, or the kept file, and collects its problems. A bad entry affects only itself.
 * An event is refused (the result is a string with the reason) only if the entries that it removes are unknown,
 * because then a whole list is needed.
 */
import type {
  GatewayDelta,
  GatewayFeedEvent,
  GatewayKeys,
  GatewayProvider,
  GatewayReplay,
  GatewayShare,
} from '#domain';
import {
  isRecord,
  isTexts,
  isVersion,
  readProvider,
  readShare,
  recordOf,
  type FeedProblem,
  type TakenShare,
} from './feed-record-codec.ts';

/** The position in the feed up to which events were applied. */
export interface FeedPosition {
  readonly version: number;
  readonly epoch: string;
}

/** The content of the kept file, which has no secrets. */
export interface KeptShares extends FeedPosition {
  readonly shares: readonly GatewayShare[];
  readonly providers: readonly GatewayProvider[];
  readonly zones: readonly string[];
}

/** Format of the kept file. A file without a format is older, and is read in the same way. */
export const KEPT_SHARES_FORMAT = 1;

export interface ReadFeedEvent {
  /** Undefined if there is nothing to apply. Problems may have been found. */
  readonly event: GatewayFeedEvent | undefined;
  readonly problems: readonly FeedProblem[];
}

export function parseFeedEvent(line: string): ReadFeedEvent | string {
  const value = parseObject(line);
  if (value === undefined) return 'a line of the feed is not a JSON object';
  const { type, version, epoch } = value;
  if (type === 'heartbeat') return { event: { type }, problems: [] };
  if (type === 'replay') {
    if (isReplay(value)) return { event: value as unknown as GatewayReplay, problems: [] };
    return { event: undefined, problems: [{ kind: 'replay', id: idOf(value), field: '' }] };
  }
  // Commands have no version. Unknown ones from a newer control plane are ignored.
  if (version === undefined && typeof type === 'string' && type !== 'snapshot' && type !== 'delta')
    return { event: undefined, problems: [{ kind: 'event', id: '', field: `type ${type.slice(0, 64)}` }] };
  if (!isVersion(version)) return 'an event of the feed has no version';
  if (type === 'snapshot') {
    const read = readList(value);
    if (typeof epoch !== 'string' || typeof read === 'string') return 'a snapshot of the feed is malformed';
    const { problems, ...list } = read;
    const keys = readKeys(value['keys'], problems);
    return { event: { type, version, epoch, ...list, keys }, problems };
  }
  if (type !== 'delta') return 'an event of the feed has an unknown type';
  return readDelta(value, version);
}

/** `text` is the content of the kept file. */
export function parseSnapshotFile(
  text: string,
): { readonly kept: KeptShares; readonly problems: readonly FeedProblem[] } | string {
  const value = parseObject(text);
  if (value === undefined) return 'not a JSON object';
  const { format, version, epoch, providers = [], zones = [] } = value;
  if (format !== undefined && format !== KEPT_SHARES_FORMAT) return 'of another version';
  const read = readList({ ...value, providers, zones });
  if (!isVersion(version) || typeof epoch !== 'string' || typeof read === 'string') return 'malformed';
  const { problems, ...list } = read;
  return { kept: { version, epoch, ...list }, problems };
}

type List = Pick<KeptShares, 'shares' | 'providers' | 'zones'> & { readonly problems: FeedProblem[] };

/** Returns a string if there is no list. */
function readList({ shares, providers, zones }: Readonly<Record<string, unknown>>): List | string {
  if (!Array.isArray(shares) || !Array.isArray(providers) || !Array.isArray(zones)) return 'malformed';
  const problems: FeedProblem[] = [];
  return {
    shares: shares.flatMap((share, at) => {
      const read = readShare(share);
      if (read.problem !== undefined) problems.push(read.problem);
      if (read.share !== undefined) return [read.share];
      // Nothing can change it by its id; the next list replaces or removes it.
      return readShare({ ...recordOf(share), id: `unreadable-${at}`, unreadable: 'id' }).share ?? [];
    }),
    providers: readProviders(providers, problems),
    zones: zones.filter((zone, at) => {
      if (typeof zone === 'string') return true;
      problems.push({ kind: 'zone', id: '', field: `${at}` });
      return false;
    }),
    problems,
  };
}

function readProviders(values: readonly unknown[], problems: FeedProblem[]): GatewayProvider[] {
  return values.flatMap((value) => {
    const { provider, problem } = readProvider(value);
    if (problem !== undefined) problems.push(problem);
    return provider ?? [];
  });
}

/** If the keys cannot be read, the gateway signs nothing and accepts no API keys. */
function readKeys(value: unknown, problems: FeedProblem[]): GatewayKeys {
  const { apiKeyPepper, identityKeys } = recordOf(value);
  if (typeof apiKeyPepper !== 'string') problems.push({ kind: 'key', id: '', field: 'apiKeyPepper' });
  if (!Array.isArray(identityKeys)) problems.push({ kind: 'key', id: '', field: 'identityKeys' });
  return {
    apiKeyPepper: typeof apiKeyPepper === 'string' ? apiKeyPepper : '',
    identityKeys: (Array.isArray(identityKeys) ? identityKeys : []).filter((each, at) => {
      const { kid, privateKey, publicJwk } = recordOf(each);
      if (typeof kid === 'string' && typeof privateKey === 'string' && isRecord(publicJwk)) return true;
      problems.push({ kind: 'key', id: typeof kid === 'string' ? kid : '', field: `identityKeys.${at}` });
      return false;
    }),
  };
}

function readDelta(value: Readonly<Record<string, unknown>>, version: number): ReadFeedEvent | string {
  const { set, removed, providers = [], removedProviders = [], endedSessions = [], zones } = value;
  const isWhole = [removed, removedProviders, endedSessions, zones ?? []].every(isTexts);
  if (!isWhole || !Array.isArray(set) || !Array.isArray(providers))
    return 'a change of the feed is malformed';
  const problems: FeedProblem[] = [];
  const shares: TakenShare[] = [];
  for (const share of set) {
    const read = readShare(share);
    if (read.problem !== undefined) problems.push(read.problem);
    if (read.share === undefined) return 'a change of the feed is about an unknown share';
    shares.push(read.share);
  }
  const read = readProviders(providers, problems);
  // A provider whose change cannot be read is no longer used.
  const unreadable = problems.flatMap(({ kind, id }) => (kind === 'provider' ? [id] : []));
  if (unreadable.includes('')) return 'a change of the feed is about an unknown provider';
  const gone = [...(removedProviders as string[]), ...unreadable];
  const delta: GatewayDelta = {
    ...{ type: 'delta', version, set: shares, removed: removed as string[] },
    ...(read.length === 0 ? {} : { providers: read }),
    ...(gone.length === 0 ? {} : { removedProviders: gone }),
    ...(value['endedSessions'] === undefined ? {} : { endedSessions: endedSessions as string[] }),
    ...(zones === undefined ? {} : { zones: zones as string[] }),
    ...(value['keys'] === undefined ? {} : { keys: readKeys(value['keys'], problems) }),
  };
  return { event: delta, problems };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isReplay(value: Readonly<Record<string, unknown>>): boolean {
  const { id, replayOf, shareId, method, target, headers, body } = value;
  return (
    isTexts([id, replayOf, shareId, method, target, body]) &&
    Array.isArray(headers) &&
    headers.every((header) => isTexts(header) && header.length === 2)
  );
}

function idOf({ id }: Readonly<Record<string, unknown>>): string {
  return typeof id === 'string' ? id.slice(0, 64) : '';
}
