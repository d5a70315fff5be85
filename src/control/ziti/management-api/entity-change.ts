/** Emits an event for each entity that an administrator creates, changes or deletes, once that is stored. */
import type { FastifyRequest } from 'fastify';
import { isoTime } from '../client-api/service-view.ts';
import type { EdgeEntityRecord, FabricEvents, JsonObject } from '../../overlay/model/mod.ts';
import type { EntityForm } from './entity-form.ts';

const TYPE_OF = { create: 'created', update: 'updated', delete: 'deleted' } as const;

export interface EntityChange {
  readonly verb: keyof typeof TYPE_OF;
  readonly target: EdgeEntityRecord;
  /** The entity's fields, without those that every entity has. */
  readonly before?: JsonObject;
  readonly after?: JsonObject;
}

export function emitEntityChange(
  events: FabricEvents,
  request: FastifyRequest,
  { id, name }: Pick<EdgeEntityRecord, 'id' | 'name'>,
  form: EntityForm,
  { verb, target, before, after }: EntityChange,
): void {
  if (!events.has('entityChange')) return;
  const { localAddress, localPort, remotePort } = request.socket;
  const { method, ip } = request;
  const local = `${localAddress}:${localPort}`;
  events.emit('entityChange', {
    type: TYPE_OF[verb],
    entityType: typeOf(form),
    before: stateOf(target, before),
    after: stateOf(target, after),
    metadata: {
      author: { type: 'identity', id, name },
      source: { type: 'rest', auth: 'edge', localAddr: local, remoteAddr: `${ip}:${remotePort}`, method },
    },
  });
}

function stateOf(target: EdgeEntityRecord, fields: JsonObject | undefined): JsonObject | undefined {
  if (fields === undefined) return undefined;
  const { id, createdAtMs, updatedAtMs } = target;
  const times = { createdAt: isoTime(createdAtMs), updatedAt: isoTime(updatedAtMs) };
  return { id, ...times, isSystem: false, ...fields };
}

/** `service-policies` as `servicePolicies`. OpenZiti keeps routers of both kinds as `routers`. */
function typeOf({ kind, path }: EntityForm): string {
  if (kind === 'edge-router' || kind === 'transit-router') return 'routers';
  return path.replaceAll(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}
