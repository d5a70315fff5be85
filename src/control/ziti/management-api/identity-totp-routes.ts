/** An administrator removes the second factor of an identity that has lost it. */
import type { FastifyInstance } from 'fastify';
import { appendMachineAudit } from '../../audit/mod.ts';
import { endLogIns, NONE_KEPT, notFound, sendData } from '../../overlay/clients/mod.ts';
import { deleteTotp, identitiesWithTotp } from '../../credentials/identities/mod.ts';
import { findEdgeEntity, lockEdgeEntities } from '../../overlay/records/mod.ts';
import type { Administrators } from './administrators.ts';
import type { ManagementParts } from './entity-resource.ts';

export function addIdentityTotpRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  administrators: Administrators,
): void {
  const { store, clock } = parts;

  // Its sessions end, because a thief of the device could have opened them.
  app.delete<{ Params: { id: string } }>('/identities/:id/mfa', async (request, reply) => {
    const { id } = request.params;
    await store.transaction(async (trx, touch) => {
      await lockEdgeEntities(trx);
      const isKnown = (await findEdgeEntity(trx, 'identity', id)) !== undefined;
      if (!isKnown || !(await identitiesWithTotp(trx)).has(id)) throw notFound();
      await deleteTotp(trx, id);
      await endLogIns(trx, touch, [id], NONE_KEPT, clock.nowMs());
      await appendMachineAudit(trx, touch, parts, {
        ownerId: null,
        action: 'removeEdgeIdentityTotp',
        address: request.ip,
        actor: { kind: 'edge', id: administrators.of(request).identity.id },
        target: { kind: 'edge-identity', id },
      });
    });
    return sendData(reply, {});
  });
}
