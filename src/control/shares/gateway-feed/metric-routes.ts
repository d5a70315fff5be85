/** `/gateway/v1/metrics`: traffic reports of gateways. A repeated report is acknowledged again. */
import type { FastifyInstance } from 'fastify';
import { trafficReportShape } from '#domain/gateway-shapes';
import { takeTrafficReport } from '../metrics/metric-store.ts';
import { bodyRule, MAX_BODY_BYTES, type CallerContext, readReport } from '../../overlay/clients/mod.ts';

export function addMetricRoutes(app: FastifyInstance, context: CallerContext): void {
  const { store, clock, log } = context;

  const takes = { config: bodyRule({ kind: 'gateway', maxBytes: MAX_BODY_BYTES }) };

  app.post('/gateway/v1/metrics', takes, async (request, reply) => {
    const gateway = context.callers.peerOfKind(request, 'gateway').identity.id;
    const report = readReport(request, trafficReportShape, ({ samples }) => samples.length, { gateway, log });
    const { source, batch } = report;
    const taken = await takeTrafficReport(store, `${gateway}/${source}`, report, clock.nowMs());
    const fields = { gateway, source, batch };
    if (taken.isDuplicate) log.info(fields, 'duplicate traffic report');
    if (taken.missing > 0) log.warn({ ...fields, missing: taken.missing }, 'traffic reports are missing');
    if (taken.unknown > 0)
      log.info({ ...fields, samples: taken.unknown }, 'traffic report about a resource that does not exist');
    return reply.code(204).send();
  });
}
