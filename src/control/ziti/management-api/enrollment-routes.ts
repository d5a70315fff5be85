/** Enrollments: lists and deletes them, and creates those of identities again. Routers have theirs from the start. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { appendMachineAudit } from '../../audit/mod.ts';
import { invalidParameter, jsonBody, notFound, queryOf, sendData } from '../../overlay/clients/mod.ts';
import { isUsername } from '../client-api/password-log-in.ts';
import { isoTime } from '../client-api/service-view.ts';
import { sendPage } from '../client-api/list-answer.ts';
import type { QuerySymbols } from '../query/query-symbol.ts';
import type { JsonObject } from '../../overlay/model/mod.ts';
import { findEdgeEntity } from '../../overlay/records/mod.ts';
import { deleteOpenEnrollment } from '../../overlay/enrollments/mod.ts';
import type { Queries } from '../../store/mod.ts';
import type { Administrators } from './administrators.ts';
import { choice, text } from './body-fields.ts';
import { bodyReader } from './body-reader.ts';
import { referenceView } from './entity-form.ts';
import type { ManagementParts } from './entity-resource.ts';
import { checkAuthority } from './identity-resource.ts';
import {
  enrollAnew,
  ENROLLMENT_TTL_MS,
  methodOf,
  openEnrollments,
  particulars,
  tokenOf,
  type EdgeEnrollment,
} from './enrollments.ts';

const MAX_TTL_MS = 30 * 86_400_000;

interface ById {
  Params: { id: string };
}

const readEnrollment = bodyReader({
  method: choice(['ott', 'ottca', 'updb']),
  username: text(),
  caId: text(),
  identityId: text(),
  expiresAt: text(),
});

const ownerSymbol = (field: Owner['field']) =>
  ({
    type: 'text',
    read: (one: EdgeEnrollment) => (ownerOf(one).field === field ? one.identityId : null),
  }) as const;

const symbols: QuerySymbols<EdgeEnrollment> = {
  id: { type: 'text', read: ({ id }) => id },
  method: { type: 'text', read: methodOf },
  username: { type: 'text', read: ({ username }) => username },
  identity: ownerSymbol('identity'),
  edgeRouter: ownerSymbol('edgeRouter'),
  transitRouter: ownerSymbol('transitRouter'),
  createdAt: { type: 'date', read: ({ createdAtMs }) => createdAtMs },
  expiresAt: { type: 'date', read: ({ expiresAtMs }) => expiresAtMs },
};

/** Whom an enrollment is for, in answers and in the audit trail. */
interface Owner {
  readonly field: 'identity' | 'edgeRouter' | 'transitRouter';
  readonly path: string;
  readonly auditKind: string;
}

function ownerOf({ kind }: EdgeEnrollment): Owner {
  if (kind === 'router') return { field: 'edgeRouter', path: 'edge-routers', auditKind: 'edge-router' };
  if (kind !== 'transit-router') return { field: 'identity', path: 'identities', auditKind: 'edge-identity' };
  return { field: 'transitRouter', path: 'transit-routers', auditKind: 'edge-transit-router' };
}

export function addEnrollmentRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  administrators: Administrators,
): void {
  const view = (enrollment: EdgeEnrollment): JsonObject => enrollmentView(parts, enrollment);
  const all = async (): Promise<EdgeEnrollment[]> => [
    ...(await openEnrollments(parts, 'identity')).values(),
    ...(await openEnrollments(parts, 'router')).values(),
  ];
  const one = async (id: string): Promise<EdgeEnrollment> => {
    const found = (await all()).find((enrollment) => enrollment.id === id);
    if (found === undefined) throw notFound();
    return found;
  };

  app.get('/enrollments', async (request, reply) =>
    sendPage(reply, queryOf(request), await all(), symbols, view),
  );
  app.get<ById>('/enrollments/:id', async (request, reply) =>
    sendData(reply, view(await one(request.params.id))),
  );
  app.get<ById>('/identities/:id/enrollments', async (request, reply) => {
    const found = (await all()).filter(
      (one) => one.identityId === request.params.id && ownerOf(one).field === 'identity',
    );
    return sendPage(reply, queryOf(request), found, symbols, view);
  });

  // An identity has one open enrollment, so a new one ends the other.
  app.post('/enrollments', async (request, reply) => {
    const body = readEnrollment(jsonBody(request));
    const { method, username, caId: authorityId, identityId } = body;
    if ((method === 'updb') !== isUsername(username))
      throw invalidParameter('username', 'a user name belongs to the method updb', username.slice(0, 100));
    if ((method === 'ottca') !== (authorityId !== ''))
      throw invalidParameter('caId', 'an authority belongs to the method ottca', authorityId.slice(0, 100));
    const ttlMs = ttlOf(body.expiresAt, parts.clock.nowMs());
    const target = { kind: 'edge-identity', id: identityId };
    await write(request, 'createEdgeEnrollment', target, async (trx) => {
      if ((await findEdgeEntity(trx, 'identity', identityId)) === undefined) throw notFound();
      if (method === 'ottca') await checkAuthority(trx, 'caId', authorityId);
      await enrollAnew(parts, trx, 'edge', identityId, {
        ttlMs,
        ...(method === 'updb' ? { username } : method === 'ottca' ? { authorityId } : {}),
      });
    });
    const { id } = (await all()).find((enrollment) => enrollment.identityId === identityId)!;
    return sendData(reply, { _links: { self: { href: `./enrollments/${id}` } }, id }, 201);
  });

  app.delete<ById>('/enrollments/:id', async (request, reply) => {
    const found = await one(request.params.id);
    const { id, identityId } = found;
    const target = { kind: ownerOf(found).auditKind, id: identityId };
    await write(request, 'deleteEdgeEnrollment', target, async (trx) => {
      await deleteOpenEnrollment(trx, id);
    });
    return sendData(reply, {});
  });

  async function write(
    request: FastifyRequest,
    action: string,
    target: { readonly kind: string; readonly id: string },
    work: (trx: Queries) => Promise<void>,
  ): Promise<void> {
    const actor = { kind: 'edge', id: administrators.of(request).identity.id } as const;
    await parts.store.transaction(async (trx, touch) => {
      await work(trx);
      const event = { ownerId: null, actor, action, target, address: request.ip };
      await appendMachineAudit(trx, touch, parts, event);
    });
  }
}

/** Without a time, an enrollment is open for the usual span. */
function ttlOf(expiresAt: string, nowMs: number): number {
  if (expiresAt === '') return ENROLLMENT_TTL_MS;
  const ttlMs = Date.parse(expiresAt) - nowMs;
  if (ttlMs > 0 && ttlMs <= MAX_TTL_MS) return ttlMs;
  throw invalidParameter('expiresAt', 'expiresAt must be a time within the next 30 days', expiresAt);
}

function enrollmentView(parts: ManagementParts, enrollment: EdgeEnrollment): JsonObject {
  const { id, identityId, createdAtMs, expiresAtMs } = enrollment;
  const name = parts.model.identity(identityId)?.name ?? '';
  const { field, path } = ownerOf(enrollment);
  return {
    _links: { self: { href: `./enrollments/${id}` } },
    id,
    tags: {},
    method: methodOf(enrollment),
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(createdAtMs),
    expiresAt: isoTime(expiresAtMs),
    [`${field}Id`]: identityId,
    [field]: referenceView(path, identityId, name),
    details: {},
    ...particulars(parts, enrollment),
    ...tokenOf(parts, enrollment),
  };
}
