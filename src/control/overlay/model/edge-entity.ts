/** Entities of the edge management API as the overlay uses them, from their stored documents. */
import { textsOf } from '#base';
import type { EdgeEntityKind } from '../../store/schema/mod.ts';
import type { EdgeEntityRecord, JsonObject } from '../records/edge-entity.ts';
import { selectionOf, type Attributed, type RoleSelection, type Semantic } from './role-policy.ts';

export type { EdgeEntityKind } from '../../store/schema/mod.ts';
export type { EdgeEntityRecord, JsonObject } from '../records/edge-entity.ts';

/** A service of the edge management API. Its policies select who dials and hosts it. */
export interface ManagedService extends Attributed {
  readonly name: string;
  readonly updatedAtMs: number;
  readonly encryptionRequired: boolean;
  /** Ids of configs, at most one of a type. */
  readonly configs: readonly string[];
  readonly createdAtMs: number;
  readonly tags: JsonObject;
}

export interface EdgePolicy {
  readonly id: string;
  readonly name: string;
  readonly kind: EdgeEntityKind;
  readonly semantic: Semantic;
  /** Null for policies about routers. */
  readonly type: 'Dial' | 'Bind' | null;
  readonly identities: RoleSelection;
  readonly services: RoleSelection;
  readonly routers: RoleSelection;
  /** The semantic of the policy applies to their attributes, too. */
  readonly postureChecks: RoleSelection;
}

export function attributedOf({ id, data }: EdgeEntityRecord): Attributed {
  return { id, roleAttributes: new Set(textsOf(data['roleAttributes'])) };
}

/**
 * Whether a router may use its tunnel listener. It is then an identity too, with its id and its attributes, which
 * policies select like any other (ADR 0041).
 */
export function isTunnelRouter({ kind, data }: EdgeEntityRecord): boolean {
  return kind === 'edge-router' && data['isTunnelerEnabled'] === true;
}

/** The identity of such a router. It is stored as the router only. */
export function tunnelIdentityOf(router: EdgeEntityRecord): EdgeEntityRecord {
  const { roleAttributes, appData } = router.data;
  return { ...router, kind: 'identity', data: { roleAttributes, appData, typeId: ROUTER_IDENTITY_TYPE } };
}

export const ROUTER_IDENTITY_TYPE = 'Router';

export function edgeServiceOf(record: EdgeEntityRecord): ManagedService {
  const { id, name, data, tags, createdAtMs, updatedAtMs } = record;
  return {
    ...attributedOf(record),
    id,
    name,
    tags,
    createdAtMs,
    updatedAtMs,
    encryptionRequired: data['encryptionRequired'] !== false,
    configs: textsOf(data['configs']),
  };
}

export function edgePolicyOf({ id, name, kind, data }: EdgeEntityRecord): EdgePolicy {
  const { type, semantic } = data;
  return {
    id,
    name,
    kind,
    semantic: semantic === 'AllOf' ? 'AllOf' : 'AnyOf',
    type: type === 'Dial' || type === 'Bind' ? type : null,
    identities: selectionOf(textsOf(data['identityRoles'])),
    services: selectionOf(textsOf(data['serviceRoles'])),
    routers: selectionOf(textsOf(data['edgeRouterRoles'])),
    postureChecks: selectionOf(textsOf(data['postureCheckRoles'])),
  };
}
