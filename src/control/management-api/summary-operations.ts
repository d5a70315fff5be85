/** Summaries: stored counts, and measured states counted over the model in memory. */
import {
  countAgentVersions,
  countFrontdoor,
  countInstallation,
  expiringCertificates,
  type GrantedFrontdoor,
} from '../store/mod.ts';
import { isoTime, ok, unstored, type ApiParts, type Handlers } from './call.ts';
import { inSlices } from './in-slices.ts';
import { shareStates } from './share-answer.ts';

type SummaryParts = Pick<
  ApiParts,
  'store' | 'model' | 'status' | 'fabric' | 'edgeRouters' | 'installation' | 'clock'
>;

const EXPIRY_WINDOW_MS = 14 * 86_400_000;
const MOST_CERTIFICATES = 20;
const HOUR_MS = 3_600_000;

export const summaryHandlers: Handlers<SummaryParts, 'getFrontdoorSummary' | 'getInstallationSummary'> = {
  async getFrontdoorSummary(parts, { frontdoor }) {
    const { store, clock } = parts;
    const stored = await countFrontdoor(store.db, frontdoor, clock.nowMs() - HOUR_MS);
    const { environment } = await machineCounts(parts, frontdoor.id);
    return unstored(
      ok({
        frontdoorId: frontdoor.id,
        environments: environment,
        shares: await shareCounts(parts, frontdoor.id),
        authProviders: stored.authProviders,
        customFrontends: stored.customFrontends,
        failuresLastHour: stored.failures,
        agentVersions: await countAgentVersions(store.db, frontdoor),
        expiringCertificates: await certificateAnswers(parts, frontdoor),
      }),
    );
  },

  async getInstallationSummary(parts) {
    const { store, fabric, installation } = parts;
    const stored = await countInstallation(store.db);
    const machines = await machineCounts(parts, undefined);
    const links = fabric.links();
    const controlPlanes = installation.controlPlanes();
    const running = controlPlanes.filter(({ silentSinceMs }) => silentSinceMs === undefined).length;
    return unstored(
      ok({
        ...stored,
        environments: machines.environment,
        shares: await shareCounts(parts, undefined),
        routers: machines.router,
        gateways: machines.gateway,
        links: { total: links.length, usable: links.filter(({ isUsable }) => isUsable).length },
        circuits: fabric.circuits().length,
        controlPlanes: { running, silent: controlPlanes.length - running },
        agentVersions: await countAgentVersions(store.db, undefined),
        routerVersions: routerVersions(parts),
        expiringCertificates: await certificateAnswers(parts, undefined),
      }),
    );
  },
};

/** Without a frontdoor, the machines of the installation. */
async function machineCounts({ model, status, edgeRouters, fabric }: SummaryParts, frontdoorId?: string) {
  const none = () => ({ total: 0, online: 0 });
  const counts = { environment: none(), router: none(), gateway: none(), edge: none() };
  const onlineRouters = new Set(
    [...edgeRouters(), ...fabric.routers()].filter(({ isOnline }) => isOnline).map(({ id }) => id),
  );
  for await (const slice of inSlices(model.identities())) {
    for (const { id, kind, frontdoorId: owner } of slice) {
      if (frontdoorId !== undefined && owner !== frontdoorId) continue;
      const isOnline = kind === 'router' ? onlineRouters.has(id) : status.isConnected(id);
      counts[kind].total += 1;
      if (isOnline) counts[kind].online += 1;
    }
  }
  return counts;
}

async function shareCounts({ model, status }: SummaryParts, frontdoorId: string | undefined) {
  const counts = { total: 0, pending: 0, deployed: 0, failed: 0, public: 0, private: 0 };
  const stateOf = shareStates({ status });
  for await (const slice of inSlices(model.services())) {
    for (const share of slice) {
      if (frontdoorId !== undefined && share.frontdoorId !== frontdoorId) continue;
      counts.total += 1;
      counts[share.shareMode] += 1;
      const state = stateOf(share);
      counts[state === 'DEPLOYED' ? 'deployed' : state === 'FAILED' ? 'failed' : 'pending'] += 1;
    }
  }
  return counts;
}

function routerVersions({ fabric }: SummaryParts) {
  const counts = new Map<string | null, number>();
  for (const { isOnline, version = null } of fabric.routers()) {
    if (isOnline) counts.set(version, (counts.get(version) ?? 0) + 1);
  }
  return [...counts]
    .map(([version, count]) => ({ version, count }))
    .toSorted((a, b) => b.count - a.count || String(a.version).localeCompare(String(b.version)));
}

async function certificateAnswers({ store, clock }: SummaryParts, frontdoor: GrantedFrontdoor | undefined) {
  const beforeMs = clock.nowMs() + EXPIRY_WINDOW_MS;
  const found = await expiringCertificates(store.db, frontdoor, { beforeMs, limit: MOST_CERTIFICATES });
  return found.map(({ kind, id, name, notAfterMs }) => ({ kind, id, name, expiresAt: isoTime(notAfterMs) }));
}
