/** Routers and gateways: made by administrators, enrolled with the JWT that is shown once. */
import type { NewFabricNodeBody } from '#contract';
import { parseName } from '#domain';
import { createEnrollment, mintJti } from '../store/enrollment-store.ts';
import {
  createFabricNode,
  deleteFabricNode,
  listFabricNodes,
  type FabricKind,
} from '../store/fabric-store.ts';
import { notFound } from './api-errors.ts';
import { created, gone, isoTime, ok, type Answer, type ApiParts, type Call, type Handlers } from './call.ts';
import { countedPageAnswer, parsePageRequest } from './page-query.ts';

export const fabricHandlers: Handlers<
  'createRouter' | 'listRouters' | 'deleteRouter' | 'createGateway' | 'listGateways' | 'deleteGateway'
> = {
  createRouter: (parts, call) => create(parts, call, 'router'),
  listRouters: (parts, call) => list(parts, call, 'router'),
  deleteRouter: (parts, call) => remove(parts, call, 'router', 'Router'),
  createGateway: (parts, call) => create(parts, call, 'gateway'),
  listGateways: (parts, call) => list(parts, call, 'gateway'),
  deleteGateway: (parts, call) => remove(parts, call, 'gateway', 'Gateway'),
};

async function create(parts: ApiParts, call: Call, kind: FabricKind): Promise<Answer> {
  const name = parseName((call.body as NewFabricNodeBody).name)!;
  const { node, enrollment } = await createFabricEnrollment(parts, kind, name);
  const token = await parts.mintEnrollmentJwt({
    subject: node.id,
    jti: mintJti(parts.secrets, enrollment.id),
    method: kind === 'router' ? 'erott' : 'ott',
    expiresAtMs: enrollment.expiresAtMs,
  });
  const answer = created(parts, `/fabric/${kind}s/${node.id}`, { id: node.id, name: node.name, token });
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
}

/** Stores a router or gateway with its enrollment, together. */
export async function createFabricEnrollment(
  parts: Pick<ApiParts, 'store' | 'secrets' | 'clock' | 'fabricEnrollmentTtlMs'>,
  kind: FabricKind,
  name: string,
) {
  const nowMs = parts.clock.nowMs();
  return parts.store.transaction(async (trx, touch) => {
    const node = await createFabricNode(trx, touch, { kind, name, nowMs });
    const { enrollment } = await createEnrollment(trx, parts.secrets, {
      kind,
      frontdoorId: null,
      identityId: node.id,
      ttlMs: parts.fabricEnrollmentTtlMs,
      nowMs,
    });
    return { node, enrollment };
  });
}

async function list(parts: ApiParts, call: Call, kind: FabricKind): Promise<Answer> {
  const request = parsePageRequest(call.query);
  const page = await listFabricNodes(parts.store.db, kind, request);
  const content = page.content.map((node) => ({
    id: node.id,
    name: node.name,
    enrolled: node.isEnrolled,
    createdAt: isoTime(node.createdAtMs),
  }));
  return ok(countedPageAnswer(request, page, content));
}

async function remove(
  parts: ApiParts,
  call: Call,
  kind: FabricKind,
  what: 'Router' | 'Gateway',
): Promise<Answer> {
  const id = call.parameters['id']!;
  const isRemoved = await parts.store.transaction((trx, touch) => deleteFabricNode(trx, touch, kind, id));
  if (!isRemoved) throw notFound(what, id);
  return gone;
}
