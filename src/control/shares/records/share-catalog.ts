/** Offers the shares to the overlay as services. */
import type { Service, ServiceCatalog } from '../../overlay/model/mod.ts';
import { findGuardedShares, guardedSharesAfter, type GuardedShare } from './share-guard.ts';

export const shareCatalog: ServiceCatalog = {
  find: async (db, ids) => (await findGuardedShares(db, ids)).map(serviceOf),
  after: async (db, id, limit) => (await guardedSharesAfter(db, id, limit)).map(serviceOf),
};

function serviceOf(share: GuardedShare): Service {
  return {
    id: share.id,
    name: share.token,
    isNamed: share.name !== null,
    frontdoorId: share.frontdoorId,
    environmentId: share.environmentId,
    shareMode: share.shareMode,
    backendMode: share.backendMode,
    target: share.target,
    targetByAgent: share.targetByAgent,
    epoch: share.epoch,
    grants: share.grants,
    hosts: share.frontends.map(({ host }) => host),
    customHosts: share.customHosts.map(({ host, authProviderIds }) => ({ host, authProviderIds })),
    authProviderIds: share.authProviderIds,
    rules: share.rules,
    inspection: share.inspection,
    createdAtMs: share.createdAtMs,
    updatedAtMs: share.updatedAtMs,
  };
}
