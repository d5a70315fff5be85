/** `/gateway/v1/metrics`: traffic reports of gateways. A repeated report is acknowledged again. */
import type { FastifyInstance } from 'fastify';
import { parseTrafficReport } from '#domain';
import { takeTrafficReport } from '../metrics/mod.ts';
import { couldNotValidate } from './edge-answer.ts';
import { bodyRule, MAX_BODY_BYTES } from './edge-body.ts';
import { peerOfKind, type EdgeApiContext } from './edge-context.ts';
import { jsonBody } from './edge-request.ts';

export function addMetricRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  const { store, clock, log } = context;

  const takes = { config: bodyRule({ kind: 'gateway', maxBytes: MAX_BODY_BYTES }) };

  app.post('/gateway/v1/metrics', takes, async (request, reply) => {
    const gateway = peerOfKind(context, request, 'gateway').identity.id;
    const report = parseTrafficReport(jsonBody(request));
    if (typeof report === 'string') throw couldNotValidate(report);
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
