// Every operation of the Management API with every kind of credential, over TLS: which calls succeed, and how the
// others are refused, as the table of rules defines.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { definedFields, silentLog } from '#base';
import { operations, type Operation, type OperationId } from '#contract';
import { startControlPlane, type ControlPlane, type FirstStart } from '#control';
import type { Role } from '#domain';
import { JsonClient, type JsonAnswer } from '#net/http';
import { EdgeApiClient, enrollIdentity, enrollRouter } from '#sdk';
import { makeTestAuthority, type TestIdentity } from '../support/certificates.ts';
import { AUTHORIZATION_RULES, NEED_RECENT_LOG_IN, SCOPES_OF_ROLES } from './authorization-rule-table.ts';

/** What happens before an operation does anything. `absent`: the operation is not offered there. */
type Verdict = 'in' | 'unauthorized' | 'insufficient_scope' | 'not_found' | 'log_in_too_old' | 'absent';

interface Credential {
  readonly name: string;
  readonly authorization?: string;
  /** The certificate that is shown in the TLS handshake. */
  readonly certificate?: { readonly certPem: string; readonly keyPem: string };
  /** The cookie of a session at the console. */
  readonly cookie?: string;
  /** Whether the operation is called below `/console/api`, as pages of the console do. */
  readonly isAtConsole?: boolean;
  /** Whether the log-in was more than a quarter of an hour ago. */
  readonly isOld?: boolean;
  /** Undefined for credentials that prove no identity. */
  readonly caller?: { readonly scopes: readonly string[]; readonly isOwner: boolean };
}

const RATE = { perSecond: 100_000, burst: 100_000 };
let folder: string;
let server: TestIdentity;
let control: ControlPlane;
let first: FirstStart;
let admin: string;
let offsetMs = 0;
let people = 0;
let credentials: Credential[];
const clients = new Map<Credential['certificate'], JsonClient>();
const edgeClients: EdgeApiClient[] = [];

function clientOf(certificate?: Credential['certificate']): JsonClient {
  const made =
    clients.get(certificate) ??
    new JsonClient({ origin: control.apiUrl, ca: server.ca, timeoutMs: 30_000, ...certificate });
  clients.set(certificate, made);
  return made;
}

function call(
  method: Operation['method'],
  path: string,
  credential: Partial<Credential> & { readonly body?: unknown } = {},
): Promise<JsonAnswer> {
  const { authorization, certificate, cookie, isAtConsole = false, body } = credential;
  const page = isAtConsole ? { origin: control.apiUrl, 'frontdoor-console': '1' } : {};
  return clientOf(certificate).request({
    method,
    path: isAtConsole ? `/console/api${path}` : path,
    headers: definedFields({ ...NO_EVENT, ...page, authorization, cookie }),
    body,
  });
}

/** A stream would not end. An event id of another form is refused after all checks of the caller. */
const NO_EVENT = { 'last-event-id': 'none' };

async function make<T>(path: string, body?: unknown): Promise<T> {
  const answer = await call('POST', path, { authorization: admin, body });
  assert.ok([200, 201].includes(answer.status), `${path}: ${answer.text}`);
  return answer.json as T;
}

async function makeAccount(
  organizationId: string,
  ...scopes: string[]
): Promise<{ id: string; basic: string }> {
  const body = { name: scopes.join(' '), organizationId, scopes };
  const { id, token } = await make<{ id: string; token: string }>('/api-accounts', body);
  return { id, basic: `Basic ${id}:${token}` };
}

/** Returns the cookie of an invited person's first session. */
async function makePerson(organizationId: string, role: Role): Promise<string> {
  const { link } = await make<{ link: string }>('/invitations', { name: role, role, organizationId });
  people += 1;
  const form = {
    code: link.split('#')[1]!,
    name: role,
    email: `person${people}@example.com`,
    password: 'seven small harbours',
  };
  const answer = await clientOf().request({
    method: 'POST',
    path: '/console/welcome',
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: control.apiUrl },
    body: new URLSearchParams(form).toString(),
  });
  assert.equal(answer.status, 303, answer.text);
  return String(answer.headers['set-cookie']).split(';')[0]!;
}

async function makeBearer(): Promise<string> {
  const body = {
    grant_type: 'client_credentials',
    audience: `${control.apiUrl}/frontdoor`,
    client_id: first.clientId,
    client_secret: first.clientSecret,
  };
  const { json } = await call('POST', '/oauth/token', { body });
  return `Bearer ${(json as { access_token: string }).access_token}`;
}

