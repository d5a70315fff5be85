/** Operations of the token issuer and of the API description. They require no bearer token. */
import {
  openObjectSchema,
  tokenFormSchema,
  tokenRequestSchema,
  tokenSchema,
} from './schemas/resource-schemas.ts';
import { ok, open, showing } from './operation.ts';

export const issuerOperations = [
  open({
    id: 'issueToken',
    group: 'Tokens',
    summary: 'Exchange client credentials for a bearer token',
    method: 'POST',
    path: '/oauth/token',
    at: 'auth',
    isLimitedByAddress: true,
    body: 'own',
    forms: {
      'application/json': tokenRequestSchema,
      'application/x-www-form-urlencoded': tokenFormSchema,
    },
    answer: showing('access_token', ok(tokenSchema)),
    refusals: [401],
  }),
  open({
    id: 'getTokenKeys',
    group: 'Tokens',
    summary: 'Get the public keys of bearer tokens',
    method: 'GET',
    path: '/.well-known/jwks.json',
    at: 'auth',
    answer: ok(openObjectSchema),
  }),
  open({
    id: 'getOriginKeys',
    group: 'Tokens',
    summary: 'Get the public keys of the identity tokens that gateways send to origins',
    method: 'GET',
    path: '/.well-known/origin-jwks.json',
    answer: ok(openObjectSchema),
  }),
  open({
    id: 'getIssuerMetadata',
    group: 'Tokens',
    summary: 'Get the metadata of the token issuer',
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    at: 'auth',
    answer: ok(openObjectSchema),
  }),
  open({
    id: 'getOpenApi',
    group: 'Description',
    summary: 'Get the description of this API as OpenAPI 3.1',
    method: 'GET',
    path: '/openapi.json',
    answer: ok(openObjectSchema),
  }),
  open({
    id: 'getApiPage',
    group: 'Description',
    summary: 'Read the description of this API in a browser',
    method: 'GET',
    path: '/docs',
    answer: {
      status: 200,
      schema: undefined,
      otherForms: { 'text/html': 'An HTML page' },
    },
  }),
] as const;
