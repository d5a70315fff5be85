/**
 * Every operation of the Management API and of the token issuer: routing, credentials, scopes, limits, validation and
 * the API's description all come from these rows. The server refuses to start when a row has no handler.
 */
import type { TSchema } from 'typebox';
import * as schemas from './resource-schemas.ts';

export type Scope = 'frontdoor.read' | 'frontdoor.write' | 'frontdoor.admin';

export const SCOPES: readonly Scope[] = ['frontdoor.read', 'frontdoor.write', 'frontdoor.admin'];

export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** After {base_url}, or after {auth_url} when `at` is `auth`. Parameters in braces. */
  readonly path: string;
  readonly at: 'api' | 'auth';
  /** Undefined: no credentials are asked for. */
  readonly scope: Scope | undefined;
  /** Counted per client address before anything else; writes are counted per caller anyway. */
  readonly isLimitedByAddress: boolean;
  /** Undefined: reads no body; 'own': the handler reads forms that JSON does not cover. */
  readonly body: TSchema | 'own' | undefined;
  readonly query: readonly QueryParameter[];
  readonly answer: { readonly status: number; readonly schema: TSchema | undefined };
  /** Statuses of its own refusals, beside those that every operation has. */
  readonly refusals: readonly number[];
}

export interface QueryParameter {
  readonly name: string;
  readonly type: 'integer' | 'string' | 'UUID';
  readonly isRequired: boolean;
  readonly summary: string;
}

const paging: readonly QueryParameter[] = [
  { name: 'page', type: 'integer', isRequired: false, summary: 'Page number, from 0' },
  {
    name: 'size',
    type: 'integer',
    isRequired: false,
    summary: 'Entries on a page, 1 to 1000; 20 when not given',
  },
  { name: 'sort', type: 'string', isRequired: false, summary: 'field,direction: name or id, asc or desc' },
];

type Row = Pick<Operation, 'id' | 'summary' | 'method' | 'path'> & Partial<Operation>;

/** A row that the caller's scope guards: read for GET, write for the rest, unless it says otherwise. */
function guarded<const T extends Row>(row: T): Operation & Pick<T, 'id'> {
  return { ...defaults, scope: row.method === 'GET' ? 'frontdoor.read' : 'frontdoor.write', ...row };
}

/** A row that asks for no credentials. */
function open<const T extends Row>(row: T): Operation & Pick<T, 'id'> {
  return { ...defaults, ...row };
}

const defaults: Omit<Operation, 'id' | 'summary' | 'method' | 'path'> = {
  at: 'api',
  scope: undefined,
  isLimitedByAddress: false,
  body: undefined,
  query: [],
  answer: { status: 200, schema: undefined },
  refusals: [],
};

const ok = (schema: TSchema) => ({ status: 200, schema });
const created = (schema: TSchema) => ({ status: 201, schema });
const gone = { status: 204, schema: undefined };

const fabricCreation = {
  method: 'POST',
  scope: 'frontdoor.admin',
  isLimitedByAddress: true,
  body: schemas.newFabricNodeSchema,
  answer: created(schemas.fabricNodeTokenSchema),
} as const;
const fabricList = {
  method: 'GET',
  scope: 'frontdoor.admin',
  query: paging,
  answer: ok(schemas.countedPageSchema(schemas.fabricNodeSchema)),
} as const;
const fabricDeletion = { method: 'DELETE', scope: 'frontdoor.admin', answer: gone, refusals: [404] } as const;

