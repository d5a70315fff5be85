/** What anybody may read: version, trust bundle, protocols, external signers, and the description of this API. */
import type { FastifyInstance } from 'fastify';
import type { ApiAddresses } from '#wire/ctrl';
import type { EdgeEntityRecord, JsonObject } from '../../overlay/model/mod.ts';
import type { QuerySymbols } from '../query/query-symbol.ts';
import { notFound, sendData, type CallerContext, queryOf } from '../../overlay/clients/mod.ts';
import { noteRootReceipt } from '../../overlay/records/mod.ts';
import type { EdgeContext } from './edge-context.ts';
import { sendPage } from './list-answer.ts';
import { isoTime } from './service-view.ts';
import type { RouteMethods } from './route-methods.ts';

/** The version for the whole protocol. The product's own version appears only in our own APIs. */
export const PROTOCOL_VERSION = 'v1.7.2';
export const EDGE_PATH = '/edge/client/v1';
export const MANAGEMENT_PATH = '/edge/management/v1';
export const OIDC_PATH = '/oidc';
const SPEC_ID = 'edge-client';

/** What says where the APIs are, and proves it. */
export type AddressContext = CallerContext & Pick<EdgeContext, 'pki' | 'addresses'>;
type InformationContext = AddressContext & Pick<EdgeContext, 'enrollments'>;

export interface InformationOptions {
  /** What the description of this API lists. */
  readonly methods: RouteMethods;
  /** Whether the edge management API is served. */
  readonly hasManagement: boolean;
}

/** The addresses of the client API and of OpenID Connect, as OpenZiti's controllers announce them. */
export function apiAddressesOf(urls: readonly string[]): ApiAddresses {
  const at = (path: string) => urls.map((url) => ({ url: `${url}${path}`, version: 'v1' }));
  return { 'edge-client': at(EDGE_PATH), 'edge-oidc': at(OIDC_PATH) };
}

/** The fields of external signers that filters may name. */
const signerSymbols: QuerySymbols<EdgeEntityRecord> = {
  id: { type: 'text', read: ({ id }) => id },
  name: { type: 'text', read: ({ name }) => name },
  issuer: { type: 'text', read: ({ data }) => String(data['issuer']) },
  audience: { type: 'text', read: ({ data }) => String(data['audience']) },
  clientId: { type: 'text', read: ({ data }) => textOrNull(data['clientId']) },
  enabled: { type: 'boolean', read: () => true },
};

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** What a client needs to get a token of the other party. */
function signerView({ id, name, data, createdAtMs, updatedAtMs }: EdgeEntityRecord): JsonObject {
  const { audience, clientId, externalAuthUrl, scopes, targetToken } = data;
  return {
    _links: { self: { href: `./external-jwt-signers/${id}` } },
    id,
    name,
    createdAt: isoTime(createdAtMs),
    updatedAt: isoTime(updatedAtMs),
    tags: {},
    audience,
    clientId,
    externalAuthUrl,
    scopes,
    targetToken,
    openIdConfigurationUrl: externalAuthUrl,
    enrollToCertEnabled: data['enrollToCertEnabled'] === true,
    enrollToTokenEnabled: data['enrollToTokenEnabled'] === true,
  };
}

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addInformationRoutes(
  app: FastifyInstance,
  context: InformationContext,
  { methods, hasManagement }: InformationOptions,
): void {
  const startedAt = isoTime(context.clock.nowMs());
  addVersionRoutes(app, context, hasManagement);

  app.get('/protocols', (_request, reply) =>
    sendData(reply, { https: { address: new URL(context.addresses.apiUrl()).host } }),
  );

  addNetworkTokens(app, context);

  app.get('/external-jwt-signers', (request, reply) =>
    sendPage(
      reply,
      queryOf(request),
      context.enrollments.externalSigners.enabled(),
      signerSymbols,
      signerView,
    ),
  );

  const spec = {
    _links: { self: { href: `./specs/${SPEC_ID}` }, spec: { href: `./specs/${SPEC_ID}/spec` } },
    id: SPEC_ID,
    name: SPEC_ID,
    createdAt: startedAt,
    updatedAt: startedAt,
    tags: {},
  };
  app.get('/specs', (_request, reply) => sendData(reply, [spec]));
  app.get<{ Params: { id: string } }>('/specs/:id', (request, reply) => {
    if (request.params.id !== SPEC_ID) throw notFound();
    return sendData(reply, spec);
  });
  app.get<{ Params: { id: string } }>('/specs/:id/spec', (request, reply) => {
    if (request.params.id !== SPEC_ID) throw notFound();
    // JSON is YAML, which is what OpenZiti sends to clients that do not ask for JSON.
    const asksJson = request.headers.accept?.includes('application/json') === true;
    return reply
      .header('content-type', asksJson ? 'application/json' : 'text/yaml')
      .send(Buffer.from(JSON.stringify(swagger(context, methods))));
  });
}