/** An agent and a router of the installation: their certificates, and the agent's session at the edge API. */
async function makeMachines() {
  const { enrollmentCode } = await make<{ enrollmentCode: string }>(
    `/frontdoor/${first.frontdoorId}/agents/enrollments`,
  );
  const bootstrap = await call('GET', `/frontdoor/agents/bootstrap-token/${enrollmentCode}`);
  const { token: jwt } = bootstrap.json as { token: string };
  const { identity } = await enrollIdentity({ jwt, name: 'site' });
  const api = new EdgeApiClient({ identity, log: silentLog });
  edgeClients.push(api);
  const { token: sessionToken } = await api.session();
  const node = await control.createFabricNode('router', 'r1');
  const router = await enrollRouter({ jwt: node.token, hosts: ['localhost'] });
  return { agent: identity, router, sessionToken, jwt };
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-matrix-'));
  server = await (await makeTestAuthority()).issue('localhost');
  control = await startControlPlane({
    dataDir: folder,
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    zone: 'share.localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    apiTls: server,
    frontendUrls: () => [],
    log: silentLog,
    limits: { credentials: RATE, writes: RATE, failedLogins: RATE },
    clock: { nowMs: () => Date.now() + offsetMs, monotonicMs: () => performance.now() + offsetMs },
  });
  first = control.firstStart!;
  admin = `Basic ${first.accountId}:${first.apiToken}`;
  const { organizationId } = first;
  const { id: otherId } = await make<{ id: string }>('/organizations', { name: 'other' });
  const ours = async (name: string, ...scopes: string[]): Promise<Credential> => ({
    name,
    authorization: (await makeAccount(organizationId, ...scopes)).basic,
    caller: { scopes, isOwner: true },
  });
  const expired = await makeBearer();
  const machines = await makeMachines();
  const revoked = await makeAccount(organizationId, 'frontdoor.read', 'frontdoor.write', 'frontdoor.admin');
  assert.equal((await call('GET', '/caller', { authorization: revoked.basic })).status, 200);
  await call('DELETE', `/api-accounts/${revoked.id}`, { authorization: admin });
  const oldLogIn = await makePerson(organizationId, 'operator');
  offsetMs = 3_600_000 + 61_000;
  const atConsole = async (name: string, role: Role, owner: string): Promise<Credential> => ({
    name,
    cookie: await makePerson(owner, role),
    isAtConsole: true,
    caller: { scopes: SCOPES_OF_ROLES[role], isOwner: owner === organizationId },
  });
  const readWrite = ['frontdoor.read', 'frontdoor.write'];
  credentials = [
    { name: 'none' },
    await ours('read', 'frontdoor.read'),
    await ours('write', 'frontdoor.write'),
    await ours('organization alone', 'frontdoor.organization'),
    await ours('admin alone', 'frontdoor.admin'),
    await ours('an administrator’s', ...readWrite, 'frontdoor.organization'),
    await ours('everything', ...readWrite, 'frontdoor.admin'),
    {
      name: 'a token of Frontdoor',
      authorization: await makeBearer(),
      caller: { scopes: readWrite, isOwner: true },
    },
    {
      name: 'another organization',
      authorization: (await makeAccount(otherId, ...readWrite)).basic,
      caller: { scopes: readWrite, isOwner: false },
    },
    {
      name: 'another organization’s administrator',
      authorization: (await makeAccount(otherId, ...readWrite, 'frontdoor.organization')).basic,
      caller: { scopes: [...readWrite, 'frontdoor.organization'], isOwner: false },
    },
    { name: 'an expired token', authorization: expired },
    { name: 'a revoked account', authorization: revoked.basic },
    { name: 'an agent’s certificate', certificate: machines.agent },
    { name: 'a router’s certificate', certificate: machines.router },
    { name: 'an agent’s session', authorization: `Bearer ${machines.sessionToken}` },
    {
      name: 'an agent’s session and certificate',
      authorization: `Bearer ${machines.sessionToken}`,
      certificate: machines.agent,
    },
    { name: 'an enrollment token', authorization: `Bearer ${machines.jwt}` },
    await atConsole('a reader', 'reader', organizationId),
    await atConsole('an editor', 'editor', organizationId),
    await atConsole('an administrator', 'administrator', organizationId),
    await atConsole('an operator', 'operator', organizationId),
    await atConsole('another organization’s editor', 'editor', otherId),
    await atConsole('another organization’s administrator at the console', 'administrator', otherId),
    {
      name: 'an operator who logged in an hour ago',
      cookie: oldLogIn,
      isAtConsole: true,
      isOld: true,
      caller: { scopes: SCOPES_OF_ROLES.operator, isOwner: true },
    },
    { name: 'nobody at the console', isAtConsole: true },
    { name: 'an account’s token at the console', authorization: admin, isAtConsole: true },
    { name: 'an operator’s cookie at the Management API', cookie: oldLogIn },
  ];
});
after(async () => {
  for (const client of [...clients.values(), ...edgeClients]) await client.close();
  await control?.close();
  rmSync(folder, { recursive: true });
});

