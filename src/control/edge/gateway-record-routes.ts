/** `/gateway/v1/failures` and `/gateway/v1/inspections`: what gateways tell of single requests. One that came before is nothing new. */
import type { FastifyInstance } from 'fastify';
import { parseFailures, parseInspections } from '#domain';
import { putFailures, putInspected } from '../store/request-record-store.ts';
import { couldNotValidate } from './edge-answer.ts';
import { bodyRule, MAX_BODY_BYTES } from './edge-body.ts';
import { peerOfKind, type EdgeContext } from './edge-context.ts';
import { jsonBody } from './edge-request.ts';

export function addGatewayRecordRoutes(app: FastifyInstance, context: EdgeContext): void {
  const { store, model } = context;
  const frontdoorOf = (shareId: string): string | undefined => model.service(shareId)?.frontdoorId;

  const takes = { config: bodyRule({ kind: 'gateway', maxBytes: MAX_BODY_BYTES }) };

  app.post('/gateway/v1/failures', takes, async (request, reply) => {
    peerOfKind(context, request, 'gateway');
    const records = parseFailures(jsonBody(request));
    if (typeof records === 'string') throw couldNotValidate(records);
    await putFailures(store, { records, frontdoorOf });
    return reply.code(204).send();
  });

  app.post('/gateway/v1/inspections', takes, async (request, reply) => {
    peerOfKind(context, request, 'gateway');
    const records = parseInspections(jsonBody(request));
    if (typeof records === 'string') throw couldNotValidate(records);
    await putInspected(store, { records, frontdoorOf });
    return reply.code(204).send();
  });
}