export const operations = [
  guarded({
    id: 'createFrontdoor',
    summary: 'Create a frontdoor',
    method: 'POST',
    path: '/frontdoor',
    body: schemas.newFrontdoorSchema,
    answer: created(schemas.frontdoorSchema),
    refusals: [403],
  }),
  guarded({
    id: 'findFrontdoor',
    summary: "Get an organization's first frontdoor",
    method: 'GET',
    path: '/frontdoor',
    query: [{ name: 'organizationId', type: 'UUID', isRequired: true, summary: 'Whose frontdoor' }],
    answer: ok(schemas.frontdoorSchema),
    refusals: [403, 404],
  }),
  guarded({
    id: 'getFrontdoor',
    summary: 'Get a frontdoor',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}',
    answer: ok(schemas.frontdoorSchema),
  }),
  guarded({
    id: 'deleteFrontdoor',
    summary: 'Delete a frontdoor with its environments and shares',
    method: 'DELETE',
    path: '/frontdoor/{frontdoorId}',
    answer: gone,
  }),
  guarded({
    id: 'listEnvironments',
    summary: 'List environments',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/environments',
    query: paging,
    answer: ok(schemas.pageSchema(schemas.environmentEntrySchema)),
  }),
  guarded({
    id: 'getEnvironment',
    summary: 'Get an environment',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/environments/{id}',
    answer: ok(schemas.environmentSchema),
    refusals: [404],
  }),
  guarded({
    id: 'deleteEnvironment',
    summary: 'Delete an environment with its shares',
    method: 'DELETE',
    path: '/frontdoor/{frontdoorId}/environments/{id}',
    answer: gone,
    refusals: [404],
  }),
  guarded({
    id: 'createEnrollment',
    summary: 'Issue a code that an agent enrolls with',
    method: 'POST',
    path: '/frontdoor/{frontdoorId}/agents/enrollments',
    isLimitedByAddress: true,
    answer: created(schemas.enrollmentSchema),
  }),
  guarded({
    id: 'listAgents',
    summary: 'List agents',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/agents',
    query: paging,
    answer: ok(schemas.countedPageSchema(schemas.agentEntrySchema)),
  }),
  guarded({
    id: 'getAgentStatus',
    summary: "Get the state of an agent's shares",
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/agents/{agentId}/status',
    answer: ok(schemas.agentStatusSchema),
    refusals: [404],
  }),
  guarded({
    id: 'getAgentVersion',
    summary: 'Get the version that an agent runs',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/agents/{agentId}/version',
    answer: ok(schemas.agentVersionSchema),
    refusals: [404],
  }),
  guarded({
    id: 'deleteAgent',
    summary: 'Delete an agent with its environment',
    method: 'DELETE',
    path: '/frontdoor/{frontdoorId}/agents/{agentId}',
    answer: gone,
    refusals: [404],
  }),
  open({
    id: 'getBootstrapToken',
    summary: 'Exchange an enrollment code, which is the credential, for an enrollment JWT',
    method: 'GET',
    path: '/frontdoor/agents/bootstrap-token/{enrollmentCode}',
    isLimitedByAddress: true,
    answer: ok(schemas.bootstrapTokenSchema),
    refusals: [404],
  }),
  guarded({
    id: 'listShares',
    summary: 'List shares',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/shares',
    query: paging,
    answer: ok(schemas.countedPageSchema(schemas.shareSchema)),
  }),
  guarded({
    id: 'createShare',
    summary: 'Create a share',
    method: 'POST',
    path: '/frontdoor/{frontdoorId}/shares',
    body: schemas.newShareSchema,
    answer: created(schemas.shareSchema),
    refusals: [404, 409],
  }),
  guarded({
    id: 'getShare',
    summary: 'Get a share',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/shares/{token}',
    answer: ok(schemas.shareSchema),
    refusals: [404],
  }),
  guarded({
    id: 'changeShare',
    summary: 'Change some fields of a share',
    method: 'PATCH',
    path: '/frontdoor/{frontdoorId}/shares/{token}',
    body: schemas.shareChangeSchema,
    answer: ok(schemas.shareSchema),
    refusals: [404, 409],
  }),
  guarded({
    id: 'deleteShare',
    summary: 'Delete a share',
    method: 'DELETE',
    path: '/frontdoor/{frontdoorId}/shares/{token}',
    answer: gone,
    refusals: [404],
  }),
  guarded({
    ...fabricCreation,
    id: 'createRouter',
    summary: 'Create a router and the JWT that it enrolls with',
    path: '/fabric/routers',
  }),
  guarded({ ...fabricList, id: 'listRouters', summary: 'List routers', path: '/fabric/routers' }),
  guarded({
    ...fabricDeletion,
    id: 'deleteRouter',
    summary: 'Delete a router; its connections end',
    path: '/fabric/routers/{id}',
  }),
  guarded({
    ...fabricCreation,
    id: 'createGateway',
    summary: 'Create a gateway and the JWT that it enrolls with',
    path: '/fabric/gateways',
  }),
  guarded({ ...fabricList, id: 'listGateways', summary: 'List gateways', path: '/fabric/gateways' }),
  guarded({
    ...fabricDeletion,
    id: 'deleteGateway',
    summary: 'Delete a gateway; its connections end',
    path: '/fabric/gateways/{id}',
  }),
  open({
    id: 'issueToken',
    summary: 'Exchange client credentials for a bearer token',
    method: 'POST',
    path: '/oauth/token',
    at: 'auth',
    isLimitedByAddress: true,
    body: 'own',
    answer: ok(schemas.tokenSchema),
    refusals: [401],
  }),
  open({
    id: 'getTokenKeys',
    summary: 'Get the public keys of bearer tokens',
    method: 'GET',
    path: '/.well-known/jwks.json',
    at: 'auth',
    answer: ok(schemas.openObjectSchema),
  }),
  open({
    id: 'getIssuerMetadata',
    summary: 'Get what the token issuer offers',
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    at: 'auth',
    answer: ok(schemas.openObjectSchema),
  }),
] as const satisfies readonly Operation[];

export type OperationId = (typeof operations)[number]['id'];
