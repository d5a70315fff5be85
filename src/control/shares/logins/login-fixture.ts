/** The control plane's half of log-ins over a store for tests, with a share. */
import { createHash, randomUUID } from 'node:crypto';
import { ManualClock, type Log, type LogFields } from '#base';
import { parseAllowedNetworks, type Share } from '#domain';
import type { LoginRedeemed, LoginStart } from '#domain/gateway-shapes';
import type { AuthProviderType, ProviderData } from '#domain/provider-types';
import { EgressClient, type EgressClientOptions } from '#net';
import { goThroughProvider, type LoginBrowserOptions } from '../../../../test/support/login-browser.ts';
import { attachModel, OverlayModel } from '../../overlay/model/mod.ts';
import { settleProviderData } from '../provider/provider-secrets.ts';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import type { Secrets } from '../../secrets/mod.ts';
import { changeShare, createShare } from '../records/share-store.ts';
import { findShareForUpdate } from '../records/share-record.ts';
import { grantFrontdoor, type GrantedFrontdoor } from '../records/frontdoor-store.ts';
import {
  insertAuthProvider,
  lockAuthProvider,
  updateAuthProvider,
  type AuthProviderRecord,
} from '../records/auth-provider-store.ts';
import { seedFirstRows } from '../records/first-rows.ts';
import type { Store } from '../../store/mod.ts';
import type { OpenStore } from '../../store/engine/each-store-suite.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import { openLoginParts, type LoginParts } from './login-parts.ts';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import { openShareCatalog } from '../catalog/catalog-loader.ts';

export interface LoginFixture extends AsyncDisposable {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly catalog: ShareCatalog;
  readonly clock: ManualClock;
  readonly frontdoor: GrantedFrontdoor;
  readonly parts: LoginParts;
  readonly logged: string[];
  addProvider(type: AuthProviderType, data: ProviderData): Promise<AuthProviderRecord>;
  changeProvider(
    id: string,
    change: { readonly enabled?: boolean; readonly name?: string; readonly data?: ProviderData },
  ): Promise<void>;
  addShare(name: string, authProviderIds: readonly string[]): Promise<LoginShare>;
  setProviders(share: LoginShare, authProviderIds: readonly string[]): Promise<void>;
  /** Returns another control plane over the same store. */
  another(): Promise<LoginParts>;
  close(): Promise<void>;
}

export interface LoginShare {
  readonly id: string;
  readonly token: string;
  readonly host: string;
}

export interface LoginFixtureOptions {
  readonly open?: OpenStore;
  /** `ADDRESS:PORTS` from which fetching is allowed. */
  readonly allowEgress?: readonly string[];
  readonly egress?: Partial<EgressClientOptions>;
}

export const ZONE = 'share.localhost';
export const PORT = 8443;

