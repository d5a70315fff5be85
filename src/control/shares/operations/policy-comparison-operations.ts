/** The operations that show which recorded requests another policy, or other auth providers, would decide differently. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnswerOf } from '#contract';
import type { PolicyComparisonAnswer } from '#contract/schemas';
import type { Share } from '#domain';
import {
  AccessComparer,
  type AccessExplanation,
  type ExplainedProvider,
  type RecordedRequest,
} from '#domain/access';
import { accessRulesOf } from '../policy/access-rules.ts';
import { draftPolicyOf } from '../policy/policy-record.ts';
import { sharesOfPolicy } from '../records/access-policy-store.ts';
import { findSharePolicy } from '../records/share-policy-store.ts';
import { listFailures, listInspected, type StoredFailure } from '../records/request-record-store.ts';
import { isoTime, ok, unstored, type Call, type ChangeParts, type Handlers } from './call.ts';
import { guardsOf, providersOf, withProviders } from './explained-share.ts';
import { checkSharedRules, namedPolicy } from './policy-operations.ts';
import { namedShare } from './named-share.ts';

const MOST_COMPARED = 100;
/** The comparison for a shared policy reads the requests of at most so many of its shares. */
const MOST_SHARES = 25;

/** A recorded request, as it is shown and as it is decided about. */
interface Compared extends RecordedRequest {
  readonly id: string;
}

export const policyComparisonHandlers: Handlers<ChangeParts, 'compareSharePolicy' | 'comparePolicy'> = {
  async compareSharePolicy(parts, call) {
    const { db } = parts.store;
    const share = await namedShare(db, call);
    const { authProviderIds, ...policy } = call.body;
    const stored = await findSharePolicy(db, share.id);
    const before = stored === undefined ? null : accessRulesOf(stored);
    const keepsPolicy = authProviderIds !== undefined && Object.keys(policy).length === 0;
    const comparer = new AccessComparer(before, keepsPolicy ? before : accessRulesOf(draftPolicyOf(policy)));
    const draft = await withProviders(parts, call, share, authProviderIds);
    return unstored(ok(await comparedShare(parts, call, comparer, share, draft)));
  },

  async comparePolicy(parts, call) {
    const { id, stored, shareCount } = await namedPolicy(parts, call);
    checkSharedRules(call.body);
    const comparer = new AccessComparer(accessRulesOf(stored), accessRulesOf(draftPolicyOf(call.body)));
    const shares: AnswerOf<'comparePolicy'>['shares'] = [];
    let [comparedShares, compared, unknown] = [0, 0, 0];
    for await (const some of sharesOfPolicy(parts.store.db, id)) {
      for (const share of some.slice(0, MOST_SHARES - comparedShares)) {
        const found = await comparedShare(parts, call, comparer, share, share);
        comparedShares += 1;
        compared += found.compared;
        unknown += found.unknown;
        if (found.different.length > 0) shares.push({ token: share.token, ...found });
        // Other requests are answered between two shares.
        await nextTurn();
      }
      if (comparedShares === MOST_SHARES) break;
    }
    return unstored(ok({ shareCount, comparedShares, compared, unknown, shares }));
  },
};

/** `draft` is the share with the auth providers that it would have. */
async function comparedShare(
  parts: ChangeParts,
  call: Call,
  comparer: AccessComparer,
  share: Share,
  draft: Share,
): Promise<PolicyComparisonAnswer> {
  const records = await recordsOf(parts, call, share);
  const guards = await guardsByHost(parts, call, share, records);
  const draftGuards = draft === share ? guards : await guardsByHost(parts, call, draft, records);
  const different: PolicyComparisonAnswer['different'] = [];
  let unknown = 0;
  for (const record of records) {
    const found = comparer.compare(guards.get(record.host)!, record, draftGuards.get(record.host));
    if (found.outcome === 'unknown') unknown += 1;
    if (found.outcome === 'different') different.push(differenceOf(record, found));
  }
  const oldest = records.at(-1)?.atMs;
  const since = oldest === undefined ? null : isoTime(oldest);
  return { compared: records.length, unknown, since, different };
}

function differenceOf(
  { id, atMs, method, host, target, address, identity }: Compared,
  { before, after }: Readonly<Record<'before' | 'after', AccessExplanation>>,
): PolicyComparisonAnswer['different'][number] {
  const brief = ({ decision, status, reason }: AccessExplanation) => ({ decision, status, reason });
  return {
    id,
    at: isoTime(atMs),
    method,
    host,
    path: target.split('?')[0]!,
    client: address,
    identity,
    before: brief(before),
    after: brief(after),
  };
}

/** The latest requests that are recorded, with or without a failure, where the share is served now; the newest first. */
async function recordsOf({ store }: ChangeParts, call: Call, share: Share): Promise<readonly Compared[]> {
  const request = { page: 0, size: MOST_COMPARED, sort: 'default', direction: 'asc' } as const;
  const [inspected, failures] = await Promise.all([
    listInspected(store.db, share.id, request, {}),
    listFailures(store.db, call.frontdoor, request, { shareToken: share.token }),
  ]);
  const byId = new Map<string, Compared>();
  for (const failure of failures.content) byId.set(failure.id, failureRecord(failure));
  for (const { replayOf, request: sent, ...one } of inspected.content) {
    // Replays pass without a decision.
    if (replayOf !== null) byId.delete(one.id);
    else byId.set(one.id, { ...common(one), target: one.target, ...browserFacts(one.method, sent.headers) });
  }
  return [...byId.values()]
    .filter(({ host }) => guardsOf(share, host) !== undefined)
    .sort((one, other) => other.atMs - one.atMs || (one.id < other.id ? 1 : -1))
    .slice(0, MOST_COMPARED);
}

function common(
  record: Pick<StoredFailure, 'id' | 'at' | 'host' | 'method' | 'client' | 'identity' | 'decision'>,
) {
  const { id, at, host, method, client, identity, decision } = record;
  return { id, atMs: at, host: host.toLowerCase(), method, address: client, identity, decision };
}

function failureRecord(failure: StoredFailure): Compared {
  return { ...common(failure), target: failure.path, origin: undefined, isPreflight: false };
}

function browserFacts(method: string, headers: readonly (readonly [name: string, value: string])[]) {
  const valueOf = (wanted: string) => headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  return {
    origin: valueOf('origin'),
    isPreflight: method === 'OPTIONS' && valueOf('access-control-request-method') !== undefined,
  };
}

async function guardsByHost(
  parts: ChangeParts,
  call: Call,
  share: Share,
  records: readonly Compared[],
): Promise<ReadonlyMap<string, readonly ExplainedProvider[]>> {
  const hosts = [...new Set(records.map(({ host }) => host))];
  return new Map(
    await Promise.all(
      hosts.map(async (host) => [host, await providersOf(parts, call, guardsOf(share, host) ?? [])] as const),
    ),
  );
}
