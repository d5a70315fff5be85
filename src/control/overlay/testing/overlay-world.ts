/**
 * An overlay controller with its real listener, PKI and store, and scripted routers that send raw control frames
 * over real TLS. The clock stands still unless the test advances it.
 */
import 'reflect-metadata';
import { KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509';
import { ManualClock, silentLog } from '#base';
import { dialChannel, fingerprintOf, type Channel, type TlsIdentity } from '#net/channel';
import { contentType, headerId, HeaderWriter, type Frame, type FrameHeaders } from '#wire';
import { encodeCreateCircuitV2 } from '#wire/circuits';
import { ctrlMessages, encodeRouterHello } from '#wire/ctrl';
import { OverlayModel } from '../model/overlay-model.ts';
import type { ProjectedService } from '../model/service.ts';
import { sampleService } from './sample-service.ts';
import { startOverlayController, type OverlayController } from '../overlay-controller.ts';
import { lineOf, recordingLog } from '../../../../test/support/recording-log.ts';
import type { OverlayControllerOptions, RouterAccess } from '../overlay-options.ts';
import { FakeSessions } from './fake-sessions.ts';
import { ScriptedRouter } from './scripted-router.ts';
import { openPki, type Pki } from '../../pki/mod.ts';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import type { Secrets } from '../../secrets/mod.ts';
import type { EdgeEntityRecord } from '../records/edge-entity.ts';
import { findEdgeEntity, insertEdgeEntity, updateEdgeEntity } from '../records/edge-entity-store.ts';
import type { Store } from '../../store/mod.ts';
import '../../pki/edge-api-key-fixture.ts';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';

export const VERSION_TEXT = 'v1.7.2|test|2026-01-01|linux|amd64';
const WAIT_MS = 30_000;

/** Options instead of those of the world. */
export interface OverlayStart extends Partial<Omit<OverlayControllerOptions, 'access'>> {
  readonly access?: Partial<RouterAccess>;
}

export class OverlayWorld {
  readonly folder: string;
  readonly clock: ManualClock;
  readonly pki: Pki;
  readonly secrets: Secrets;
  readonly store: Store;
  readonly model = new OverlayModel();
  readonly sessions = new FakeSessions();
  readonly logLines: string[] = [];
  readonly #identities = new Map<string, TlsIdentity>();
  readonly #channels: Channel[] = [];
  controller!: OverlayController;

  private constructor(folder: string, clock: ManualClock, pki: Pki, secrets: Secrets, store: Store) {
    this.folder = folder;
    this.clock = clock;
    this.pki = pki;
    this.secrets = secrets;
    this.store = store;
  }

  static async open(): Promise<OverlayWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-overlay-'));
    const clock = new ManualClock(Date.now());
    const store = await openEmbedded();
    const secrets = ephemeralSecrets();
    const pki = await openPki({
      dataDir: folder,
      db: store.db,
      secrets,
      trustDomain: 'test.frontdoor',
      hosts: ['localhost'],
      controllerId: 'ctrl1',
      clock,
      log: silentLog,
    });
    const world = new OverlayWorld(folder, clock, pki, secrets, store);
    await store.db.insertInto('organization').values({ id: 'org', name: 'org', created_at: 0 }).execute();
    await store.db
      .insertInto('frontdoor')
      .values({ id: 'fd', organization_id: 'org', name: 'fd', created_at: 0 })
      .execute();
    return world;
  }

  async start({ access, tuning, ...options }: OverlayStart = {}): Promise<void> {
    const { certPem, keyPem } = this.pki.controlServer;
    this.controller = await startOverlayController({
      listener: {
        controllerId: 'ctrl1',
        host: '127.0.0.1',
        port: 0,
        tls: { cert: certPem, key: keyPem, ca: this.pki.caBundlePem },
      },
      issuer: this.pki,
      model: this.model,
      sessions: this.sessions,
      store: this.store,
      secrets: ephemeralSecrets(),
      access: {
        verifyServiceToken: parseToken,
        serviceKeys: () => [{ kid: 'key1', spki: Uint8Array.of(1, 2, 3) }],
        ...access,
      },
      tuning: { tickMs: 0, ...tuning },
      log: recordingLog((record) => void this.logLines.push(lineOf(record))),
      clock: this.clock,
      ...options,
    });
  }

  async close(): Promise<void> {
    for (const channel of this.#channels) channel.close('test over');
    await this.controller.close();
    await this.store.close();
    this.pki.close();
    rmSync(this.folder, { recursive: true });
  }

  /** Advances the clock, then lets the controller check its deadlines. */
  advance(ms: number): void {
    this.clock.advance(ms);
    this.controller.tick();
  }

  async addIdentity(
    id: string,
    kind: 'environment' | 'gateway' | 'router' | 'edge',
    fingerprints = [`fp-${id}`],
  ): Promise<void> {
    const frontdoor = kind === 'environment' ? 'fd' : null;
    await this.store.db
      .insertInto('identity')
      .values({ id, kind, frontdoor_id: frontdoor, name: `name-${id}`, agent_version: null, created_at: 0 })
      .execute();
    this.model.setIdentity({ id, kind, name: `name-${id}`, ownerId: frontdoor, fingerprints });
    if (kind !== 'router') this.logIn(id);
  }

  logIn(identityId: string): void {
    this.sessions.add({
      id: `session-${identityId}`,
      token: `token-${identityId}`,
      identityId,
      fingerprints: [`fp-${identityId}`],
      isSigned: false,
    });
  }

  async addService(id: string, hostId: string, more: Partial<ProjectedService> = {}): Promise<void> {
    const service = sampleService(id, { name: `share-${id}`, hostId, ...more });
    // Its terminators refer to the row of a share.
    await this.store.db
      .insertInto('share')
      .values({
        id,
        frontdoor_id: 'fd',
        environment_id: hostId,
        token: service.name,
        name: null,
        share_mode: service.openTo === 'gateways' ? 'public' : 'private',
        backend_mode: 'proxy',
        target: 'http://127.0.0.1:3000',
        reserved: 0,
        target_by_agent: 1,
        epoch: 1,
        created_at: 0,
        updated_at: 0,
      })
      .execute();
    this.model.setHostedService(service);
  }

  /** Adds or changes an entity of the edge management API. */
  async setEntity(kind: EdgeEntityRecord['kind'], id: string, data: EdgeEntityRecord['data']): Promise<void> {
    const entity = { id, kind, name: id, data, tags: {}, createdAtMs: 0, updatedAtMs: 0 };
    await this.store.transaction(async (trx, touch) => {
      const known = await findEdgeEntity(trx, kind, id);
      await (known === undefined ? insertEdgeEntity : updateEdgeEntity)(trx, touch, entity);
    });
    this.model.setEdgeEntity(entity);
  }

  /** Adds a router to the model with its certificate; by default it connects and sends a hello. */
  async router(id: string, edgePort = 3022): Promise<ScriptedRouter> {
    const router = await this.dial(id, await this.identityOf(id));
    await this.sayHello(router, edgePort);
    return router;
  }

  async sayHello(
    router: ScriptedRouter,
    edgePort = 3022,
    protocols: readonly string[] = ['tls'],
  ): Promise<void> {
    await router.frame(contentType.serverHello);
    const headers = new HeaderWriter().bool(headerId.edgeCtrl.routerDataModel, true);
    const listeners = protocols.map((protocol, i) => {
      const port = edgePort + i;
      return { advertise: { value: `localhost:${port}`, protocol, hostname: 'localhost', port } };
    });
    router.send(ctrlMessages.clientHello.frame({ version: 'v1.7.2', listeners }, headers));
    await router.settle();
  }

  async dial(
    helloId: string,
    identity: TlsIdentity,
    headers: FrameHeaders = encodeRouterHello(VERSION_TEXT, []),
  ): Promise<ScriptedRouter> {
    const channel = await dialChannel({
      host: 'localhost',
      port: this.controller.port,
      tls: identity,
      alpn: 'ziti-ctrl',
      helloId,
      helloHeaders: headers,
      timeoutMs: WAIT_MS,
      log: silentLog,
    });
    this.#channels.push(channel);
    return new ScriptedRouter(helloId, channel);
  }

  /** Returns the identity of a router in the model, adding it if necessary. */
  async identityOf(id: string): Promise<TlsIdentity> {
    const known = this.#identities.get(id);
    if (known !== undefined) return known;
    const identity = await this.certificate(id);
    this.#identities.set(id, identity);
    await this.addIdentity(id, 'router', [fingerprintOf(new X509Certificate(identity.cert))]);
    return identity;
  }

  /** Returns a router's client certificate of our CA, without adding it to the model. */
  async certificate(id: string, pki = this.pki): Promise<TlsIdentity> {
    const { csr, key } = await makeRequest(id);
    const answer = await pki.issueRouter(
      { certCsr: csr, serverCertCsr: csr },
      { id, lifetimeDays: 30, isRenewal: false },
    );
    if ('problem' in answer) throw new Error(answer.problem);
    return { cert: answer.issued.chainPem, key, ca: this.pki.caBundlePem };
  }

  async clientCertificate(id: string): Promise<TlsIdentity> {
    const { csr, key } = await makeRequest(id);
    const answer = await this.pki.issueClient(csr, { id, lifetimeDays: 30 });
    if ('problem' in answer) throw new Error(answer.problem);
    return { cert: answer.issued.chainPem, key, ca: this.pki.caBundlePem };
  }

  /** Sends a bind as the environment's SDK would, through `router`, and resolves with the controller's response. */
  async bind(router: ScriptedRouter, hostId: string, serviceId: string, terminatorId: string, hasKey = true) {
    router.send(
      ctrlMessages.createTerminatorV2.frame({
        address: terminatorId,
        sessionToken: tokenOf('Bind', serviceId, hostId),
        apiSessionToken: `token-${hostId}`,
        fingerprints: [`fp-${hostId}`],
        peerData: hasKey ? [{ key: 1003, value: Uint8Array.of(9) }] : [],
      }),
    );
    return router.next('createTerminatorV2Response');
  }

  dialFrame(
    identityId: string,
    serviceId: string,
    more: { fingerprints?: string[]; token?: string; hasKey?: boolean } = {},
  ): Frame {
    return encodeCreateCircuitV2({
      sessionToken: tokenOf('Dial', serviceId, identityId),
      apiSessionToken: more.token ?? `token-${identityId}`,
      fingerprints: more.fingerprints ?? [`fp-${identityId}`],
      terminatorInstanceId: '',
      peerData: new Map([
        [1008, Uint8Array.of(0x78)],
        ...(more.hasKey === false ? [] : [[1003, Uint8Array.of(7)] as const]),
      ]),
    });
  }
}

export function tokenOf(type: 'Dial' | 'Bind', serviceId: string, identityId: string): string {
  return [type, serviceId, identityId, `session-${identityId}`].join('/');
}

function parseToken(token: string) {
  const [type, serviceId, identityId, apiSessionId] = token.split('/');
  if (serviceId === undefined || identityId === undefined || apiSessionId === undefined) return undefined;
  return {
    type: type === 'Bind' ? ('Bind' as const) : ('Dial' as const),
    serviceId,
    identityId,
    apiSessionId,
  };
}

async function makeRequest(id: string): Promise<{ csr: string; key: string }> {
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']);
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: [id] }],
    keys,
    signingAlgorithm,
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { csr: `${request.toString('pem')}\n`, key };
}
