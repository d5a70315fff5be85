/**
 * Which operations have an entity tag, honour `If-Match`, or accept an `Idempotency-Key`, so that callers can
 * change the same resource concurrently and can retry. The server, the API description and the command line use
 * this table (RFC 9110 §13).
 */
import type { OperationId } from './operation-table.ts';
import type { Operation } from './operation.ts';

/**
 * `whole`: equal tags mean equal responses. `stored`: the tag covers what is stored; the response also has
 * measured values or secrets that are shown once, so a read is never answered with 304.
 */
export type EntityTagKind = 'whole' | 'stored';

const WHOLE: readonly OperationId[] = [
  ...(['createFrontdoor', 'findFrontdoor', 'getFrontdoor', 'changeFrontdoor'] as const),
  ...(['getSharePolicy', 'replaceSharePolicy', 'getInspector', 'setInspector'] as const),
  ...(['getShareUpstream', 'replaceShareUpstream', 'changeShareUpstream'] as const),
  ...(['createOrganization', 'getOrganization', 'changeOrganization'] as const),
  ...(['getOrganizationSettings', 'changeOrganizationSettings'] as const),
  ...(['getSignInPage', 'replaceSignInPage'] as const),
  ...(['getCaller', 'getPerson', 'changePerson'] as const),
  ...(['createFabricService', 'getFabricService', 'changeFabricService'] as const),
  ...(['getAuthProviderType', 'getAuthProviderTypeSchema', 'getProviderSchemaDocument'] as const),
  ...(['getFailure', 'getUnroutedFailure', 'getInspectedRequest', 'getRequest'] as const),
  ...(['getOpenApi', 'getApiPage'] as const),
];

const STORED: readonly OperationId[] = [
  ...(['createShare', 'getShare', 'changeShare', 'getEnvironment', 'changeEnvironment'] as const),
  ...(['createAuthProvider', 'getAuthProvider', 'changeAuthProvider', 'replaceAuthProvider'] as const),
  ...(['createPolicy', 'getPolicy', 'replacePolicy'] as const),
  ...(['createCustomFrontend', 'getCustomFrontend', 'changeCustomFrontend'] as const),
  ...(['createApiAccount', 'getApiAccount', 'changeApiAccount', 'rotateApiAccount'] as const),
  ...(['createOauthClient', 'getOauthClient', 'changeOauthClient', 'rotateOauthClient'] as const),
  ...(['createNotificationDestination', 'getNotificationDestination'] as const),
  ...(['changeNotificationDestination', 'rotateNotificationSecret'] as const),
  ...(['createRouter', 'getRouter', 'changeRouter', 'createGateway', 'getGateway'] as const),
  ...(['createTerminator', 'getTerminator', 'changeTerminator'] as const),
  ...(['getRequestLog', 'setRequestLog', 'getEventExport', 'setEventExport'] as const),
];

const IF_MATCH: readonly OperationId[] = [
  ...([
    'changeFrontdoor',
    'deleteFrontdoor',
    'changeEnvironment',
    'deleteEnvironment',
    'deleteAgent',
  ] as const),
  ...(['changeShare', 'deleteShare', 'replaceSharePolicy', 'setInspector', 'setRequestLog'] as const),
  ...(['replaceShareUpstream', 'changeShareUpstream', 'resetShareUpstream'] as const),
  ...(['changeAuthProvider', 'replaceAuthProvider', 'deleteAuthProvider'] as const),
  ...(['replacePolicy', 'deletePolicy'] as const),
  ...(['changeCustomFrontend', 'deleteCustomFrontend'] as const),
  ...(['changeOrganization', 'deleteOrganization', 'changeOrganizationSettings'] as const),
  'replaceSignInPage',
  ...([
    'changeApiAccount',
    'deleteApiAccount',
    'changeOauthClient',
    'deleteOauthClient',
    'changePerson',
    'deletePerson',
    'removePersonSecondFactor',
    'changeRouter',
    'deleteRouter',
    'deleteGateway',
  ] as const),
  ...(['changeNotificationDestination', 'deleteNotificationDestination'] as const),
  ...(['setEventExport', 'deleteEventExport'] as const),
  ...(['changeFabricService', 'deleteFabricService', 'changeTerminator', 'deleteTerminator'] as const),
];

/** These operations create no resource, but each makes a secret that only its response shows. */
const ALSO_KEYED: readonly OperationId[] = [
  'rotateApiAccount',
  'rotateOauthClient',
  'rotateNotificationSecret',
];

const tagKinds = new Map<string, EntityTagKind>([
  ...WHOLE.map((id) => [id, 'whole'] as const),
  ...STORED.map((id) => [id, 'stored'] as const),
]);
const ifMatch: ReadonlySet<string> = new Set(IF_MATCH);
const alsoKeyed: ReadonlySet<string> = new Set(ALSO_KEYED);

/** Returns undefined if responses of the operation have no entity tag. */
export function entityTagKindOf({ id }: Pick<Operation, 'id'>): EntityTagKind | undefined {
  return tagKinds.get(id);
}

/** Whether the operation honours `If-Match`. */
export function takesIfMatch({ id }: Pick<Operation, 'id'>): boolean {
  return ifMatch.has(id);
}

/** Whether a repeated request with the same key gets the first response again. */
export function takesIdempotencyKey({
  id,
  method,
  scope,
  answer,
}: Pick<Operation, 'id' | 'method' | 'scope' | 'answer'>): boolean {
  return scope !== undefined && method === 'POST' && (answer.status === 201 || alsoKeyed.has(id));
}

/** An `Idempotency-Key` has 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_FORM = /^[\x21-\x7E]{1,255}$/;
