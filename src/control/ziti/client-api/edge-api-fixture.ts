/** An edge API for tests: real TLS on a free port, a real store, and two frontdoors. */
import type { Share } from '#domain';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import * as https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog, type Clock, type Log, type LogFields } from '#base';
import { AgentApiClient, EdgeApiClient, enrollIdentity, GatewayApiClient } from '#sdk';
import { EgressClient } from '#net';
import type { IdentityFile } from '#net/files';
import type { LoginPartsOptions } from '../../shares/logins/login-parts.ts';
import { openLoginParts, type LoginParts } from '../../shares/logins/mod.ts';
import {
  attachModel,
  FabricEvents,
  OverlayModel,
  type EdgeController,
  type EdgeRouter,
} from '../../overlay/model/mod.ts';
import '../../credentials/passwords/password-cost-fixture.ts';
import { openPki, type Pki } from '../../pki/mod.ts';
import { Secrets } from '../../secrets/secrets.ts';
import { createEnrollment, mintJti, type EnrollmentKind } from '../../overlay/enrollments/mod.ts';
import { createShare, type NewShare } from '../../shares/records/share-store.ts';
import type { Store } from '../../store/mod.ts';
import { openApiSessions, type ApiSessionStore } from '../../overlay/clients/mod.ts';
import { createEdgeApi, type EdgeApi, type EdgeApiLimits, type EdgeRoutes } from './edge-api.ts';
import { addMachineRoutes } from '../../shares/mod.ts';
import { openEdgeTokenKeys } from './edge-token-keys.ts';
import { ServiceTokens } from './service-tokens.ts';
import { SessionTokens } from './session-tokens.ts';
import '../../pki/edge-api-key-fixture.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import { GatewayCommands } from '../../shares/gateway-feed/gateway-commands.ts';
import { openShareCatalog } from '../../shares/catalog/catalog-loader.ts';
import type { ShareCatalog } from '../../shares/catalog/share-catalog.ts';

type CertificateEnrollment = Exclude<EnrollmentKind, 'edge-password' | 'edge-authority' | 'transit-router'>;

export interface EdgeFixture {
  readonly folder: string;
  readonly pki: Pki;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly model: OverlayModel;
  readonly catalog: ShareCatalog;
  readonly sessions: ApiSessionStore;
  readonly events: FabricEvents;
  readonly tokens: ServiceTokens;
  readonly login: LoginParts;
  readonly gatewayCommands: GatewayCommands;
  readonly api: EdgeApi;
  readonly apiUrl: string;
  readonly clock: OffsetClock;
  readonly frontdoorIds: readonly [string, string];
  readonly routers: EdgeRouter[];
  /** As listed to SDKs. */
  readonly controllers: EdgeController[];
  readonly logged: string[];
  /** Creates an enrollment and returns its JWT and content. */
  enrollment(
    kind?: CertificateEnrollment,
    frontdoor?: number,
  ): Promise<{ jwt: string; jti: string; id: string }>;
  enroll(name?: string, kind?: 'environment' | 'gateway', frontdoor?: number): Promise<Enrolled>;
  share(wanted: Partial<NewShare> & { environmentId: string }): Promise<Share>;
  close(): Promise<void>;
}

export interface Enrolled {
  readonly id: string;
  readonly identity: IdentityFile;
  readonly client: EdgeApiClient;
  readonly agentApi: AgentApiClient;
  readonly gatewayApi: GatewayApiClient;
}

/** The real time plus an offset, because TLS checks certificates with the real time. */
export class OffsetClock implements Clock {
  offsetMs = 0;

  nowMs(): number {
    return Date.now() + this.offsetMs;
  }

  monotonicMs(): number {
    return performance.now() + this.offsetMs;
  }
}

