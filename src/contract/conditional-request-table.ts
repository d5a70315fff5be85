/**
 * Which operations have an entity tag, honour `If-Match`, or take an `Idempotency-Key`: what callers need to change the
 * same thing at the same time, and to retry. The server, the description and the command line go by it (RFC 9110 §13).
 */
import type { OperationId } from './operation-table.ts';
import type { Operation } from './operation.ts';

/**
 * `whole`: equal tags mean equal answers. `stored`: the tag names what is stored; the answer has more, which is measured
 * or shown once, so a read is never answered by 304.
 */
export type EntityTagKind = 'whole' | 'stored';

const WHOLE: readonly OperationId[] = [
  ...(['createFrontdoor', 'findFrontdoor', 'getFrontdoor'] as const),
  ...(['getSharePolicy', 'replaceSharePolicy', 'getInspector', 'setInspector'] as const),
  ...(['createOrganization', 'getOrganization', 'changeOrganization'] as const),
  ...(['getOrganizationSettings', 'changeOrganizationSettings'] as const),
  ...(['getApiAccount', 'getOauthClient', 'getCaller'] as const),
  ...(['createFabricService', 'getFabricService', 'changeFabricService'] as const),
  ...(['getAuthProviderType', 'getAuthProviderTypeSchema', 'getProviderSchemaDocument'] as const),
  ...(['getFailure', 'getUnroutedFailure', 'getInspectedRequest', 'getOpenApi', 'getApiPage'] as const),
];

const STORED: readonly OperationId[] = [
  ...(['createShare', 'getShare', 'changeShare', 'getEnvironment'] as const),
  ...(['createAuthProvider', 'getAuthProvider', 'changeAuthProvider', 'replaceAuthProvider'] as const),
  ...(['createCustomFrontend', 'getCustomFrontend'] as const),
  ...(['createApiAccount', 'rotateApiAccount', 'createOauthClient', 'rotateOauthClient'] as const),
  ...(['createRouter', 'getRouter', 'createGateway'] as const),
  ...(['createTerminator', 'getTerminator', 'changeTerminator'] as const),
];

const IF_MATCH: readonly OperationId[] = [
  ...(['deleteFrontdoor', 'deleteEnvironment', 'deleteAgent'] as const),
  ...(['changeShare', 'deleteShare', 'replaceSharePolicy', 'setInspector'] as const),
  ...(['changeAuthProvider', 'replaceAuthProvider', 'deleteAuthProvider', 'deleteCustomFrontend'] as const),
  ...(['changeOrganization', 'deleteOrganization', 'changeOrganizationSettings'] as const),
  ...(['deleteApiAccount', 'deleteOauthClient', 'deleteRouter', 'deleteGateway'] as const),
  ...(['changeFabricService', 'deleteFabricService', 'changeTerminator', 'deleteTerminator'] as const),
];

/** Not creations, but each makes a secret that only its answer shows. */
const ALSO_KEYED: readonly OperationId[] = ['rotateApiAccount', 'rotateOauthClient'];

const tagKinds = new Map<string, EntityTagKind>([
  ...WHOLE.map((id) => [id, 'whole'] as const),
  ...STORED.map((id) => [id, 'stored'] as const),
]);
const ifMatch: ReadonlySet<string> = new Set(IF_MATCH);
const alsoKeyed: ReadonlySet<string> = new Set(ALSO_KEYED);

/** Undefined: its answer has no entity tag. */
export function entityTagKindOf({ id }: Pick<Operation, 'id'>): EntityTagKind | undefined {
  return tagKinds.get(id);
}

/** Whether it changes only what the caller has read. */
export function takesIfMatch({ id }: Pick<Operation, 'id'>): boolean {
  return ifMatch.has(id);
}

/** Whether a repeated request is answered as the first one was. */
export function takesIdempotencyKey({
  id,
  method,
  scope,
  answer,
}: Pick<Operation, 'id' | 'method' | 'scope' | 'answer'>): boolean {
  return scope !== undefined && method === 'POST' && (answer.status === 201 || alsoKeyed.has(id));
}

/** The form of an `Idempotency-Key`: visible ASCII characters. */
export const IDEMPOTENCY_KEY_FORM = /^[\x21-\x7E]{1,255}$/;
/** How long an answer is kept for its key. */
export const IDEMPOTENCY_KEY_TTL_MS = 24 * 3_600_000;
