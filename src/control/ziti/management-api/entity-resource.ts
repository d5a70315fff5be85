/** A kind of entity with what there is to it besides its row: identities and routers have certificates and enrollments. */
import type { FastifyRequest } from 'fastify';
import type { EdgeAddresses, EdgeBase, EdgeMesh } from '../../overlay/clients/mod.ts';
import type { EdgeContext } from '../client-api/edge-context.ts';
import type { EdgeEntityRecord, FabricDiagnostics, JsonObject } from '../../overlay/model/mod.ts';
import type { Pki } from '../../pki/mod.ts';
import { findEdgeEntity, insertEdgeEntity, updateEdgeEntity } from '../../overlay/records/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { entityView, type EntityForm } from './entity-form.ts';

/** What the routes of administrators use. */
export interface ManagementParts extends EdgeBase {
  readonly pki: Pki;
  readonly sessions: EdgeContext['signIn']['sessions'];
  readonly mesh: EdgeMesh;
  readonly addresses: EdgeAddresses;
  readonly overlay: ManagedOverlay;
}

/** The overlay, as administrators see it. */
export interface ManagedOverlay {
  /** `tls:host:port` that routers dial, for enrollment tokens. */
  readonly ctrlAddress: string;
  readonly mesh: MeshState;
  readonly diagnostics: FabricDiagnostics;
  readonly controllerId: string;
}

/** What this control plane knows of the mesh now. */
export interface MeshState {
  onlineRouterIds(): ReadonlySet<string>;
  /** What circuits and failed dials add to the cost of a terminator. */
  dynamicCost(terminatorId: string): number;
}

export interface Writing {
  readonly trx: Queries;
  readonly touch: Touch;
  readonly request: FastifyRequest;
  /** The administrator. */
  readonly actorId: string;
}

export type ViewOf = (entity: EdgeEntityRecord) => JsonObject;

export interface EntityResource {
  readonly form: EntityForm;
  all(parts: ManagementParts): Promise<readonly EdgeEntityRecord[]>;
  find(db: Queries, id: string): Promise<EdgeEntityRecord | undefined>;
  /** Reads what the answers about any of the entities need. */
  viewer(parts: ManagementParts): Promise<ViewOf>;
  /** `body` is that of the request. */
  insert(parts: ManagementParts, writing: Writing, entity: EdgeEntityRecord, body: JsonObject): Promise<void>;
  update(parts: ManagementParts, writing: Writing, entity: EdgeEntityRecord): Promise<void>;
  /** Besides the entity's own row, and the policies that name it. */
  remove(parts: ManagementParts, writing: Writing, entity: EdgeEntityRecord): Promise<void>;
  /** Fields of the request that `insert` reads. */
  readonly moreFields: readonly string[];
  /** Fields of `data` that no change of the entity writes; none by default. */
  readonly keptFields?: readonly string[];
  /** Applies a PATCH to the present fields; by default its fields replace those. */
  readonly merge?: (before: JsonObject, change: JsonObject) => JsonObject;
  /** Whether built-in entities can be changed; `update` inserts their rows then. False by default. */
  readonly mayChangeBuiltIns?: boolean;
  /** Further entities are refused; `MAX_EDGE_ENTITIES` by default. */
  readonly maxCount?: number;
  /** Its entities have no row in `edge_entity`, and no other entity names them. */
  readonly hasOwnTables?: boolean;
}

/** Entries of a PATCH without those that are null, which Go clients send for lists that they do not change. */
export function givenFields(change: JsonObject): [string, unknown][] {
  return Object.entries(change).filter(([, value]) => value !== null);
}

export function plainResource(form: EntityForm): EntityResource {
  return {
    form,
    moreFields: [],
    all: ({ model: { edge } }) => Promise.resolve(edge.withBuiltIns(form.kind)),
    find: (db, id) => findEdgeEntity(db, form.kind, id),
    viewer: (parts) =>
      Promise.resolve((entity) => ({ ...entityView(form.path, entity), ...form.view(parts.model, entity) })),
    insert: (_parts, { trx, touch }, entity) => insertEdgeEntity(trx, touch, entity),
    update: (_parts, { trx, touch }, entity) => updateEdgeEntity(trx, touch, entity),
    remove: () => Promise.resolve(),
  };
}
