/** Routers and gateways: administrators create them, and they enroll with the JWT that is shown once. */
import { definedFields, formatHostPort, FrontdoorError } from '#base';
import type { BodyOf } from '#contract';
import type { RouterAnswer } from '#contract/schemas';
import { parseName } from '#domain';
import { appendMachineAudit, THE_SYSTEM } from '../../audit/mod.ts';
import {
  changeFabricRouter,
  createFabricNode,
  deleteFabricNode,
  findFabricNode,
  listFabricNodes,
  lockEdgeEntities,
  type FabricKind,
  type FabricNode,
  type NewFabricNode,
} from '../../overlay/records/mod.ts';
import { createEnrollment, mintJti, type Enrollment } from '../../overlay/enrollments/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiAnswer,
  type ApiParts,
  type Call,
  type ChangeParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

type NewNodeParts = CreationParts & Pick<ApiParts, 'fabricEnrollmentTtlMs' | 'mintEnrollmentJwt'>;
type ConnectedParts = Pick<ApiParts, 'status' | 'fabric' | 'edgeRouters'>;

export const fabricHandlers: Handlers<
  NewNodeParts & ConnectedParts,
  | 'createRouter'
  | 'listRouters'
  | 'getRouter'
  | 'changeRouter'
  | 'deleteRouter'
  | 'createGateway'
  | 'listGateways'
  | 'getGateway'
  | 'deleteGateway'
> = {
  createRouter: (parts, call) => {
    const { tunneler: isTunneler, roleAttributes } = call.body;
    return create(parts, call, 'router', { isTunneler, roleAttributes });
  },
  listRouters: (parts, call) => list(parts, call, 'router', routerAnswers(parts)),
  async getRouter(parts, call) {
    const { id } = call.parameters;
    const node = await findFabricNode(parts.store.db, 'router', id);
    if (node === undefined) throw notFound('Router', id);
    return tagged(parts, unstored(ok(routerAnswers(parts)(node))), storedOf(node));
  },
  async changeRouter(parts, call) {
    const { id } = call.parameters;
    const { tunneler: isTunneler, roleAttributes } = call.body;
    const after = await change(parts, call, async (trx, touch) => {
      await lockEdgeEntities(trx);
      const before = await findFabricNode(trx, 'router', id);
      if (before === undefined) throw notFound('Router', id);
      checkIfMatch(parts, call, storedOf(before));
      if (!before.hasEdge) throw noEdge(id);
      const wished = { isTunneler, roleAttributes, nowMs: parts.clock.nowMs() };
      const result = await changeFabricRouter(trx, touch, before, wished);
      const target = { kind: 'router', id };
      return { result, ...INSTALLATION, target, before: changeViewOf(before), after: changeViewOf(result) };
    });
    return tagged(parts, unstored(ok(routerAnswers(parts)(after))), storedOf(after));
  },
  deleteRouter: (parts, call) => remove(parts, call, 'router', 'Router'),
  createGateway: (parts, call) => create(parts, call, 'gateway'),
  listGateways: (parts, call) => list(parts, call, 'gateway', gatewayAnswers(parts)),
  async getGateway(parts, call) {
    const { id } = call.parameters;
    const node = await findFabricNode(parts.store.db, 'gateway', id);
    if (node === undefined) throw notFound('Gateway', id);
    return tagged(parts, unstored(ok(gatewayAnswers(parts)(node))), storedOf(node));
  },
  deleteGateway: (parts, call) => remove(parts, call, 'gateway', 'Gateway'),
};

function noEdge(id: string): FrontdoorError {
  const message = `Router ${id} is a transit router, which policies do not select and which cannot tunnel`;
  return new FrontdoorError('conflict', 'conflict', message);
}

/** Routers and gateways belong to no organization. */
const INSTALLATION = { organizationId: '' };

async function create(
  parts: NewNodeParts,
  call: Call<BodyOf<'createRouter' | 'createGateway'>>,
  kind: FabricKind,
  attributes: RouterAttributes = {},
) {
  const name = parseName(call.body.name)!;
  const make = async (trx: Queries, touch: Touch) => {
    const result = await addFabricNode(trx, touch, parts, { kind, name, ...attributes });
    return { result, ...INSTALLATION, ...auditOf(result, kind) };
  };
  return creation(parts, call, make, async ({ node, enrollment }) => {
    const token = await parts.mintEnrollmentJwt({
      subject: node.id,
      jti: mintJti(parts.secrets, enrollment.id),
      method: kind === 'router' ? 'erott' : 'ott',
      expiresAtMs: enrollment.expiresAtMs,
    });
    const answer = created(parts, `/fabric/${kind}s/${node.id}`, { id: node.id, name: node.name, token });
    return tagged(parts, unstored(answer), storedOf(node));
  });
}

type FabricParts = ChangeParts & Pick<ApiParts, 'fabricEnrollmentTtlMs'>;

