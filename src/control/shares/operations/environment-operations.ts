/** Operations on environments and agents, which are two views of one record with one id. */
import type { EnvironmentEntry } from '#contract/schemas';
import { parseName } from '#domain';
import {
  countSharesOf,
  deleteEnvironment,
  findEnvironment,
  listEnvironments,
  lockEnvironment,
  renameEnvironment,
  type EnvironmentRecord,
} from '../records/environment-store.ts';
import { heldByEnvironment } from '../records/held-resources.ts';
import { listSharesOf } from '../records/share-record.ts';
import type { PageRequest } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  type ApiAnswer,
  type ApiParts,
  type Call,
  type ChangeParts,
  type Handlers,
} from './call.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { countedPageAnswer, listFilterOf, pageAnswer, parsePageRequest } from './page-query.ts';
import { frontendEndpointsOf, shareRecordView } from '../records/share-view.ts';
import { shareStatusOf } from './share-answer.ts';

type StatusParts = Pick<ApiParts, 'store' | 'status' | 'clock'>;
type EnvironmentParts = ChangeParts & StatusParts & Pick<ApiParts, 'frontendUrls'>;

export const environmentHandlers: Handlers<
  EnvironmentParts,
  | 'listEnvironments'
  | 'getEnvironment'
  | 'changeEnvironment'
  | 'deleteEnvironment'
  | 'listAgents'
  | 'getAgentStatus'
  | 'getAgentVersion'
  | 'deleteAgent'
> = {
  async listEnvironments(parts, call) {
    const request = parsePageRequest(call.query);
    const page = await environmentPage(parts, call, request);
    return ok(
      pageAnswer(
        request,
        page.content.map((environment) => entryOf(parts, environment)),
      ),
    );
  },

  async getEnvironment(parts, call) {
    const { id } = call.parameters;
    const environment = await findEnvironment(parts.store.db, call.frontdoor, id);
    if (environment === undefined) throw notFound('Environment', id);
    return tagged(parts, ok(await answerOf(parts, environment)), storedOf(environment));
  },

  async changeEnvironment(parts, call) {
    const { id } = call.parameters;
    const { name } = call.body;
    const after = await change(parts, call, async (trx, touch) => {
      const before = await lockEnvironment(trx, call.frontdoor, id);
      if (before === undefined) throw notFound('Environment', id);
      checkIfMatch(parts, call, storedOf(before));
      const result =
        name === undefined ? before : await renameEnvironment(trx, touch, before, parseName(name)!);
      const target = { kind: 'environment', id };
      return { result, target, before: auditViewOf(call, before), after: auditViewOf(call, result) };
    });
    return tagged(parts, ok(await answerOf(parts, after)), storedOf(after));
  },

  deleteEnvironment: (parts, call) => remove(parts, call, 'Environment', call.parameters.id),

  async listAgents(parts, call) {
    const request = parsePageRequest(call.query);
    const page = await environmentPage(parts, call, request);
    const ids = page.content.map(({ id }) => id);
    const counts = await countSharesOf(parts.store.db, ids);
    const content = page.content.map((agent) => ({
      ...entryOf(parts, agent),
      version: agent.agentVersion,
      ...contactOf(parts, agent, counts),
    }));
    return ok(countedPageAnswer(request, page, content));
  },

  async getAgentStatus(parts, call) {
    const agent = await agentOf(parts, call);
    const shares = await listSharesOf(parts.store.db, agent.id);
    return ok({
      frontdoorId: call.frontdoor.id,
      shares: shares.map((share) => ({
        token: share.token,
        shareMode: share.shareMode,
        backendMode: share.backendMode,
        reserved: share.reserved,
        frontendEndpoints: frontendEndpointsOf(parts, share),
        backendEndpoint: share.target,
        status: shareStatusOf(parts, share).state,
      })),
    });
  },

  async getAgentVersion(parts, call) {
    const agent = await agentOf(parts, call);
    if (agent.agentVersion === null) throw notFound('Agent', agent.id);
    return ok({ frontdoorId: call.frontdoor.id, version: agent.agentVersion });
  },

  deleteAgent: (parts, call) => remove(parts, call, 'Agent', call.parameters.agentId),
};

function environmentPage(parts: StatusParts, { frontdoor, query }: Call, request: PageRequest) {
  const statusOf = ({ id }: { readonly id: string }) => statusTextOf(parts, id);
  return listEnvironments(parts.store, frontdoor, request, listFilterOf(query), statusOf);
}

async function agentOf(parts: StatusParts, call: Call<unknown, 'agentId'>): Promise<EnvironmentRecord> {
  const { agentId: id } = call.parameters;
  const agent = await findEnvironment(parts.store.db, call.frontdoor, id);
  if (agent === undefined) throw notFound('Agent', id);
  return agent;
}

/** The event of the agent has the number of all. */
const MAX_AUDITED_SHARES = 1_000;

async function remove(
  parts: ChangeParts & Pick<ApiParts, 'frontendUrls'>,
  call: Call,
  what: 'Environment' | 'Agent',
  id: string,
): Promise<ApiAnswer<undefined>> {
  const { frontdoor } = call;
  await change(parts, call, async (trx, touch) => {
    const environment = await findEnvironment(trx, frontdoor, id);
    if (environment === undefined) throw notFound(what, id);
    checkIfMatch(parts, call, storedOf(environment));
    const held = await heldByEnvironment(trx, id);
    const shares = await listSharesOf(trx, id, MAX_AUDITED_SHARES);
    if (!(await deleteEnvironment(trx, touch, frontdoor, id, parts.clock.nowMs()))) throw notFound(what, id);
    const before = { ...auditViewOf(call, environment), ...held };
    const also = shares.map((share) => ({
      action: 'deleteShare',
      target: { kind: 'share', id: share.token },
      before: shareRecordView(parts, share),
    }));
    return { result: undefined, target: { kind: 'environment', id }, before, also };
  });
  return gone;
}

/** The fields that the entity tag covers, without those that the agent reports. */
function storedOf({ id, name, createdAtMs }: EnvironmentRecord) {
  return { id, name, createdAtMs };
}

function auditViewOf({ frontdoor }: Call, { id, name, agentVersion, createdAtMs }: EnvironmentRecord) {
  return { id, frontdoorId: frontdoor.id, name, version: agentVersion, createdAt: isoTime(createdAtMs) };
}

async function answerOf(parts: StatusParts, environment: EnvironmentRecord) {
  const counts = await countSharesOf(parts.store.db, [environment.id]);
  const createdAt = isoTime(environment.createdAtMs);
  return { ...entryOf(parts, environment), createdAt, ...contactOf(parts, environment, counts) };
}

function entryOf(parts: Pick<ApiParts, 'status'>, environment: EnvironmentRecord): EnvironmentEntry {
  return { id: environment.id, name: environment.name, status: statusTextOf(parts, environment.id) };
}

function contactOf(
  { status, clock }: StatusParts,
  { id, lastSeenAtMs, remoteAddress }: EnvironmentRecord,
  counts: ReadonlyMap<string, number>,
) {
  const seenAtMs = status.isConnected(id) ? clock.nowMs() : lastSeenAtMs;
  const lastSeenAt = seenAtMs === null ? null : isoTime(seenAtMs);
  return { lastSeenAt, remoteAddress, shareCount: counts.get(id) ?? 0 };
}

function statusTextOf({ status }: Pick<ApiParts, 'status'>, id: string): EnvironmentEntry['status'] {
  return status.isConnected(id) ? 'ACTIVE' : 'INACTIVE';
}
