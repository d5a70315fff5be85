// What a client with posture checks sees and gets at the client API, by what its device reports there.
import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { after, before, test } from 'node:test';
import { enrollIdentity } from '#sdk';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openApiSessions } from '../../overlay/clients/mod.ts';
import { silentLog } from '#base';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

const OS = { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['>=5.0.0'] }] };
const GUARD = '/usr/bin/guard';

interface Query {
  readonly id: string;
  readonly queryType: string;
  readonly isPassing: boolean;
  readonly timeout: number;
  readonly timeoutRemaining: number;
}
interface Answer {
  readonly status: number;
  readonly data: {
    readonly id: string;
    readonly lastChangeAt: string;
    readonly services: readonly Record<string, unknown>[];
    readonly postureQueries: readonly {
      readonly policyId: string;
      readonly policyType: string;
      readonly isPassing: boolean;
      readonly postureQueries: readonly Query[];
    }[];
  } & readonly unknown[];
  readonly error: {
    readonly code: string;
    readonly cause: { readonly field: string; readonly message: string; readonly data: unknown };
  };
}
type Client = (method: string, path: string, body?: unknown) => Promise<Answer>;

let api: ManagementFixture;
let service = '';
const ids = { os: '', guard: '', mfa: '', policy: '' };
const agent = new Agent({ keepAlive: true });
const tls = { cert: '', key: '' };
const tokens: string[] = [];

before(async () => {
  api = await openManagementFixture();
  ids.os = await api.make('posture-checks', { name: 'os', roleAttributes: ['basic'], ...OS });
  const process = { osType: 'Linux', path: GUARD, hashes: ['AA:BB'] };
  const guard = { name: 'guard', typeId: 'PROCESS', roleAttributes: ['basic'], process };
  ids.guard = await api.make('posture-checks', guard);
  const id = await api.make('identities', { name: 'device', enrollment: { ott: true } });
  service = await api.make('services', { name: 'web', encryptionRequired: true });
  const roles = { semantic: 'AllOf', identityRoles: [`@${id}`], serviceRoles: [`@${service}`] };
  const policy = { name: 'dials', type: 'Dial', ...roles, postureCheckRoles: ['#basic'] };
  ids.policy = await api.make('service-policies', policy);
  const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
  const { identity } = await enrollIdentity({ jwt });
  Object.assign(tls, { cert: identity.certPem, key: identity.keyPem });
});
after(async () => {
  agent.destroy();
  await api.close();
});

/** Logs the device in: each session reports its own posture. */
async function logIn(): Promise<Client> {
  const path = '/edge/client/v1/authenticate?method=cert';
  const { headers } = await rawRequest(api, { method: 'POST', path, body: '{}', agent, ...tls });
  const token = String(headers['zt-session']);
  tokens.push(token);
  return async (method, sub, body) => {
    const request = {
      method,
      path: `/edge/client/v1/${sub}`,
      headers: { 'zt-session': token },
      agent,
      ...tls,
    };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { status, json } = await rawRequest(api, { ...request, body: text });
    return { status, ...(json as Omit<Answer, 'status'>) };
  };
}

const dial = (client: Client) => client('POST', 'sessions', { serviceId: service, type: 'Dial' });
const LINUX = { typeId: 'OS', type: 'Linux', version: '6.8.0', build: '1' };
const running = (hash: string) => ({ typeId: 'PROCESS', id: ids.guard, isRunning: true, hash });

test('a service session is refused with what fails until the device has reported it, and lists follow', async () => {
  const client = await logIn();
  const first = await dial(client);
  assert.deepEqual([first.status, first.error.code], [409, 'INVALID_POSTURE']);
  const { message, data } = first.error.cause;
  assert.equal(message, `Failed to pass posture checks for service policies: [${ids.policy}]`);
  const failed = (id: string, typeId: string) => ({ id, typeId, isPassing: false });
  const all = [failed(ids.os, 'OS'), failed(ids.guard, 'PROCESS')];
  assert.deepEqual(data, { [ids.policy]: all });
  assert.equal((await client('GET', 'sessions')).data.length, 0);
  const before = (await client('GET', 'current-api-session/service-updates')).data.lastChangeAt;

  assert.equal((await client('POST', 'posture-response', { id: ids.os, ...LINUX })).status, 201);
  const second = await dial(client);
  assert.deepEqual(second.error.cause.data, { [ids.policy]: all.slice(1) });
  const shown = (await client('GET', `services/${service}`)).data.postureQueries;
  assert.deepEqual(
    shown.map(({ policyId, policyType, isPassing }) => [policyId, policyType, isPassing]),
    [[ids.policy, 'Dial', false]],
  );
  assert.deepEqual(
    shown[0]!.postureQueries.map(({ id, queryType, isPassing, timeout }) => [
      id,
      queryType,
      isPassing,
      timeout,
    ]),
    [
      [ids.os, 'OS', true, -1],
      [ids.guard, 'PROCESS', false, -1],
    ],
  );
  // An old SDK names the check, a new one the path.
  for (const report of [running('aabb'), { ...running('aa:bb'), id: '', path: GUARD }]) {
    const answer = await client('POST', 'posture-response-bulk', [LINUX, report]);
    assert.deepEqual([answer.status, answer.data.services], [201, []]);
    assert.equal((await dial(client)).status, 201);
    assert.equal((await client('GET', 'sessions')).data.length, 1);
    await client('POST', 'posture-response', { ...running('00'), path: GUARD });
    assert.equal((await dial(client)).status, 409);
  }
  const later = (await client('GET', 'current-api-session/service-updates')).data.lastChangeAt;
  assert.ok(later > before, 'SDKs fetch their services again');
});

