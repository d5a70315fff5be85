/** `POST /fabric/v1/inspections`, which `ziti fabric inspect` calls. */
import type { FastifyInstance } from 'fastify';
import { bodyRule, jsonBody, sendJson } from '../../overlay/clients/mod.ts';
import type { Administrators } from './administrators.ts';
import type { FabricInspection } from './fabric-inspection.ts';

export const FABRIC_INSPECTIONS_PATH = '/fabric/v1/inspections';
const MAX_BODY_BYTES = 65_536;

export function addFabricInspectionRoutes(
  app: FastifyInstance,
  administrators: Administrators,
  inspection: FabricInspection,
): void {
  const rule = bodyRule({ maxBytes: MAX_BODY_BYTES, maxUnprovenBytes: MAX_BODY_BYTES });
  app.post(
    FABRIC_INSPECTIONS_PATH,
    {
      config: rule,
      onRequest: async (request, reply) => {
        await administrators.prove(request, reply);
      },
    },
    async (request, reply) => {
      const { appRegex, requestedValues } = jsonBody(request);
      const { success, errors, values } = await inspection.inspect({ appRegex, requestedValues });
      return sendJson(reply, 200, { success, errors, values });
    },
  );
}
