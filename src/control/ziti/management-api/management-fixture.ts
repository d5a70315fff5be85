/** An edge API with the edge management API and an administrator, for tests. */
import { Agent } from 'node:https';
import { mgmtMessages } from '#wire/ctrl';
import { openEdgeFixture, rawRequest, type EdgeFixture } from '../client-api/edge-api-fixture.ts';
import type { FabricDiagnostics } from '../../overlay/model/mod.ts';
import { insertAdministrator } from './administrator-creation.ts';
import { addManagementRoutes } from './management-routes.ts';

const PREFIX = '/edge/management/v1';

export const CREDENTIALS = { username: 'admin', password: 'a password of an administrator' };

/** The fields of answers that tests read. */
export interface ShownEntity {
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly data: unknown;
  readonly typeId: string;
  readonly username: string;
  readonly configs: readonly string[];
  readonly services: number;
  readonly enrollment: {
    readonly ott: { readonly jwt: string };
    readonly updb: { readonly token: string; readonly jwt: string; readonly username: string };
  };
  readonly enrollmentJwt: string;
  readonly authenticators: {
    readonly cert: { readonly fingerprint: string };
    readonly updb: { readonly username: string };
  };
  readonly serviceRoles: readonly string[];
  readonly edgeRouterRoles: readonly string[];
  readonly roleAttributes: readonly string[];
  readonly isOnline: boolean;
  readonly isVerified: boolean;
  readonly cost: number;
  readonly noTraversal: boolean;
  readonly disabled: boolean;
}

export interface EdgeManagementAnswer {
  readonly status: number;
  readonly data: ShownEntity & readonly ShownEntity[];
  readonly meta: { readonly pagination: { readonly totalCount: number } };
  readonly error: { readonly code: string; readonly cause?: { readonly field: string } };
}

export interface ManagementFixture extends EdgeFixture {
  readonly adminId: string;
  /** Routers of a mesh. The fixture has no mesh, so that tests add them. */
  readonly onlineRouterIds: Set<string>;
  /** By terminator. */
  readonly dynamicCosts: Map<string, number>;
  /** Answers of the mesh, which tests set. */
  readonly diagnostics: { -readonly [K in keyof FabricDiagnostics]: FabricDiagnostics[K] };
  /** Method and path below the prefix of every route: `GET /services/:id`. */
  readonly routes: readonly string[];
  /** Calls with the session of the administrator, or with another token. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<EdgeManagementAnswer>;
  /** Creates an entity and returns its id. */
  make(path: string, body: Record<string, unknown>): Promise<string>;
  logIn(credentials?: { username: string; password: string }): Promise<EdgeManagementAnswer>;
}

export async function openManagementFixture(
  egress?: Parameters<typeof openEdgeFixture>[1],
  openStore?: Parameters<typeof openEdgeFixture>[3],
): Promise<ManagementFixture> {
  const routes: string[] = [];
  const onlineRouterIds = new Set<string>();
  const dynamicCosts = new Map<string, number>();
  const diagnostics: ManagementFixture['diagnostics'] = {
    inspectSelected: () => Promise.resolve([]),
    toggleTraces: () => Promise.resolve({ isSuccess: true, text: '' }),
    validation: {
      compareRouter: () => Promise.reject(new Error('the fixture has no routers')),
      compareDataModel: () => Promise.reject(new Error('the fixture has no routers')),
      ownDataModel: () => mgmtMessages.validateDataModelResult.frame({ componentType: 'controller' }),
      async *validateTerminators() {},
    },
  };
  const routesOf: Parameters<typeof openEdgeFixture>[2] = (app, context, webSockets) => {
    app.addHook('onRoute', ({ method, url }) => {
      if (url.startsWith(PREFIX))
        for (const one of [method].flat()) routes.push(`${one} ${url.slice(PREFIX.length)}`);
    });
    return addManagementRoutes(app, context, webSockets, {
      ctrlAddress: 'tls:localhost:6262',
      mesh: { onlineRouterIds: () => onlineRouterIds, dynamicCost: (id) => dynamicCosts.get(id) ?? 0 },
      controllerId: 'ctrl',
      diagnostics,
    });
  };
  const edge = await openEdgeFixture({}, egress, routesOf, openStore);
  const { identityId: adminId } = await insertAdministrator(edge, CREDENTIALS);
  const agent = new Agent({ keepAlive: true });
  const send = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const request = { method, path: `${PREFIX}/${path}`, headers };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { status, json } = await rawRequest(edge, { ...request, body: text, agent });
    const { data, meta, error } = (json ?? {}) as Omit<EdgeManagementAnswer, 'status'>;
    return { status, data, meta, error };
  };
  const logIn = (credentials = CREDENTIALS): Promise<EdgeManagementAnswer> =>
    send('POST', 'authenticate?method=password', credentials, {});
  const { token: own } = (await logIn()).data;
  const call: ManagementFixture['call'] = (method, path, body, token = own) =>
    send(method, path, body, { 'zt-session': token });
  return {
    ...edge,
    async close() {
      agent.destroy();
      await edge.close();
    },
    adminId,
    onlineRouterIds,
    dynamicCosts,
    diagnostics,
    routes,
    call,
    logIn,
    async make(path, body) {
      const { status, data, error } = await call('POST', path, body);
      if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(error)}`);
      return data.id;
    },
  };
}