export async function openLoginFixture(options: LoginFixtureOptions = {}): Promise<LoginFixture> {
  const { open = openEmbedded, allowEgress = ['127.0.0.1:*', '[::1]:*'] } = options;
  const secrets = ephemeralSecrets();
  // Tokens of real providers are verified with the real time.
  const clock = new ManualClock(Date.now());
  const logged: string[] = [];
  const log = recorder(logged);
  const store = await open({ log });
  const first = (await seedFirstRows(store, secrets, { zone: ZONE, clock }))!;
  const model = new OverlayModel();
  const attached = await attachModel(store, model);
  const shares = await openShareCatalog(store, model);
  const { catalog } = shares;
  const egress = new EgressClient({
    allowed: parseAllowedNetworks('--allow-egress', allowEgress),
    ...options.egress,
  });
  const opened: LoginParts[] = [];
  const another = async (): Promise<LoginParts> => {
    const parts = await openLoginParts({ store, secrets, catalog, egress, clock, log });
    opened.push(parts);
    return parts;
  };
  const parts = await another();
  const frontdoor = (await grantFrontdoor(store.db, first.organizationId, first.frontdoorId))!;
  const environmentId = randomUUID();
  await store.transaction(async (trx, touch) => {
    const row = { id: environmentId, kind: 'environment', name: 'env', agent_version: null } as const;
    await trx
      .insertInto('identity')
      .values({ ...row, frontdoor_id: frontdoor.id, created_at: clock.nowMs() })
      .execute();
    touch('identity', environmentId);
  });

  const fixture: LoginFixture = {
    store,
    secrets,
    catalog,
    clock,
    frontdoor,
    parts,
    logged,
    addProvider: (type, data) =>
      store.transaction((trx, touch) =>
        insertAuthProvider(trx, touch, frontdoor, {
          name: `a ${type}`,
          type,
          enabled: true,
          settled: settleProviderData(secrets, type, data),
          nowMs: clock.nowMs(),
        }),
      ),
    changeProvider: (id, change) =>
      store.transaction(async (trx, touch) => {
        const before = (await lockAuthProvider(trx, frontdoor, id))!;
        const { type, name, enabled, data } = { ...before, ...change };
        const settled = settleProviderData(secrets, type, data, before);
        await updateAuthProvider(trx, touch, before, { name, type, enabled, settled, nowMs: clock.nowMs() });
      }),
    addShare: async (name, authProviderIds) => {
      const share: Share = await store.transaction((trx, touch) =>
        createShare(trx, touch, {
          frontdoorId: frontdoor.id,
          environmentId,
          name,
          shareMode: 'public',
          backendMode: 'proxy',
          target: 'http://127.0.0.1:3000',
          targetByAgent: false,
          authProviderIds,
          nowMs: clock.nowMs(),
        }),
      );
      return { id: share.id, token: name, host: `${name}.${ZONE}` };
    },
    setProviders: async ({ token }, authProviderIds) => {
      await store.transaction(async (trx, touch) => {
        const share = (await findShareForUpdate(trx, frontdoor.id, token))!;
        await changeShare(trx, touch, share, { authProviderIds }, clock.nowMs());
      });
    },
    another,
    async close() {
      for (const each of opened) await each.close();
      shares.close();
      attached.close();
      await store.close();
    },
    [Symbol.asyncDispose]: () => fixture.close(),
  };
  return fixture;
}

export function browserOf(cookie: string): string {
  return createHash('sha256').update(cookie).digest('base64url');
}

export function loginStart(
  share: LoginShare,
  providerId: string,
  more: Partial<LoginStart> = {},
): LoginStart {
  return {
    shareId: share.id,
    host: share.host,
    port: PORT,
    providerId,
    returnTo: '/',
    browser: browserOf('a cookie'),
    address: '192.0.2.1',
    ...more,
  };
}

/** Converts the provider's redirect as a gateway would. */
export function callbackOf(url: URL) {
  const [, providerId = ''] = url.pathname.split('/');
  const parameters = Object.fromEntries(url.searchParams);
  return { host: url.hostname, providerId, parameters, address: '192.0.2.1' };
}

/** Performs a whole log-in of a person whom the provider knows, up to the session or the refusal. */
export async function logIn(
  { logins }: Pick<LoginParts, 'logins'>,
  start: LoginStart,
  browser: LoginBrowserOptions = {},
): Promise<LoginRedeemed> {
  const started = await logins.start(start);
  if (started.type === 'refused') return started;
  const returned = await logins.finish(callbackOf(await goThroughProvider(started.url, browser)));
  if (returned.type === 'refused') return returned;
  const code = new URL(returned.url).searchParams.get('code') ?? '';
  const { shareId, host } = start;
  return logins.redeem({ shareId, host, code, browser: start.browser });
}

function recorder(lines: string[]): Log {
  const keep = (fields: LogFields, message: string): void =>
    void lines.push(JSON.stringify({ ...fields, message }));
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
  return log;
}