function expectedOf(id: OperationId, { caller, isAtConsole = false, isOld = false }: Credential): Verdict {
  const [needs, of] = AUTHORIZATION_RULES[id];
  if (needs === 'nothing') return isAtConsole ? 'absent' : 'in';
  if (caller === undefined) return 'unauthorized';
  if (isOld && NEED_RECENT_LOG_IN.has(id)) return 'log_in_too_old';
  const isAdmin = caller.scopes.includes('frontdoor.admin');
  const hasScope = caller.scopes.includes(`frontdoor.${needs}`) || (needs === 'organization' && isAdmin);
  if (!hasScope) return 'insufficient_scope';
  if (of === 'nobody' || caller.isOwner) return 'in';
  return 'not_found';
}

function verdictOf({ status, json, headers }: JsonAnswer): Verdict | number {
  // Operations answer in JSON; this is a page of the console.
  if (status === 404 && String(headers['content-type']).startsWith('text/html')) return 'absent';
  if (status === 401) return 'unauthorized';
  if (status === 403) return (json as { error: Verdict }).error;
  return status < 500 && status !== 421 ? 'in' : status;
}

/** Resources of the first organization where a path names them, and none whose change would affect the next call. */
async function pathOf(operation: Operation, expected: Verdict): Promise<string> {
  const { organizationId } = first;
  const spare = { name: 'spare', organizationId };
  const frontdoorId =
    operation.id === 'deleteFrontdoor' && expected === 'in'
      ? (await make<{ id: string }>('/frontdoor', spare)).id
      : first.frontdoorId;
  const values: Record<string, string> = { frontdoorId, organizationId, type: 'OIDC' };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? randomUUID());
  const isNamed = operation.query.some(({ name }) => name === 'organizationId');
  return isNamed ? `${path}?organizationId=${organizationId}` : path;
}

function bodyOf({ id, body }: Operation): unknown {
  if (id === 'createFrontdoor') return { name: 'made', organizationId: first.organizationId };
  return body === undefined ? undefined : {};
}

describe('the authorization matrix', () => {
  it('has a row for every operation, with the scope that guards it', () => {
    const ids = operations.map(({ id }) => id);
    assert.deepEqual(Object.keys(AUTHORIZATION_RULES).toSorted(), ids.toSorted());
    for (const { id, scope, path, query } of operations as readonly Operation[]) {
      const [needs, of] = AUTHORIZATION_RULES[id as OperationId];
      assert.equal(needs === 'nothing' ? undefined : `frontdoor.${needs}`, scope, id);
      assert.equal(of === 'a frontdoor', path.includes('{frontdoorId}'), id);
      const namesOne =
        path.includes('{organizationId}') || query.some(({ name }) => name === 'organizationId');
      assert.equal(
        of === 'an organization' || (needs === 'admin' && namesOne),
        namesOne || id === 'createFrontdoor',
        id,
      );
    }
  });

  it('holds in every cell', async () => {
    const wrong: string[] = [];
    let cells = 0;
    for (const operation of operations as readonly Operation[]) {
      for (const credential of credentials) {
        const expected = expectedOf(operation.id as OperationId, credential);
        const path = await pathOf(operation, expected);
        const answer = await call(operation.method, path, { ...credential, body: bodyOf(operation) });
        const verdict = verdictOf(answer);
        cells += 1;
        if (verdict !== expected)
          wrong.push(
            `${operation.id} with ${credential.name}: ${verdict}, not ${expected}: ${answer.text.slice(0, 200)}`,
          );
      }
    }
    assert.deepEqual(wrong, []);
    assert.equal(cells, operations.length * credentials.length);
  });

  it('does not depend on an organization or account in the query', async () => {
    const stranger = credentials.find(({ name }) => name === 'another organization')!;
    const wrong: string[] = [];
    for (const operation of operations as readonly Operation[]) {
      if (operation.method !== 'GET' || operation.scope === undefined) continue;
      const expected = expectedOf(operation.id as OperationId, stranger);
      const path = await pathOf(operation, expected);
      const extra = `account=${first.accountId}&accountId=${first.accountId}&organization=${first.organizationId}`;
      const answer = await call('GET', `${path}${path.includes('?') ? '&' : '?'}${extra}`, stranger);
      const isLeak = [first.frontdoorId, first.accountId].some((id) => answer.text.includes(id));
      const isEcho = answer.status === 403 && verdictOf(answer) === 'not_found';
      // A parameter that the operation does not have is refused to everyone, before what it names is looked at.
      const isExpected = verdictOf(answer) === expected || answer.status === 400;
      if (!isExpected || (isLeak && !isEcho)) wrong.push(`${operation.id}: ${answer.text}`);
    }
    assert.deepEqual(wrong, []);
  });
});
