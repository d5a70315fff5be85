/** Lists, reads, creates, changes and deletes the entities of one kind. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FrontdoorError } from '#base';
import { appendMachineAudit } from '../audit/mod.ts';
import {
  EdgeApiRefusal,
  invalidParameter,
  jsonBody,
  notFound,
  queryOf,
  sendData,
  sendPage,
} from '../edge-api/mod.ts';
import { builtInEntities, type EdgeEntityRecord, type JsonObject } from '../model/mod.ts';
import { deleteEdgeEntity, lockEdgeEntities, MAX_EDGE_ENTITIES } from '../store/mod.ts';
import type { Administrators } from './administrators.ts';
import { BodyReader } from './body-reader.ts';
import { MAX_FREE_CHARS, type EntityForm } from './entity-form.ts';
import { emitEntityChange } from './entity-change.ts';
import { checkReferences, forgetReferences } from './entity-references.ts';
import { givenFields, type EntityResource, type ManagementParts, type Writing } from './entity-resource.ts';
import { querySymbolsOf } from './related-entities.ts';

interface ById {
  Params: { id: string };
}

export function addEntityRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  administrators: Administrators,
  resource: EntityResource,
  resources: readonly EntityResource[],
): void {
  const { path, aliases = [] } = resource.form;
  for (const route of [path, ...aliases]) addRoutesAt(route, app, parts, administrators, resource, resources);
}

function addRoutesAt(
  route: string,
  app: FastifyInstance,
  parts: ManagementParts,
  administrators: Administrators,
  resource: EntityResource,
  resources: readonly EntityResource[],
): void {
  const { form } = resource;
  const { path } = form;

  app.get(`/${route}`, async (request, reply) => {
    const [entities, viewOf] = [await resource.all(parts), await resource.viewer(parts)];
    const symbols = querySymbolsOf(parts.model, form, resources);
    return sendPage(reply, queryOf(request), entities, symbols, viewOf);
  });

  app.get<ById>(`/${route}/:id`, async (request, reply) => {
    const entity = await known(request.params.id);
    return sendData(reply, (await resource.viewer(parts))(entity));
  });

  app.post(`/${route}`, async (request, reply) => {
    const body = bodyOf(request);
    const nowMs = parts.clock.nowMs();
    const { maxCount = MAX_EDGE_ENTITIES } = resource;
    if (entityCount(parts, form) >= maxCount)
      throw new EdgeApiRefusal('limited', 'RATE_LIMITED', `There are ${maxCount} ${path} already`);
    const entity = { id: randomUUID(), createdAtMs: nowMs, ...read(resource, body, nowMs) };
    await write(request, 'create', async (writing) => {
      await checkReferences(writing.trx, form, entity);
      await resource.insert(parts, writing, entity, body);
      return { target: entity, after: auditView(entity) };
    });
    const self = { href: `./${path}/${entity.id}` };
    return sendData(reply, { _links: { self }, id: entity.id }, 201);
  });

  for (const method of ['put', 'patch'] as const) {
    app[method]<ById>(`/${route}/:id`, async (request, reply) => {
      const body = bodyOf(request);
      const { id } = request.params;
      await write(request, 'update', async (writing) => {
        const before = await known(id, writing.trx);
        const { name, tags } = before;
        const [kept, data] = separated(before.data, resource.keptFields ?? []);
        const { merge = shallowMerged } = resource;
        const present = { ...data, ...(form.isNamed === false ? {} : { name }), tags };
        const whole = method === 'put' ? body : merge(present, body);
        const changed = read(resource, whole, parts.clock.nowMs());
        const entity = { ...before, ...changed, data: { ...changed.data, ...kept } };
        await checkReferences(writing.trx, form, entity);
        await resource.update(parts, writing, entity);
        return { target: entity, before: auditView(before), after: auditView(entity) };
      });
      return sendData(reply, {});
    });
  }

  app.delete<ById>(`/${route}/:id`, async (request, reply) => {
    const { id } = request.params;
    await write(request, 'delete', async (writing) => {
      const { trx, touch } = writing;
      const before = await known(id, trx);
      const { hasOwnTables = false } = resource;
      if (!hasOwnTables && !(await forgetReferences(trx, touch, before, parts.clock.nowMs())))
        throw stillUsed();
      await resource.remove(parts, writing, before);
      if (!hasOwnTables) await deleteEdgeEntity(trx, touch, id);
      return { target: before, before: auditView(before) };
    });
    return sendData(reply, {});
  });

  async function known(id: string, db = parts.store.db): Promise<EdgeEntityRecord> {
    const entity = (await resource.find(db, id)) ?? builtIn(form, id);
    if (entity === undefined) throw notFound();
    return entity;
  }

  /** One transaction with its audit event. */
  async function write(
    request: FastifyRequest,
    verb: 'create' | 'update' | 'delete',
    work: (
      writing: Writing,
    ) => Promise<{ target: EdgeEntityRecord; before?: JsonObject; after?: JsonObject }>,
  ): Promise<void> {
    const actor = { kind: 'edge', id: administrators.of(request).identity.id } as const;
    const id = (request.params as { id?: string }).id ?? '';
    const isFixed = verb !== 'update' || resource.mayChangeBuiltIns !== true;
    if (isFixed && builtIn(form, id) !== undefined)
      throw invalidParameter('id', 'this entity is built in', id);
    try {
      const changed = await parts.store.transaction(async (trx, touch) => {
        await lockEdgeEntities(trx);
        const { target, ...change } = await work({ trx, touch, request, actorId: actor.id });
        await appendMachineAudit(trx, touch, parts, {
          ...change,
          ...{ frontdoorId: null, actor, action: `${verb}${actionName(form)}`, address: request.ip },
          target: { kind: `edge-${target.kind.replace(/^edge-/, '')}`, id: target.id },
        });
        return { target, ...change };
      });
      emitEntityChange(parts.events, request, administrators.of(request).identity, form, {
        verb,
        ...changed,
      });
    } catch (error) {
      throw error instanceof FrontdoorError && error.kind === 'conflict' ? nameTaken(error.message) : error;
    }
  }
}

