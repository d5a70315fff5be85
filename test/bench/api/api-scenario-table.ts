/** What the API's benchmark asks, as requests of one server. */
import type { Door } from '../check-client.ts';
import type { WrkLoad } from '../wrk-load.ts';
import { tokenRequest, type ApiServer } from './api-server.ts';

export interface ApiRequest extends Omit<WrkLoad, 'connections'>, Pick<Door, 'headers'> {}

export interface ApiScenario {
  readonly name: string;
  /** Number of connections; one connection measures the time of a single request. */
  readonly connections: number;
  request(server: ApiServer): ApiRequest;
}

const JSON_BODY = { 'content-type': 'application/json' };

const get = ({ bearer: authorization }: ApiServer, path: string): ApiRequest => ({
  path,
  headers: { authorization },
});

const page = (server: ApiServer, frontdoorId: string, number: number): ApiRequest =>
  get(server, `/frontdoor/${frontdoorId}/auth-providers?page=${number}&size=20&sort=name,asc`);

export const API_SCENARIOS: readonly ApiScenario[] = [
  {
    name: 'get frontdoor',
    connections: 32,
    request: (server) => get(server, `/frontdoor/${server.credentials.frontdoorId}`),
  },
  {
    name: 'list 20 of 10,000 providers',
    connections: 32,
    request: (server) => page(server, server.credentials.frontdoorId, 0),
  },
  {
    name: 'create provider',
    connections: 32,
    request: ({ credentials, bearer }) => ({
      path: `/frontdoor/${credentials.frontdoorId}/auth-providers`,
      headers: { authorization: bearer, ...JSON_BODY },
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
    request: ({ url, credentials }) => ({
      path: '/oauth/token',
      headers: JSON_BODY,
      body: JSON.stringify(tokenRequest(url, credentials)),
    }),
  },
  {
    name: 'page 1 of 100,000 providers',
    connections: 8,
    request: (server) => page(server, server.largeFrontdoorId, 0),
  },
  {
    name: 'page 400 of 100,000 providers',
    connections: 8,
    request: (server) => page(server, server.largeFrontdoorId, 399),
  },
];
