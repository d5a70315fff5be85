/**
 * Decodes a line of the share feed, or the kept file, and collects its problems. A bad entry affects only itself.
 * An event is refused (the result is a string with the reason) only if the entries that it removes are unknown,
 * because then a whole list is needed.
 */
import type { LostEntry } from '#base/shapes';
import {
  gatewayFeedShape,
  keptSharesShape,
  remainsOf,
  type FeedList,
  type GatewayDelta,
  type GatewayFeedEvent,
  type KeptShares,
  type ServedShare,
} from '#domain/gateway-shapes';
import { closedShare, type FeedProblem } from './closed-share.ts';

/** The position in the feed up to which events were applied. */
export type FeedPosition = Pick<KeptShares, 'version' | 'epoch'>;

export interface ReadFeedEvent {
  /** Undefined if there is nothing to apply. Problems may have been found. */
  readonly event: GatewayFeedEvent | undefined;
  readonly problems: readonly FeedProblem[];
}

/** Longest part of a text from outside that is logged. */
const MAX_LOGGED_CHARS = 64;

export function parseFeedEvent(line: string): ReadFeedEvent | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'a line of the feed is not JSON';
  }
  const read = gatewayFeedShape.read(value);
  if ('problem' in read) return unreadEvent(value, read);
  const { value: event, lost } = read;
  const problems = lost.map(problemOf);
  if (event.type === 'snapshot' || event.type === 'shares')
    return { event: { ...event, shares: [...event.shares, ...lost.flatMap(closedOf)] }, problems };
  return event.type === 'delta' ? readDelta(event, lost, problems) : { event, problems };
}

/** `text` is the content of the kept file. */
export function parseSnapshotFile(
  text: string,
): { readonly kept: KeptShares; readonly problems: readonly FeedProblem[] } | string {
  const read = keptSharesShape.readText(text);
  if ('problem' in read) return read.problem;
  const { value: kept, lost } = read;
  const closed = kept.shares.flatMap(({ id, token, unreadable }): FeedProblem[] =>
    unreadable === undefined ? [] : [{ kind: 'share', id, token, field: unreadable }],
  );
  const shares = [...kept.shares, ...lost.flatMap(closedOf)];
  return { kept: { ...kept, shares }, problems: [...closed, ...lost.map(problemOf)] };
}

/** Commands have no version: what a newer control plane asks for beyond the known ones is not done. */
function unreadEvent(value: unknown, { problem, field }: { problem: string; field: string }) {
  const { type, version, id } = remainsOf(value);
  if (version !== undefined || type === '' || type === 'snapshot' || type === 'delta') return problem;
  const unread: FeedProblem =
    type === 'replay'
      ? { kind: 'replay', id: id.slice(0, MAX_LOGGED_CHARS), field }
      : { kind: 'event', id: '', field: `type ${type.slice(0, MAX_LOGGED_CHARS)}` };
  return { event: undefined, problems: [unread] };
}

function readDelta(
  delta: GatewayDelta,
  lost: readonly LostEntry[],
  problems: readonly FeedProblem[],
): ReadFeedEvent | string {
  if (lost.length === 0) return { event: delta, problems };
  const unknown = problems.find(({ kind, id }) => id === '' && (kind === 'share' || kind === 'provider'));
  if (unknown !== undefined) return `a change of the feed is of an unknown ${unknown.kind}`;
  // A provider that changed in a way that is not understood no longer counts.
  const gone = problems.flatMap(({ kind, id }) => (kind === 'provider' ? [id] : []));
  const event: GatewayDelta = {
    ...delta,
    set: [...delta.set, ...lost.flatMap(closedOf)],
    ...(gone.length === 0 ? {} : { removedProviders: [...(delta.removedProviders ?? []), ...gone] }),
  };
  return { event, problems };
}

function problemOf({ list, index, field, entry }: LostEntry): FeedProblem {
  const kind = list as FeedList;
  const { id, kid, token } = remainsOf(entry);
  if (kind === 'share') return { kind, id, token, field };
  if (kind === 'provider') return { kind, id, field };
  if (kind === 'zone') return { kind, id: '', field: `${index}` };
  return { kind, id: kid, field: index === -1 ? field : `identityKeys.${index}` };
}

/** Nobody can change a share without an id: the next list brings or removes it. */
function closedOf({ list, index, field, entry }: LostEntry): ServedShare[] {
  if (list !== ('share' satisfies FeedList)) return [];
  const remains = remainsOf(entry);
  const hosts = [...remains.hosts, ...remains.customHosts.map(({ host }) => host)];
  const id = remains.id === '' ? `unreadable-${index}` : remains.id;
  return [closedShare({ ...remains, id, hosts }, field === '' ? 'id' : field)];
}