/** Adds the token that names this installation, by which clients that log in elsewhere enroll. */
export function addNetworkTokens(app: FastifyInstance, context: AddressContext): void {
  // Anybody may ask, and a signature costs time, so that one is kept for each certificate and address.
  let network: { readonly leafPem: string; readonly url: string; readonly token: string } | undefined;
  app.get('/network-jwts', (_request, reply) => {
    const [url, { leafPem }] = [context.addresses.apiUrl(), context.pki.edgeServer];
    if (network?.url !== url || network.leafPem !== leafPem)
      network = { url, leafPem, token: context.pki.mintNetworkJwt(url) };
    return sendData(reply, [{ name: 'default', token: network.token }]);
  });
}

/** Adds what each of OpenZiti's APIs serves below its own path. */
export function addVersionRoutes(
  app: FastifyInstance,
  context: AddressContext,
  hasManagement: boolean,
): void {
  app.get('/', (_request, reply) => sendData(reply, versionOf(context, hasManagement)));
  app.get('/version', (_request, reply) => sendData(reply, versionOf(context, hasManagement)));

  app.get('/.well-known/est/cacerts', async (request, reply) => {
    const { pki, store, clock, callers } = context;
    const [bundle, { authorities }] = [pki.cacertsPkcs7Base64, pki];
    const id = callers.knownCallerOf(request);
    if (id !== undefined) await noteRootReceipt(store.db, authorities, id, clock.nowMs());
    return reply
      .header('content-type', 'application/pkcs7-mime')
      .header('content-transfer-encoding', 'base64')
      .send(Buffer.from(bundle));
  });
}

function versionOf(context: AddressContext, hasManagement: boolean): unknown {
  const at = (path: string) => ({ v1: { path, apiBaseUrls: [`${context.addresses.apiUrl()}${path}`] } });
  const edge = at(EDGE_PATH);
  const management = !hasManagement ? {} : { 'edge-management': at(MANAGEMENT_PATH) };
  return {
    version: PROTOCOL_VERSION,
    revision: 'frontdoor',
    buildDate: '2020-01-01 01:01:01',
    runtimeVersion: 'frontdoor',
    capabilities: ['OIDC_AUTH'],
    apiVersions: { edge, 'edge-client': edge, ...management, 'edge-oidc': at(OIDC_PATH) },
  };
}

/** A Swagger 2.0 document with the paths and methods that this API has. */
function swagger(context: AddressContext, methods: RouteMethods): unknown {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, ofPath] of methods.below(EDGE_PATH)) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = names.map((name) => ({ name, in: 'path', required: true, type: 'string' }));
    paths[path] = Object.fromEntries(
      ofPath.map((method) => [
        method.toLowerCase(),
        { parameters, responses: { default: { description: 'data and meta, or error and meta' } } },
      ]),
    );
  }
  const info = { title: 'Edge client API of Frontdoor', version: PROTOCOL_VERSION };
  const { host } = new URL(context.addresses.apiUrl());
  return { swagger: '2.0', info, host, basePath: EDGE_PATH, schemes: ['https'], paths };
}
