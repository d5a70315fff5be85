/**
 * `/agent/v1`: requests of our agents about the shares of their own environment. The certificate is the
 * credential and identifies the environment, so an agent cannot act on another's shares.
 */
import type { FastifyInstance } from 'fastify';
import { definedFields, fieldsOf } from '#base';
import { FORMAT_HEADER } from '#base/shapes';
import type { Share } from '#domain';
import {
  agentSelfShape,
  hostedShareRequestShape,
  hostedShareShape,
  hostedSharesShape,
  type HostedDomain,
  type HostedShare,
} from '#domain/agent-shapes';
import { DEFAULT_UPSTREAM, isSameUpstream, type ShareUpstream } from '#domain/upstream';
import { upstreamsOfEnvironment } from '../records/share-upstream-store.ts';
import { challengeName, challengeValue } from '../hostnames/hostname-proof-policy.ts';
import { domainsOfEnvironment, type DomainOfEnvironment } from '../records/share-domain-store.ts';
import { frontendEndpointsOf, shareRecordView } from '../records/share-view.ts';
import { releaseShare } from '../records/share-store.ts';
import { findShareForUpdate, listSharesOf } from '../records/share-record.ts';
import { makeShare, standingShare, wantedShareOf, type MadeShare } from './share-request.ts';
import { changeAgentVersion } from '../../overlay/records/mod.ts';
import {
  appendPeerAudit,
  notFound,
  sendList,
  type CallerContext,
  type EdgeAddresses,
  type EdgeMesh,
  readBody,
  sendShape,
} from '../../overlay/clients/mod.ts';

export interface AgentContext extends CallerContext {
  readonly mesh: EdgeMesh;
  readonly addresses: EdgeAddresses;
}

export function addAgentRoutes(app: FastifyInstance, context: AgentContext): void {
  addShareRoutes(app, context);
  addSelfRoute(app, context);
}

function addShareRoutes(app: FastifyInstance, context: AgentContext): void {
  const { store, clock, log } = context;

  app.get('/agent/v1/shares', async (request, reply) => {
    const { identity } = context.callers.peerOfKind(request, 'environment');
    const [listed, upstreams, domains] = await Promise.all([
      listSharesOf(store.db, identity.id),
      upstreamsOfEnvironment(store.db, identity.id),
      domainsOfEnvironment(store.db, identity.id),
    ]);
    const shares = listed.map((share) =>
      shareView(context, share, upstreams.get(share.id), domains.get(share.id)),
    );
    void reply.header(FORMAT_HEADER, String(hostedSharesShape.format));
    return sendList(reply, shares, { limit: shares.length, offset: 0, totalCount: shares.length });
  });

  app.post('/agent/v1/shares', async (request, reply) => {
    const peer = context.callers.peerOfKind(request, 'environment');
    const { identity } = peer;
    const wanted = await wantedShareOf(store.db, readBody(request, hostedShareRequestShape).value, {
      frontdoorId: identity.ownerId ?? '',
      environmentId: identity.id,
      nowMs: clock.nowMs(),
      ownUrls: [context.addresses.apiUrl()],
    });
    const ownView = async ({ share, upstream }: MadeShare): Promise<HostedShare> => {
      const domains = await domainsOfEnvironment(store.db, identity.id);
      return shareView(context, share, upstream, domains.get(share.id));
    };
    const standing = await standingShare(store.db, wanted);
    if (standing !== undefined) return sendShape(reply, hostedShareShape, await ownView(standing), 201);
    const { share, upstream } = await store.transaction((trx, touch) =>
      makeShare(trx, touch, wanted, {
        view: (each) => shareRecordView(context.addresses, each),
        append: (change) => appendPeerAudit(trx, touch, context, request, peer, change),
      }),
    );
    log.info(
      { environment: identity.id, share: share.token, epoch: share.epoch },
      'share created by its agent',
    );
    return sendShape(reply, hostedShareShape, await ownView({ share, upstream }), 201);
  });

  app.delete<{ Params: { token: string } }>('/agent/v1/shares/:token', async (request, reply) => {
    const peer = context.callers.peerOfKind(request, 'environment');
    const { identity } = peer;
    const { token } = request.params;
    await store.transaction(async (trx, touch) => {
      const before = await findShareForUpdate(trx, identity.ownerId ?? '', token);
      if (
        before === undefined ||
        !(await releaseShare(trx, touch, { environmentId: identity.id, token }, clock.nowMs()))
      )
        throw notFound();
      await appendPeerAudit(trx, touch, context, request, peer, {
        action: 'releaseShare',
        target: { kind: 'share', id: token },
        before: shareRecordView(context.addresses, before),
      });
    });
    log.info({ environment: identity.id, share: token }, 'share released by its agent');
    return reply.code(204).send();
  });
}

/** What an agent reports about itself. */
function addSelfRoute(app: FastifyInstance, context: AgentContext): void {
  const { store } = context;

  app.put('/agent/v1/self', async (request, reply) => {
    const peer = context.callers.peerOfKind(request, 'environment');
    const { identity } = peer;
    const { version } = readBody(request, agentSelfShape).value;
    await store.transaction(async (trx, touch) => {
      const changed = await changeAgentVersion(trx, touch, identity.id, version);
      if (changed === undefined) return;
      await appendPeerAudit(trx, touch, context, request, peer, {
        action: 'reportVersion',
        target: { kind: 'environment', id: identity.id },
        before: { version: changed.before },
        after: { version },
      });
    });
    return reply.code(204).send();
  });
}

function shareView(
  context: AgentContext,
  share: Share,
  settings: ShareUpstream | undefined = DEFAULT_UPSTREAM,
  domains?: readonly DomainOfEnvironment[],
): HostedShare {
  // Agents take the defaults for absent settings.
  const upstream = isSameUpstream(settings, DEFAULT_UPSTREAM) ? undefined : settings;
  const { state, failure } = context.mesh.status.service(share.id);
  return definedFields({
    ...fieldsOf(hostedShareShape.schema, share),
    frontendEndpoints: frontendEndpointsOf(context.addresses, share),
    status: state,
    failure,
    upstream,
    domains: domains?.map(domainView),
  });
}

function domainView({
  hostname,
  proof,
  proofProblem: problem,
  organizationId,
}: DomainOfEnvironment): HostedDomain {
  const isServed = proof !== 'PENDING';
  const record = `TXT ${challengeName(hostname)} ${challengeValue(organizationId)}`;
  return { hostname, isServed, problem, record: isServed ? null : record };
}
