/** A Management API over a store, for tests: two organizations, and a status board that tests set. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ManualClock } from '#base';
import { entityTagKindOf, operations } from '#contract';
import { errorSchema } from '#contract/schemas';
import type { GatewayReplay } from '#domain/gateway-shapes';
import type { NameRecords, TxtAnswer } from '#domain';
import {
  attachModel,
  OverlayModel,
  type MeasuredListener,
  type ServiceStatus,
  type StatusBoard,
} from '../../overlay/model/mod.ts';
import { lineOf, recordingLog } from '../../../../test/support/recording-log.ts';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import type { OpenStore } from '../../store/engine/each-store-suite.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import '../../credentials/passwords/password-cost-fixture.ts';
import type { FirstStart } from '../records/first-rows.ts';
import { seedFirstStart } from '../records/first-start.ts';
import type { Store } from '../../store/mod.ts';
import { bodyCheckOf } from '../checks/body-check.ts';
import { FabricFixture } from './fabric-view-fixture.ts';
import { ProviderDirectory } from '../logins/provider-directory.ts';
import { createManagementApi } from './management-api.ts';
import type { ManagementApiOptions } from './management-api-options.ts';
import { openShareCatalog } from '../catalog/catalog-loader.ts';
import { StateCounts } from '../catalog/state-counts.ts';
import type { ShareCatalog } from '../catalog/share-catalog.ts';

export const BASE_URL = 'http://127.0.0.1:8081';
const NO_RECORDS: NameRecords = { alias: undefined, addresses: [], problem: undefined };
const NO_TEXTS: TxtAnswer = { values: [], problem: undefined };
export const AUDIENCE = `${BASE_URL}/frontdoor`;

export interface ApiWorld {
  readonly app: FastifyInstance;
  /** The API's options, to create another one over the same store. */
  readonly options: ManagementApiOptions;
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: ManualClock;
  readonly model: OverlayModel;
  readonly catalog: ShareCatalog;
  readonly first: FirstStart;
  /** A second organization with one frontdoor and an account. */
  readonly other: {
    readonly organizationId: string;
    readonly frontdoorId: string;
    readonly authorization: string;
  };
  readonly authorization: string;
  readonly connected: Set<string>;
  readonly statuses: Map<string, ServiceStatus>;
  /** Notifies the listeners of the status board. */
  readonly measured: MeasuredListener;
  readonly fabric: FabricFixture;
  /** Replays that were sent to a gateway. */
  readonly replays: GatewayReplay[];
  readonly logLines: string[];
  /** What DNS says about names. */
  readonly records: Map<string, NameRecords>;
  /** What DNS says about their TXT records. */
  readonly texts: Map<string, TxtAnswer>;
  /** JWT claims that were minted, oldest first. */
  readonly minted: Parameters<ManagementApiOptions['mintEnrollmentJwt']>[0][];
  addAccount(
    organizationId: string,
    scopes: string,
  ): Promise<{ id: string; token: string; authorization: string }>;
  addEnvironment(name: string, frontdoorId?: string): Promise<string>;
  call(method: string, url: string, options?: CallOptions): Promise<CallAnswer>;
  /** Serves a custom frontend as an operator, without a proof by DNS. */
  grant(customFrontendId: string): Promise<void>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Null: no credential. */
  readonly authorization?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Undefined if there is no body. */
  readonly body: unknown;
}

export interface ApiWorldOptions extends Partial<ManagementApiOptions> {
  /** Opens a new, empty store; in memory by default. */
  readonly open?: OpenStore;
}

/** Identities with a channel. Each change is reported, as routers report it. */
class MeasuredConnections extends Set<string> {
  readonly #report: MeasuredListener;

  constructor(report: MeasuredListener) {
    super();
    this.#report = report;
  }

  override add(id: string): this {
    super.add(id);
    this.#report('identity', id);
    return this;
  }

  override delete(id: string): boolean {
    const wasConnected = super.delete(id);
    this.#report('identity', id);
    return wasConnected;
  }
}

/** Measured states of shares. Each change is reported. */
class MeasuredStatuses extends Map<string, ServiceStatus> {
  readonly #report: MeasuredListener;

  constructor(report: MeasuredListener) {
    super();
    this.#report = report;
  }

  override set(id: string, status: ServiceStatus): this {
    super.set(id, status);
    this.#report('service', id);
    return this;
  }
}