test('what one session reports counts for it alone, also at another control plane', async () => {
  const [client, other] = [await logIn(), await logIn()];
  await client('POST', 'posture-response-bulk', [LINUX, running('aabb')]);
  assert.deepEqual([(await dial(client)).status, (await dial(other)).status], [201, 409]);
  const { store, secrets, model, clock } = api;
  const opened = await openApiSessions({
    store,
    secrets,
    model,
    clock,
    log: silentLog,
    verifyAccess: () => undefined,
  });
  try {
    const [own, others] = [opened.byToken(tokens.at(-2)!), opened.byToken(tokens.at(-1)!)];
    assert.equal(own?.posture?.processes.get(GUARD)?.hash, 'aabb');
    assert.deepEqual([own?.posture?.os?.type, others?.posture], ['Linux', undefined]);
  } finally {
    await opened.close();
  }
});

test('reports beyond their bounds, and of the wrong form, are refused with the place and change nothing', async () => {
  const client = await logIn();
  await client('POST', 'posture-response-bulk', [LINUX, running('aabb')]);
  const processes = (count: number, hash = 'x'.repeat(1_000)) =>
    Array.from({ length: count }, (_, at) => ({ typeId: 'PROCESS', path: `/p${at}`, isRunning: true, hash }));
  for (const [body, field] of [
    [[LINUX, { typeId: 'MAC', macAddresses: Array(300).fill('00') }], '[1].macAddresses'],
    [[LINUX, { typeId: 'DOMAIN', domain: 'x'.repeat(5_000) }], '[1].domain'],
    [
      [
        { ...LINUX, type: 'Windows' },
        { typeId: 'PROCESS', isRunning: true },
      ],
      '[1].path',
    ],
    [[{ ...LINUX, type: 'Windows' }, 'x'], '[1]'],
    [[{ ...LINUX, type: 'Windows' }, { typeId: 'MFA' }], '[1].typeId'],
    [[{ ...LINUX, version: 6 }], '[0].version'],
    [[{ ...LINUX, type: 'Windows' }, ...processes(200)], 'postureResponse'],
    [[{ ...LINUX, type: 'Windows' }, ...processes(300, '')], 'postureResponse'],
    [[{ ...LINUX, type: 'Windows' }, ...processes(600, '')], undefined],
  ] as const) {
    const { status, error } = await client('POST', 'posture-response-bulk', body);
    assert.deepEqual([status, error.cause?.field], [400, field], String(field));
  }
  assert.equal((await client('POST', 'posture-response', { ...LINUX, type: {} })).error.cause.field, 'type');
  assert.equal((await dial(client)).status, 201, 'nothing was taken');
  let limited = 0;
  for (let n = 0; n < 60; n += 1)
    if ((await client('POST', 'posture-response', LINUX)).status === 429) limited += 1;
  assert.ok(limited > 0, 'calls are limited');
});

test('policies name checks that exist, show them, and forget those that are deleted', async () => {
  const show = async () =>
    (await api.call('GET', `service-policies/${ids.policy}`)).data as unknown as Record<string, unknown>;
  const roles = { postureCheckRoles: [`@${ids.os}`, '#strict'] };
  await api.call('PATCH', `service-policies/${ids.policy}`, roles);
  assert.deepEqual((await show())['postureCheckRolesDisplay'], [
    { role: `@${ids.os}`, name: '@os' },
    { role: '#strict', name: '#strict' },
  ]);
  const idsAt = async (path: string) => (await api.call('GET', path)).data.map(({ id }) => id);
  assert.deepEqual(await idsAt(`service-policies/${ids.policy}/posture-checks`), [ids.os]);
  assert.deepEqual(await idsAt(`posture-checks/${ids.os}/service-policies`), [ids.policy]);
  const wrong = await api.call('PATCH', `service-policies/${ids.policy}`, { postureCheckRoles: ['@none'] });
  assert.equal(wrong.error.cause?.field, 'postureCheckRoles');
  const client = await logIn();
  assert.equal((await dial(client)).status, 409);
  await api.call('DELETE', `posture-checks/${ids.os}`);
  assert.deepEqual((await show())['postureCheckRoles'], ['#strict']);
  assert.equal((await dial(client)).status, 201, 'the policy no longer demands anything');
});
