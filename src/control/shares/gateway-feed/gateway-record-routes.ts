/**
 * `/gateway/v1/failures`, `/gateway/v1/inspections` and `/gateway/v1/requests`: reports of gateways about single
 * requests. A repeated record has no effect.
 */
import type { FastifyInstance } from 'fastify';
import { TokenBuckets } from '#base';
import { failuresShape, inspectionsShape, NO_SHARE, requestLogShape } from '#domain/gateway-shapes';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import { putLoggedRequests } from '../records/request-log-store.ts';
import { putFailures, putInspected } from '../records/request-record-store.ts';
import { putUnroutedFailures } from '../records/unrouted-failure-store.ts';
import { touchResource } from '../../store/mod.ts';
import { bodyRule, MAX_BODY_BYTES, type CallerContext, readReport } from '../../overlay/clients/mod.ts';

/** Limit for failures without a share per gateway, over all its processes. */
const UNROUTED_LIMIT = { perSecond: 20, burst: 500 };

export function addGatewayRecordRoutes(
  app: FastifyInstance,
  context: CallerContext,
  catalog: ShareCatalog,
): void {
  const { store, clock, log } = context;
  const unrouted = new TokenBuckets(UNROUTED_LIMIT, clock);
  const frontdoorOf = (shareId: string): string | undefined => catalog.get(shareId)?.frontdoorId;

  /** Streams of changes name the share of new records, once for each report. */
  const announce = async (
    kind: 'failure' | 'request',
    records: readonly { readonly shareId: string }[],
  ): Promise<void> => {
    const shares = new Set(records.map(({ shareId }) => catalog.get(shareId)));
    shares.delete(undefined);
    if (shares.size === 0) return;
    await store.transaction(async (_trx, touch) => {
      for (const share of shares)
        if (share !== undefined) touchResource(touch, { ownerId: share.frontdoorId, kind, id: share.token });
    });
  };

  const takes = { config: bodyRule({ kind: 'gateway', maxBytes: MAX_BODY_BYTES }) };

  app.post('/gateway/v1/failures', takes, async (request, reply) => {
    const { id: gatewayId, name: gatewayName } = context.callers.peerOfKind(request, 'gateway').identity;
    const { failures: records } = readReport(request, failuresShape, ({ failures }) => failures.length, {
      gateway: gatewayId,
      log,
    });
    await putFailures(store, { records, frontdoorOf });
    await announce('failure', records);
    const nowMs = clock.nowMs();
    const withoutShare = records
      .filter(({ shareId }) => shareId === NO_SHARE && unrouted.take(gatewayId) === 0)
      // A gateway clock that is ahead must not extend the retention.
      .map((record) => ({ ...record, at: Math.min(record.at, nowMs), gatewayId, gatewayName }));
    await putUnroutedFailures(store, withoutShare);
    return reply.code(204).send();
  });

  app.post('/gateway/v1/inspections', takes, async (request, reply) => {
    const { identity } = context.callers.peerOfKind(request, 'gateway');
    const { requests: records } = readReport(request, inspectionsShape, ({ requests }) => requests.length, {
      gateway: identity.id,
      log,
    });
    await putInspected(store, { records, frontdoorOf });
    await announce('request', records);
    return reply.code(204).send();
  });
  app.post('/gateway/v1/requests', takes, async (request, reply) => {
    const { id: gatewayId } = context.callers.peerOfKind(request, 'gateway').identity;
    const { requests: records } = readReport(request, requestLogShape, ({ requests }) => requests.length, {
      gateway: gatewayId,
      log,
    });
    await putLoggedRequests(store, {
      records,
      gatewayId,
      shareOf: (shareId) => catalog.get(shareId),
      nowMs: clock.nowMs(),
    });
    return reply.code(204).send();
  });
}