export async function openApiWorld({
  open = openEmbedded,
  ...options
}: ApiWorldOptions = {}): Promise<ApiWorld> {
  const secrets = ephemeralSecrets();
  const clock = new ManualClock();
  const logLines: string[] = [];
  const log = recordingLog((record) => void logLines.push(lineOf(record)));
  const store = await open({ log });
  const first = (await seedFirstStart(store, secrets, { zone: 'share.localhost', clock }))!;
  const model = new OverlayModel();
  const attached = await attachModel(store, model);
  const shares = await openShareCatalog(store, model);
  const { catalog } = shares;
  const measuredListeners: MeasuredListener[] = [];
  const measured: MeasuredListener = (kind, id) => {
    for (const listener of measuredListeners) listener(kind, id);
  };
  const connected = new MeasuredConnections(measured);
  const statuses = new MeasuredStatuses(measured);
  const status: StatusBoard = {
    service: (id) => statuses.get(id) ?? { state: 'PENDING' },
    isConnected: (id) => connected.has(id),
    channels: (id) => (connected.has(id) ? 'here' : ''),
    onMeasured: (listener) => void measuredListeners.push(listener),
  };
  const fabric = new FabricFixture(model);
  const minted: ApiWorld['minted'] = [];
  const records: ApiWorld['records'] = new Map();
  const texts: ApiWorld['texts'] = new Map();
  const replays: GatewayReplay[] = [];
  const apiOptions: ManagementApiOptions = {
    store,
    secrets,
    model,
    catalog,
    log,
    clock,
    status,
    counts: new StateCounts(model, catalog, status),
    fabric,
    providers: await ProviderDirectory.open(store),
    gatewayCommands: { send: (command) => replays.push(command) > 0 },
    edgeRouters: () => [],
    baseUrl: () => BASE_URL,
    authUrl: () => BASE_URL,
    frontendUrls: (host) => [`http://${host}:8080`],
    notifications: { attempt: async () => ({ status: 200, problem: undefined }), hasMail: true },
    eventExport: { attempt: async () => undefined },
    authorities: { trustDomain: 'test.frontdoor', changed: async () => {} },
    sealing: {
      prepare: async () => 'k2',
      begin: async () => {},
      look: async () => {},
      state: async () => ({ keyId: null, state: 'none', missingAt: [], remaining: 0 }),
    },
    installation: {
      securePort: () => 8_443,
      edgeApiUrl: () => 'https://control.frontdoor.example:1280',
      controlPlanes: () => [{ apiUrl: BASE_URL, silentSinceMs: undefined }],
      egress: { get: () => Promise.reject(new Error('there is no network here')) },
      names: {
        of: async (name) => records.get(name) ?? NO_RECORDS,
        txt: async (name) => texts.get(name) ?? NO_TEXTS,
      },
    },
    mintEnrollmentJwt: async (claims) => {
      minted.push(claims);
      return `jwt-${minted.length}`;
    },
    ...options,
  };
  const app = await createManagementApi(apiOptions);
  const nowMs = clock.nowMs();

  const addAccount: ApiWorld['addAccount'] = async (organizationId, scopes) => {
    const id = randomUUID();
    const token = randomToken();
    await store.db
      .insertInto('api_account')
      .values({
        id,
        organization_id: organizationId,
        name: 'account',
        secret_id: 'test',
        token_hmac: secrets.hmac(token),
        scopes,
        created_at: nowMs,
        revoked_at: null,
      })
      .execute();
    return { id, token, authorization: `Basic ${id}:${token}` };
  };

  const organizationId = randomUUID();
  const frontdoorId = randomUUID();
  await store.db
    .insertInto('organization')
    .values({ id: organizationId, name: 'other', created_at: nowMs })
    .execute();
  await store.db
    .insertInto('frontdoor')
    .values({ id: frontdoorId, organization_id: organizationId, name: 'other', created_at: nowMs })
    .execute();
  const { authorization } = await addAccount(organizationId, 'frontdoor.read frontdoor.write');

  const world: ApiWorld = {
    app,
    options: apiOptions,
    store,
    secrets,
    clock,
    model,
    catalog,
    first,
    other: { organizationId, frontdoorId, authorization },
    authorization: `Basic ${first.accountId}:${first.apiToken}`,
    connected,
    statuses,
    measured,
    fabric,
    replays,
    logLines,
    records,
    texts,
    minted,
    addAccount,
    async addEnvironment(name, inFrontdoor = first.frontdoorId) {
      const id = randomUUID();
      await store.transaction(async (trx, touch) => {
        await trx
          .insertInto('identity')
          .values({
            id,
            kind: 'environment',
            frontdoor_id: inFrontdoor,
            name,
            agent_version: null,
            created_at: clock.nowMs(),
          })
          .execute();
        touch('identity', id);
      });
      return id;
    },
    async call(method, url, { body, authorization: given, headers = {} } = {}) {
      const credential = given === undefined ? world.authorization : given;
      const answer = await app.inject({
        method,
        url,
        headers: {
          ...(credential === null ? {} : { authorization: credential }),
          ...(body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = answer.body;
      if (method !== 'HEAD') checkAgainstContract(method, url, answer.statusCode, text);
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
    },
    async grant(customFrontendId) {
      const answer = await world.call('POST', `/hostname-claims/${customFrontendId}/grant`);
      assert.equal(answer.status, 200, answer.text);
    },
    async close() {
      shares.close();
      attached.close();
      await app.close();
      await store.close();
    },
  };
  return world;
}

const isRefusal = bodyCheckOf(errorSchema);
const rows = operations.map(({ id, method, path, answer }) => ({
  id,
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  status: answer.status,
  check: answer.schema === undefined ? undefined : bodyCheckOf(answer.schema),
}));

/** Every response in a test must have a status and shape of the contract, or be an error response. */
function checkAgainstContract(method: string, url: string, status: number, text: string): void {
  if (status >= 400) {
    isRefusal(JSON.parse(text));
    return;
  }
  const row = rows.find((each) => each.method === method && each.pattern.test(url.split('?')[0]!));
  if (row === undefined || (status === 304 && entityTagKindOf(row) === 'whole')) return;
  assert.equal(status, row.status, `${method} ${url}`);
  if (row.check === undefined) assert.equal(text, '');
  else row.check(JSON.parse(text));
}
