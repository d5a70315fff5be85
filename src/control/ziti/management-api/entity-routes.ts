/** Lists, reads, creates, changes and deletes the entities of one kind. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { FrontdoorError } from '#base';
import { appendMachineAudit } from '../../audit/mod.ts';
import {
  EdgeApiRefusal,
  invalidParameter,
  jsonBody,
  notFound,
  queryOf,
  sendData,
} from '../../overlay/clients/mod.ts';
import { sendPage } from '../client-api/list-answer.ts';
import { builtInEntities, type EdgeEntityRecord, type JsonObject } from '../../overlay/model/mod.ts';
import { deleteEdgeEntity, lockEdgeEntities, MAX_EDGE_ENTITIES } from '../../overlay/records/mod.ts';
import type { Administrators } from './administrators.ts';
import type { EntityForm } from './entity-form.ts';
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
  const writes = new EntityWrites(parts, administrators, resource);
  for (const route of [path, ...aliases]) {
    addReadRoutes(route, app, parts, resource, resources, writes);
    addCreationRoute(route, app, parts, resource, writes);
    addChangeRoutes(route, app, parts, resource, writes);
  }
}

function addReadRoutes(
  route: string,
  app: FastifyInstance,
  parts: ManagementParts,
  resource: EntityResource,
  resources: readonly EntityResource[],
  writes: EntityWrites,
): void {
  const { form } = resource;

  app.get(`/${route}`, async (request, reply) => {
    const [entities, viewOf] = [await resource.all(parts), await resource.viewer(parts)];
    const symbols = querySymbolsOf(parts.model, form, resources);
    return sendPage(reply, queryOf(request), entities, symbols, viewOf);
  });

  app.get<ById>(`/${route}/:id`, async (request, reply) => {
    const entity = await writes.known(request.params.id);
    return sendData(reply, (await resource.viewer(parts))(entity));
  });
}

function addCreationRoute(
  route: string,
  app: FastifyInstance,
  parts: ManagementParts,
  resource: EntityResource,
  writes: EntityWrites,
): void {
  const { form } = resource;
  const { path } = form;

  app.post(`/${route}`, async (request, reply) => {
    const body = jsonBody(request);
    const nowMs = parts.clock.nowMs();
    const { maxCount = MAX_EDGE_ENTITIES } = resource;
    if (entityCount(parts, form) >= maxCount)
      throw new EdgeApiRefusal('limited', 'RATE_LIMITED', `There are ${maxCount} ${path} already`);
    const entity = { id: randomUUID(), createdAtMs: nowMs, ...read(resource, body, nowMs) };
    await writes.write(request, 'create', async (writing) => {
      await checkReferences(writing.trx, form, entity);
      await resource.insert(parts, writing, entity, body);
      return { target: entity, after: auditView(entity) };
    });
    const self = { href: `./${path}/${entity.id}` };
    return sendData(reply, { _links: { self }, id: entity.id }, 201);
  });
}

function addChangeRoutes(
  route: string,
  app: FastifyInstance,
  parts: ManagementParts,
  resource: EntityResource,
  writes: EntityWrites,
): void {
  const { form } = resource;

  for (const method of ['put', 'patch'] as const) {
    app[method]<ById>(`/${route}/:id`, async (request, reply) => {
      const body = jsonBody(request);
      const { id } = request.params;
      await writes.write(request, 'update', async (writing) => {
        const before = await writes.known(id, writing.trx);
        const { name, tags } = before;
        const [kept, data] = separated(before.data, resource.keptFields ?? []);
        const { merge = shallowMerged } = resource;
        const present = { ...data, ...(name === '' ? {} : { name }), tags };
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
    await writes.write(request, 'delete', async (writing) => {
      const { trx, touch } = writing;
      const before = await writes.known(id, trx);
      const { hasOwnTables = false } = resource;
      if (!hasOwnTables && !(await forgetReferences(trx, touch, before, parts.clock.nowMs())))
        throw stillUsed();
      await resource.remove(parts, writing, before);
      if (!hasOwnTables) await deleteEdgeEntity(trx, touch, id);
      return { target: before, before: auditView(before) };
    });
    return sendData(reply, {});
  });
}

/** What a change wrote, for the audit trail and for those who follow changes. */
interface EntityWritten {
  readonly target: EdgeEntityRecord;
  readonly before?: JsonObject;
  readonly after?: JsonObject;
}

/** Reads and changes entities of one kind. */
class EntityWrites {
  readonly #parts: ManagementParts;
  readonly #administrators: Administrators;
  readonly #resource: EntityResource;

  constructor(parts: ManagementParts, administrators: Administrators, resource: EntityResource) {
    this.#parts = parts;
    this.#administrators = administrators;
    this.#resource = resource;
  }

  /** Throws if there is no such entity. */
  async known(id: string, db = this.#parts.store.db): Promise<EdgeEntityRecord> {
    const entity = (await this.#resource.find(db, id)) ?? builtIn(this.#resource.form, id);
    if (entity === undefined) throw notFound();
    return entity;
  }

  /** One transaction with its audit event. */
  async write(
    request: FastifyRequest,
    verb: 'create' | 'update' | 'delete',
    work: (writing: Writing) => Promise<EntityWritten>,
  ): Promise<void> {
    const { form } = this.#resource;
    const administrator = this.#administrators.of(request).identity;
    const actor = { kind: 'edge', id: administrator.id } as const;
    const id = (request.params as { id?: string }).id ?? '';
    const isFixed = verb !== 'update' || this.#resource.mayChangeBuiltIns !== true;
    if (isFixed && builtIn(form, id) !== undefined)
      throw invalidParameter('id', 'this entity is built in', id);
    try {
      const changed = await this.#parts.store.transaction(async (trx, touch) => {
        await lockEdgeEntities(trx);
        const { target, ...change } = await work({ trx, touch, request, actorId: actor.id });
        await appendMachineAudit(trx, touch, this.#parts, {
          ...change,
          ownerId: null,
          actor,
          action: `${verb}${actionName(form)}`,
          address: request.ip,
          target: { kind: `edge-${target.kind.replace(/^edge-/, '')}`, id: target.id },
        });
        return { target, ...change };
      });
      emitEntityChange(this.#parts.mesh.events, request, administrator, form, {
        verb,
        ...changed,
      });
    } catch (error) {
      throw error instanceof FrontdoorError && error.kind === 'conflict' ? nameTaken(error.message) : error;
    }
  }
}

function read(
  { form, moreFields }: EntityResource,
  body: JsonObject,
  updatedAtMs: number,
): Pick<EdgeEntityRecord, 'kind' | 'name' | 'tags' | 'data' | 'updatedAtMs'> {
  const more = new Set(moreFields);
  const own = Object.entries(body).filter(([field]) => !more.has(field));
  return { kind: form.kind, updatedAtMs, ...form.read(Object.fromEntries(own)) };
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
