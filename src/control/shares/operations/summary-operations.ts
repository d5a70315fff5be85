/** Summaries: stored counts, and measured states, which are counted as they change. */
import { expiringCertificates } from '../../overlay/records/mod.ts';
import { countFrontdoor, countInstallation } from '../records/summary-store.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { isoTime, ok, unstored, type ApiParts, type Handlers } from './call.ts';

type SummaryParts = Pick<
  ApiParts,
  'store' | 'model' | 'counts' | 'fabric' | 'edgeRouters' | 'installation' | 'clock'
>;

const EXPIRY_WINDOW_MS = 14 * 86_400_000;
const MOST_CERTIFICATES = 20;
const HOUR_MS = 3_600_000;

export const summaryHandlers: Handlers<SummaryParts, 'getFrontdoorSummary' | 'getInstallationSummary'> = {
  async getFrontdoorSummary(parts, { frontdoor }) {
    const { store, clock, counts } = parts;
    const stored = await countFrontdoor(store.db, frontdoor, clock.nowMs() - HOUR_MS);
    await counts.settled();
    return unstored(
      ok({
        frontdoorId: frontdoor.id,
        environments: counts.machines('environment', frontdoor.id),
        shares: counts.shares(frontdoor.id),
        authProviders: stored.authProviders,
        customFrontends: stored.customFrontends,
        failuresLastHour: stored.failures,
        agentVersions: counts.agentVersions(frontdoor.id),
        expiringCertificates: await certificateAnswers(parts, frontdoor),
      }),
    );
  },

  async getInstallationSummary(parts) {
    const { store, model, counts, fabric, installation } = parts;
    const stored = await countInstallation(store.db);
    await counts.settled();
    const controlPlanes = installation.controlPlanes();
    const running = controlPlanes.filter(({ silentSinceMs }) => silentSinceMs === undefined).length;
    return unstored(
      ok({
        ...stored,
        environments: counts.machines('environment'),
        shares: counts.shares(),
        routers: { total: model.routerCount, online: onlineRouterCount(parts) },
        gateways: counts.machines('gateway'),
        links: fabric.linkCounts,
        circuits: fabric.circuitCount,
        controlPlanes: { running, silent: controlPlanes.length - running },
        agentVersions: counts.agentVersions(),
        routerVersions: routerVersions(parts),
        expiringCertificates: await certificateAnswers(parts, undefined),
      }),
    );
  },
};

function onlineRouterCount({ edgeRouters, fabric }: SummaryParts): number {
  const online = [...edgeRouters(), ...fabric.routers()].filter(({ isOnline }) => isOnline);
  return new Set(online.map(({ id }) => id)).size;
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
  const found = await expiringCertificates(store.db, frontdoor?.id, { beforeMs, limit: MOST_CERTIFICATES });
  return found.map(({ kind, id, name, notAfterMs }) => ({ kind, id, name, expiresAt: isoTime(notAfterMs) }));
}