export async function openEdgeFixture(
  limits: EdgeApiLimits = {},
  egress: LoginPartsOptions['egress'] = new EgressClient({ allowed: [] }),
  managementRoutes?: EdgeRoutes,
  openStore: () => Promise<Store> = openEmbedded,
): Promise<EdgeFixture> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-edge-'));
  const clock = new OffsetClock();
  const logged: string[] = [];
  const log = recorder(logged);
  const store = await openStore();
  const secrets = new Secrets([{ id: 'k1', key: new Uint8Array(32).fill(7) }]);
  const pki = await openPki({
    dataDir: folder,
    db: store.db,
    secrets,
    trustDomain: 'test.frontdoor',
    hosts: [],
    clock,
    log: silentLog,
  });
  const frontdoorIds = [randomUUID(), randomUUID()] as const;
  const created_at = clock.nowMs();
  for (const id of frontdoorIds) {
    const organization = { id: randomUUID(), name: 'an organization', created_at };
    await store.db.insertInto('organization').values(organization).execute();
    const frontdoor = { id, organization_id: organization.id, name: 'a frontdoor', created_at };
    await store.db.insertInto('frontdoor').values(frontdoor).execute();
  }
  const frontend = {
    id: randomUUID(),
    public_name: 'public',
    zone: 'share.localhost',
    is_default: 1,
    created_at,
  };
  await store.db.insertInto('frontend').values(frontend).execute();
  const model = new OverlayModel();
  const attached = await attachModel(store, model);
  const shares = await openShareCatalog(store, model);
  const { catalog } = shares;
  const tokenKeys = await openEdgeTokenKeys(store, secrets, clock);
  const tokens = new ServiceTokens(tokenKeys, 'https://edge.test', clock);
  const sessionTokens = new SessionTokens(tokenKeys, clock);
  const verifyAccess = (token: string) => sessionTokens.verifyAccess(token);
  const sessions = await openApiSessions({ store, secrets, model, clock, log, verifyAccess });
  const login = await openLoginParts({ store, secrets, catalog, egress, clock, log });
  const gatewayCommands = new GatewayCommands();
  const events = new FabricEvents();
  let apiUrl = 'https://not-listening';
  const controllers: EdgeController[] = [];
  const routers: EdgeRouter[] = [
    { id: 'r1', name: 'router-1', hostname: 'localhost', port: 3022, isOnline: true },
  ];
  const api = await createEdgeApi({
    base: { store, secrets, model, clock, log },
    pki,
    loadIdentity: (id) => attached.loadIdentity(id),
    sessions,
    edgeTokens: { tokens, sessionTokens, tokenKeys },
    egress,
    mesh: {
      events,
      status: {
        service: () => ({ state: 'PENDING' }),
        isConnected: () => false,
        channels: () => '',
        onMeasured: () => {},
      },
      routers: () => routers,
      hasKeylessHost: () => false,
    },
    addresses: {
      apiUrl: () => apiUrl,
      controllers: () => controllers,
      frontendUrls: (host) => [`http://${host}:8080`],
      interceptDomain: 'ziti',
    },
    server: {
      limits,
      managementRoutes,
      machineRoutes: (app, context, instanceId) =>
        addMachineRoutes(app, context, { catalog, login, gatewayCommands, instanceId }),
    },
  });
  const { port } = await api.listen({ host: '127.0.0.1', port: 0 });
  apiUrl = `https://localhost:${port}`;
  const clients: EdgeApiClient[] = [];

  const fixture: EdgeFixture = {
    folder,
    pki,
    store,
    secrets,
    model,
    catalog,
    sessions,
    events,
    tokens,
    login,
    gatewayCommands,
    api,
    apiUrl,
    clock,
    frontdoorIds,
    routers,
    controllers,
    logged,
    async enrollment(kind: CertificateEnrollment = 'environment', frontdoor = 0) {
      const nowMs = clock.nowMs();
      const ownerId = kind === 'environment' ? frontdoorIds[frontdoor]! : null;
      let identityId: string | null = null;
      if (kind !== 'environment') {
        const row = { id: randomUUID(), kind, frontdoor_id: null, name: `a ${kind}`, agent_version: null };
        identityId = row.id;
        await store.transaction(async (trx, touch) => {
          await trx
            .insertInto('identity')
            .values({ ...row, created_at: nowMs })
            .execute();
          touch('identity', row.id);
        });
      }
      const { enrollment } = await createEnrollment(store.db, secrets, {
        kind,
        ownerId,
        identityId,
        ttlMs: 900_000,
        nowMs,
      });
      const jti = mintJti(secrets, enrollment.id);
      const jwt = pki.mintEnrollmentJwt({
        issuer: apiUrl,
        subject: enrollment.identityId,
        jti,
        method: kind === 'router' ? 'erott' : 'ott',
        expiresAtMs: enrollment.expiresAtMs,
        controlAddresses: ['tls:localhost:6262'],
      });
      return { jwt, jti, id: enrollment.identityId };
    },
    async enroll(name = 'a machine', kind = 'environment', frontdoor = 0) {
      const { jwt } = await fixture.enrollment(kind, frontdoor);
      const { identity, id } = await enrollIdentity({ jwt, name });
      const client = new EdgeApiClient({ identity, log: silentLog });
      clients.push(client);
      const { connection } = client;
      const agentApi = new AgentApiClient(connection, silentLog);
      return { id, identity, client, agentApi, gatewayApi: new GatewayApiClient(connection) };
    },
    share: (wanted) =>
      store.transaction((trx, touch) =>
        createShare(trx, touch, {
          frontdoorId: frontdoorIds[0],
          shareMode: 'private',
          backendMode: 'proxy',
          target: 'http://127.0.0.1:3000',
          targetByAgent: false,
          nowMs: clock.nowMs(),
          ...wanted,
        }),
      ),
    async close() {
      for (const client of clients) await client.close();
      await api.close();
      await login.close();
      await sessions.close();
      shares.close();
      attached.close();
      pki.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
  return fixture;
}

/** Keeps every log line as JSON, to check what it contains. */
function recorder(lines: string[]): Log {
  const keep = (fields: LogFields, message: string): void =>
    void lines.push(JSON.stringify({ ...fields, message }));
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
  return log;
}

/** Sends one request with any certificate, without a client library. */
export async function rawRequest(
  fixture: EdgeFixture,
  request: {
    readonly method?: string | undefined;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    readonly body?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
    /** Keeps connections; by default each request has its own. */
    readonly agent?: https.Agent | undefined;
  },
): Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer; text: string; json: unknown }> {
  const sent = https.request(`${fixture.apiUrl}${request.path}`, {
    method: request.method ?? 'GET',
    ca: fixture.pki.caBundlePem,
    agent: request.agent ?? false,
    headers: request.headers,
    cert: request.cert,
    key: request.key,
  });
  sent.end(request.body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  const isJson = response.headers['content-type'] === 'application/json';
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
