/** What needs attention in a frontdoor: the first of each kind with the number of all, as one answer. */
import { waitingPeople } from '../../credentials/people/mod.ts';
import { expiringCertificates } from '../../overlay/records/mod.ts';
import type { PageRequest } from '../../store/mod.ts';
import { expiringDomains, waitingDomains } from '../records/attention-store.ts';
import { listEnvironments } from '../records/environment-store.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { isoTime, ok, unstored, type ApiParts, type Handlers } from './call.ts';
import { shareStatusOf } from './share-answer.ts';
import { listSharesByState } from './stated-shares.ts';

type AttentionParts = Pick<ApiParts, 'store' | 'catalog' | 'counts' | 'status' | 'clock'>;

const FIRST: PageRequest = { page: 0, size: 5, sort: 'name', direction: 'asc' };
const EXPIRY_WINDOW_MS = 14 * 86_400_000;

export const attentionHandlers: Handlers<AttentionParts, 'getFrontdoorAttention'> = {
  async getFrontdoorAttention(parts, { frontdoor }) {
    const { store, counts } = parts;
    await counts.settled();
    const { failed } = counts.shares(frontdoor.id);
    const { total, online } = counts.machines('environment', frontdoor.id);
    const [failingShares, disconnectedAgents, domains, certificates, people] = await Promise.all([
      failed === 0 ? NONE : failing(parts, frontdoor),
      online === total ? NONE : disconnected(parts, frontdoor),
      waitingDomains(store.db, frontdoor, FIRST.size),
      ending(parts, frontdoor),
      waitingPeople(store.db, frontdoor.organizationId),
    ]);
    return unstored(
      ok({
        frontdoorId: frontdoor.id,
        failingShares,
        disconnectedAgents,
        waitingDomains: domains,
        expiringCertificates: certificates,
        waitingPeople: people,
      }),
    );
  },
};

const NONE = { total: 0, first: [] };

async function failing(parts: AttentionParts, frontdoor: GrantedFrontdoor) {
  const page = await listSharesByState(parts, frontdoor, FIRST, { status: 'FAILED' });
  const first = page.content.map((share) => ({
    token: share.token,
    name: share.name,
    lastError: shareStatusOf(parts, share).failure?.lastError ?? null,
  }));
  return { total: page.total, first };
}

async function disconnected({ store, status }: AttentionParts, frontdoor: GrantedFrontdoor) {
  const stateOf = ({ id }: { readonly id: string }) => (status.isConnected(id) ? 'ACTIVE' : 'INACTIVE');
  const page = await listEnvironments(store, frontdoor, FIRST, { status: 'INACTIVE' }, stateOf);
  const first = page.content.map(({ id, name, lastSeenAtMs }) => ({
    id,
    name,
    lastSeenAt: lastSeenAtMs === null ? null : isoTime(lastSeenAtMs),
  }));
  return { total: page.total, first };
}

/** Lists the certificates of agents and domains that expire first. */
async function ending({ store, clock }: AttentionParts, frontdoor: GrantedFrontdoor) {
  const nowMs = clock.nowMs();
  const window = { beforeMs: nowMs + EXPIRY_WINDOW_MS, limit: FIRST.size };
  const [machines, domains] = await Promise.all([
    expiringCertificates(store.db, frontdoor.id, window),
    expiringDomains(store.db, frontdoor, { ...window, nowMs }),
  ]);
  return [
    ...machines.map(({ id, name, notAfterMs }) => ({
      kind: 'environment' as const,
      id,
      name,
      expiresAt: isoTime(notAfterMs),
    })),
    ...domains.map(({ shareToken, hostname, validUntilMs }) => ({
      kind: 'domain' as const,
      id: shareToken,
      name: hostname,
      expiresAt: isoTime(validUntilMs),
    })),
  ]
    .toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1))
    .slice(0, FIRST.size);
}
