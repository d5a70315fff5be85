/** What the API's benchmark asks, as requests of one server. */
import { tokenBody, type ApiServer } from './api-server.ts';
import type { ApiRequest } from './api-load.ts';

export interface ApiScenario {
  readonly name: string;
  /** Number of connections; one connection measures the time of a single request. */
  readonly connections: number;
  request(server: ApiServer): ApiRequest;
}

const JSON_BODY = { 'content-type': 'application/json' };

const get = (server: ApiServer, path: string): ApiRequest => ({
  port: server.port,
  method: 'GET',
  path,
  headers: { authorization: server.bearer },
});

const page = (server: ApiServer, number: number): ApiRequest =>
  get(server, `/frontdoor/${server.largeFrontdoorId}/auth-providers?page=${number}&size=20&sort=name,asc`);

export const API_SCENARIOS: readonly ApiScenario[] = [
  {
    name: 'get frontdoor',
    connections: 32,
    request: (server) => get(server, `/frontdoor/${server.credentials.frontdoorId}`),
  },
  {
    name: 'list 20 of 10,000 providers',
    connections: 32,
    request: (server) =>
      get(server, `/frontdoor/${server.credentials.frontdoorId}/auth-providers?page=0&size=20&sort=name,asc`),
  },
  {
    name: 'create provider',
    connections: 32,
    request: (server) => ({
      port: server.port,
      method: 'POST',
      path: `/frontdoor/${server.credentials.frontdoorId}/auth-providers`,
      headers: { authorization: server.bearer, ...JSON_BODY },
      body: JSON.stringify({
        name: 'made %d',
        type: 'OIDC',
        data: { issuer: 'https://idp.example.com', client_id: 'bench' },
      }),
    }),
  },
  {
    name: 'token',
    connections: 32,
    request: (server) => ({
      port: server.port,
      method: 'POST',
      path: '/oauth/token',
      headers: JSON_BODY,
      body: tokenBody(server.url, server.credentials),
    }),
  },
  { name: 'page 1 of 100,000 providers', connections: 8, request: (server) => page(server, 0) },
  { name: 'page 400 of 100,000 providers', connections: 8, request: (server) => page(server, 399) },
];