/** Stores a router or gateway with its enrollment, for the program itself. */
export function createFabricEnrollment(parts: FabricParts, kind: FabricKind, name: string) {
  return parts.store.transaction(async (trx, touch) => {
    const made = await addFabricNode(trx, touch, parts, { kind, name });
    await appendMachineAudit(trx, touch, parts, {
      ...auditOf(made, kind),
      ownerId: null,
      actor: THE_SYSTEM,
      action: kind === 'router' ? 'createRouter' : 'createGateway',
      address: null,
    });
    return made;
  });
}

type RouterAttributes = Pick<NewFabricNode, 'isTunneler' | 'roleAttributes'>;

interface NewNode {
  readonly node: FabricNode;
  readonly enrollment: Enrollment;
}

async function addFabricNode(
  trx: Queries,
  touch: Touch,
  { secrets, clock, fabricEnrollmentTtlMs: ttlMs }: FabricParts,
  wished: Omit<NewFabricNode, 'nowMs'>,
): Promise<NewNode> {
  const nowMs = clock.nowMs();
  const { kind } = wished;
  const node = await createFabricNode(trx, touch, { ...wished, nowMs });
  const wanted = { kind, ownerId: null, identityId: node.id, ttlMs, nowMs };
  const { enrollment } = await createEnrollment(trx, secrets, wanted);
  return { node, enrollment };
}

function auditOf({ node, enrollment }: NewNode, kind: FabricKind) {
  const { id, name } = node;
  const tunneler = node.isTunneler ? true : undefined;
  const roleAttributes = node.roleAttributes.length > 0 ? node.roleAttributes : undefined;
  const enrollmentExpiresAt = isoTime(enrollment.expiresAtMs);
  return {
    target: { kind, id },
    after: definedFields({
      id,
      name,
      tunneler,
      roleAttributes,
      enrollmentId: enrollment.id,
      enrollmentExpiresAt,
    }),
  };
}

async function list<Entry>(
  parts: ChangeParts,
  call: Call,
  kind: FabricKind,
  answerOf: (node: FabricNode) => Entry,
) {
  const request = parsePageRequest(call.query);
  const page = await listFabricNodes(parts.store.db, kind, request, listFilterOf(call.query));
  return ok(countedPageAnswer(request, page, page.content.map(answerOf)));
}

/** What a change of a router shows in the audit trail. */
function changeViewOf({ id, name, isTunneler: tunneler, roleAttributes }: FabricNode) {
  return { id, name, tunneler, roleAttributes: [...roleAttributes] };
}

/** The fields that the entity tag covers. Enrolling and connecting do not change them. */
function storedOf({ id, name, isTunneler, roleAttributes, createdAtMs }: FabricNode) {
  return { id, name, isTunneler, roleAttributes, createdAtMs };
}

function nodeAnswer({ id, name, isEnrolled, createdAtMs }: FabricNode) {
  return { id, name, enrolled: isEnrolled, createdAt: isoTime(createdAtMs) };
}

function gatewayAnswers({ status }: ConnectedParts) {
  return (node: FabricNode) => ({
    ...nodeAnswer(node),
    online: status.isConnected(node.id),
    version: node.version,
  });
}

/** With the current connections. Of routers at another control plane, only the edge listener is known. */
function routerAnswers({ fabric, edgeRouters }: ConnectedParts): (node: FabricNode) => RouterAnswer {
  const views = new Map(fabric.routers().map((view) => [view.id, view]));
  const edges = new Map(edgeRouters().map((router) => [router.id, router]));
  return (node) => {
    const view = views.get(node.id);
    const edge = edges.get(node.id);
    const { connectedAtMs } = view ?? {};
    return {
      ...nodeAnswer(node),
      tunneler: node.isTunneler,
      roleAttributes: [...node.roleAttributes],
      online: view?.isOnline === true || edge?.isOnline === true,
      version: view?.version ?? null,
      connectedAt: connectedAtMs === undefined ? null : isoTime(connectedAtMs),
      linkListeners: [...(view?.linkListeners ?? [])],
      edgeAddress:
        view?.edgeAddress ?? (edge === undefined ? null : formatHostPort(edge.hostname, edge.port)),
    };
  };
}

async function remove(
  parts: ChangeParts,
  call: Call<unknown, 'id'>,
  kind: FabricKind,
  what: 'Router' | 'Gateway',
): Promise<ApiAnswer<undefined>> {
  const { id } = call.parameters;
  await change(parts, call, async (trx, touch) => {
    const node = await findFabricNode(trx, kind, id);
    if (node === undefined) throw notFound(what, id);
    checkIfMatch(parts, call, storedOf(node));
    if (!(await deleteFabricNode(trx, touch, kind, id))) throw notFound(what, id);
    const before = { id, name: node.name, createdAt: isoTime(node.createdAtMs) };
    return { result: undefined, ...INSTALLATION, target: { kind, id }, before };
  });
  return gone;
}
