/**
 * `frontdoor up` in this process with a certificate authority (pebble), a name server for proofs of hostnames, several
 * organizations, and a clock of the control plane that can be set ahead: for the rows about certificates and hostnames.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { silentLog, systemClock } from '#base';
import { JsonClient, type JsonAnswer } from '#net/http';
import { acmeSettingsOf } from '../../bin/automatic-certificates.ts';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { Pebble, withoutPebble } from '../support/pebble.ts';
import { TestNameServer } from '../support/test-name-server.ts';
import { openWorld, startWorldAgent, type World, type WorldAgent } from '../support/world.ts';
import { RowSkipped } from './battery-row.ts';
import { LimitingProxy } from './limiting-proxy.ts';

const LIFETIME_S = 86_400;
const VISIT_MS = 25_000;

export interface Tenant {
  readonly organizationId: string;
  readonly agent: WorldAgent;
  /** `path` without `/frontdoor/{id}`. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<JsonAnswer>;
  /** Publishes the service of the row under these names. */
  share(...names: readonly string[]): Promise<void>;
  /** Returns the id of a custom frontend. */
  claim(hostname: string): Promise<string>;
  proofOf(id: string): Promise<string>;
}

export interface Visit {
  /** `public`: by the authority; `own`: a certificate of the installation; `ended`: no handshake. */
  readonly certificate: 'public' | 'own' | 'ended';
  readonly status: number;
  readonly tookMs: number;
}

export interface CertificateWorld {
  readonly world: World;
  readonly pebble: Pebble;
  readonly proxy: LimitingProxy;
  readonly names: TestNameServer;
  /** The gateway's port of HTTP, at which the authority asks at 127.0.0.1. */
  readonly httpPort: number;
  /** Names that have a certificate of the authority. */
  certified(): readonly string[];
  /** Sets the clock of the control plane ahead of the machine's. */
  setAhead(ms: number): void;
  tenant(name: string): Promise<Tenant>;
  visit(host: string): Promise<Visit>;
  stop(): Promise<void>;
}

export async function openCertificateWorld(): Promise<CertificateWorld> {
  if (withoutPebble !== false) throw new RowSkipped(withoutPebble);
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-certificates-'));
  const httpPort = await freePort();
  const names = await TestNameServer.start();
  const pebble = await Pebble.start({ folder, httpPort, lifetime: LIFETIME_S });
  const proxy = await LimitingProxy.start(folder, pebble.directoryUrl);
  const service = createServer((_request, response) => response.end('private')).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  let aheadMs = 0;
  const world = await openWorld({
    givenPorts: { http: httpPort },
    clock: { ...systemClock, nowMs: () => Date.now() + aheadMs },
    access: {
      dnsServers: [names.address],
      edgeManagement: false,
      hasConsole: false,
      trustedIssuers: [],
      trustedProxies: [],
      allowEgress: [],
      publicApiUrl: undefined,
      limits: { writes: { perSecond: 10_000, burst: 10_000 } },
    },
    acme: await acmeSettingsOf({
      acmeEmail: 'ops@example.com',
      acmeDirectory: proxy.directoryUrl,
      acmeCa: pebble.caFile,
      acmeEabKid: 'kid',
      acmeEabKey: pebble.bindingKeyFile,
    }),
  });
  const { credentials, up } = world;
  const client = new JsonClient({ origin: up.control.apiUrl });
  const ask = (authorization: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
    client.request({ method, path, headers: { authorization: `Basic ${authorization}` }, body });
  const make = async (authorization: string, path: string, body: object) => {
    const answer = await ask(authorization, 'POST', path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    return answer.json as Record<string, string>;
  };
  const tenant = async (name: string): Promise<Tenant> => {
    const admin = `${credentials.accountId}:${credentials.apiToken}`;
    const organizationId = (await make(admin, '/organizations', { name }))['id']!;
    const account = await make(admin, '/api-accounts', { name, organizationId });
    const own = `${account['id']}:${account['token']}`;
    const root = `/frontdoor/${(await make(own, '/frontdoor', { name, organizationId }))['id']}`;
    const { enrollmentCode } = await make(own, `${root}/agents/enrollments`, {});
    const dataDir = join(folder, `agent-${name}`);
    const agent = await startWorldAgent(dataDir, name, up, enrollmentCode!, silentLog);
    const call: Tenant['call'] = (method, path, body) => ask(own, method, root + path, body);
    const [frontend] = (await call('GET', '/frontends')).json as { id: string }[];
    return {
      organizationId,
      agent,
      call,
      share: async (...tokens) => {
        for (const token of tokens) await agent.share(target, { name: token });
      },
      claim: async (hostname) =>
        (await make(own, `${root}/custom-frontends`, { hostname, frontendId: frontend!.id }))['id']!,
      proofOf: async (id) => ((await call('GET', `/custom-frontends/${id}`)).json as { proof: string }).proof,
    };
  };
  const tenants: Tenant[] = [];
  return {
    world,
    pebble,
    proxy,
    names,
    httpPort,
    certified: () =>
      readdirSync(join(world.dataDir, 'gateway', 'acme', 'certificates')).filter(
        (name) => !name.startsWith('.'),
      ),
    setAhead: (ms) => (aheadMs = ms),
    tenant: async (name) => {
      const made = await tenant(name);
      tenants.push(made);
      return made;
    },
    visit: (host) => visit(up.httpsPort, host),
    stop: async () => {
      await Promise.all(tenants.map(({ agent }) => agent.close()));
      await client.close();
      await world.close();
      service.close();
      service.closeAllConnections();
      proxy.close();
      pebble.close();
      names.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One TLS connection with a request, as a browser's first one. */
export async function visit(port: number, host: string): Promise<Visit> {
  const startMs = performance.now();
  const socket = connect({ port, host: '127.0.0.1', servername: host, rejectUnauthorized: false });
  const { promise, resolve } = Promise.withResolvers<Omit<Visit, 'tookMs'>>();
  const timer = setTimeout(() => resolve({ certificate: 'ended', status: 0 }), VISIT_MS);
  let certificate: Visit['certificate'] = 'ended';
  let text = '';
  socket.on('error', () => {});
  socket.once('secureConnect', () => {
    const { issuer } = socket.getPeerCertificate();
    certificate = String(issuer?.CN).includes('Pebble') ? 'public' : 'own';
    socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  socket.once('close', () =>
    resolve({ certificate, status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0) }),
  );
  const seen = await promise;
  clearTimeout(timer);
  socket.destroy();
  return { ...seen, tookMs: performance.now() - startMs };
}

/** Waits until a custom frontend has this proof. */
export async function untilProof(tenant: Tenant, id: string, proof: string): Promise<void> {
  await until(
    `the proof ${proof}`,
    () => tenant.proofOf(id),
    (now) => now === proof,
    60_000,
  );
}