function bodyOf(request: FastifyRequest): JsonObject {
  return (jsonBody(request) ?? {}) as JsonObject;
}

function read(
  { form, moreFields }: EntityResource,
  body: JsonObject,
  updatedAtMs: number,
): Pick<EdgeEntityRecord, 'kind' | 'name' | 'tags' | 'data' | 'updatedAtMs'> {
  const more = new Set(moreFields);
  const reader = new BodyReader(
    Object.fromEntries(Object.entries(body).filter(([field]) => !more.has(field))),
  );
  const name = form.isNamed === false ? '' : reader.name();
  const tags = reader.object('tags', MAX_FREE_CHARS);
  const data = form.read(reader);
  reader.end();
  return { kind: form.kind, name, tags, data, updatedAtMs };
}

function shallowMerged(before: JsonObject, change: JsonObject): JsonObject {
  return { ...before, ...Object.fromEntries(givenFields(change)) };
}

/** Returns the named fields, and the others. */
function separated(data: JsonObject, fields: readonly string[]): readonly [JsonObject, JsonObject] {
  const [named, others] = [[] as [string, unknown][], [] as [string, unknown][]];
  for (const entry of Object.entries(data)) (fields.includes(entry[0]) ? named : others).push(entry);
  return [Object.fromEntries(named), Object.fromEntries(others)];
}

function entityCount({ model }: ManagementParts, { kind }: EntityForm): number {
  return kind === 'edge-router' ? 0 : model.edge.count(kind);
}

function builtIn({ kind }: EntityForm, id: string): EdgeEntityRecord | undefined {
  return builtInEntities(kind).find((entity) => entity.id === id);
}

function auditView({ name, tags, data }: EdgeEntityRecord): JsonObject {
  return { ...(name === '' ? {} : { name }), tags, ...data };
}

/** `edge-router-policy` as `EdgeRouterPolicy`, `service` as `EdgeService`. */
function actionName({ kind }: EntityForm): string {
  const words = kind.replace(/^edge-/, '').split('-');
  return `Edge${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`;
}

function nameTaken(why: string): EdgeApiRefusal {
  return invalidParameter('name', `duplicate value: ${why}`, '');
}

function stillUsed(): EdgeApiRefusal {
  return new EdgeApiRefusal(
    'conflict',
    'CONFLICT_CANNOT_DELETE_REFERENCED',
    'The entity requested for deletion can not be deleted because it is referenced by other entities',
  );
}
