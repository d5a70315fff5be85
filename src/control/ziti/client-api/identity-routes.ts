/** What a client reads about its own identity. */
import type { FastifyInstance } from 'fastify';
import { notFound, sendData, queryOf } from '../../overlay/clients/mod.ts';
import { authenticatorsOf } from './authenticator-view.ts';
import type { EdgeContext, SignInContext } from './edge-context.ts';
import { sendPage } from './list-answer.ts';
import { routerSymbols } from './entity-symbols.ts';
import { authPolicyOf } from '../../overlay/model/mod.ts';
import { findIdentity, findIdentityClient } from '../../overlay/records/mod.ts';
import { identityView, routerView } from './service-view.ts';

export type IdentityContext = SignInContext & Pick<EdgeContext, 'mesh'>;

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addIdentityRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { model, mesh } = context;
  const { db } = context.store;

  app.get('/current-identity', async (request, reply) => {
    const { identity, leaf } = context.callers.callerOf(request);
    const row = await findIdentity(db, identity.id);
    if (row === undefined) throw notFound();
    const authenticators: Record<string, unknown> = {};
    for (const { id, method, fingerprint, username } of await authenticatorsOf(db, identity.id)) {
      if (method === 'updb') authenticators['updb'] = { id, username };
      // If there are several, the one that the caller presents is listed.
      else if (leaf === undefined || fingerprint === leaf.fingerprint)
        authenticators['cert'] = { id, fingerprint };
    }
    const isMfaEnabled = await context.signIn.secondFactors.hasEnrolled(identity.id);
    const isConnected = mesh.status.isConnected(identity.id);
    const given = model.edge.get('identity', identity.id)?.data;
    const policy = authPolicyOf(model.edge, identity.id);
    const view = identityView(identity, authenticators, row.createdAtMs, isConnected, policy, given);
    const client = await findIdentityClient(db, identity.id);
    return sendData(reply, { ...view, ...client, isMfaEnabled });
  });

  app.get('/current-identity/edge-routers', (request, reply) => {
    const { identity } = context.callers.callerOf(request);
    const isFree = identity.kind !== 'edge';
    const routers = context.mesh
      .routers()
      .filter(({ id }) => (isFree ? model.edge.hasEdge(id) : model.edge.mayUseRouter(identity.id, id)))
      .map((router) => ({ ...router, traits: model.edge.routerTraits(router.id) }));
    return sendPage(reply, queryOf(request), routers, routerSymbols, routerView);
  });
}
