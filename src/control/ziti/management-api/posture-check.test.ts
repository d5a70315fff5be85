// Posture checks at the edge management API.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

let api: ManagementFixture;
before(async () => {
  api = await openManagementFixture();
});
after(() => api.close());

const PROCESS = { osType: 'Linux', path: '/usr/bin/guard', hashes: ['aa'] };
/** The fields of each type, as clients send them. */
const CHECKS = {
  OS: { operatingSystems: [{ type: 'Linux', versions: ['>=5.0.0', '4.19.x'] }] },
  DOMAIN: { domains: ['corp'] },
  MAC: { macAddresses: ['00aabbccddee'] },
  MFA: { timeoutSeconds: 600, promptOnWake: true, promptOnUnlock: false, ignoreLegacyEndpoints: false },
  PROCESS: { process: { ...PROCESS, signerFingerprint: 'bb' } },
  PROCESS_MULTI: { semantic: 'AnyOf', processes: [{ ...PROCESS, signerFingerprints: ['bb'] }] },
} as const;

async function idsOf(path: string): Promise<string[]> {
  const { status, data, error } = await api.call('GET', path);
  assert.equal(status, 200, JSON.stringify(error));
  return data.map(({ id }) => id);
}

test('a posture check of each type is made, read, found, changed in part and deleted', async () => {
  for (const [typeId, fields] of Object.entries(CHECKS)) {
    const common = { typeId, roleAttributes: [`of ${typeId}`], tags: { floor: 3 } };
    const id = await api.make('posture-checks', { name: typeId, ...common, ...fields });
    const path = `posture-checks/${id}`;
    const read = async () => (await api.call('GET', path)).data as unknown as Record<string, unknown>;
    const { _links: _, createdAt: __, updatedAt: ___, ...shown } = await read();
    assert.deepEqual(shown, { id, name: typeId, version: 1, ...common, ...fields });
    const filter = encodeURIComponent(`typeId="${typeId}" and anyOf(roleAttributes)="of ${typeId}"`);
    assert.deepEqual(await idsOf(`posture-checks?filter=${filter}`), [id]);
    const change = { typeId, roleAttributes: ['changed'] };
    assert.equal((await api.call('PATCH', path, change)).status, 200);
    const changed = await read();
    assert.deepEqual(changed['roleAttributes'], ['changed']);
    for (const [field, value] of Object.entries(fields)) assert.deepEqual(changed[field], value, field);
    const other = typeId === 'MAC' ? 'DOMAIN' : 'MAC';
    const whole = { name: typeId, typeId: other, ...CHECKS[other] };
    assert.equal((await api.call('PUT', path, whole)).error.cause?.field, 'typeId');
    assert.equal((await api.call('PUT', path, { name: 'renamed', typeId, ...fields })).status, 200);
    assert.deepEqual((await read())['roleAttributes'], []);
    assert.equal((await api.call('DELETE', path)).status, 200);
    assert.equal((await api.call('GET', path)).status, 404);
  }
});

test('operating systems may have the keys that ziti edge sends', async () => {
  const operatingSystems = [{ Type: 'Linux', Versions: ['1.2.3'] }];
  const id = await api.make('posture-checks', { name: 'upper case', typeId: 'OS', operatingSystems });
  const shown = (await api.call('GET', `posture-checks/${id}`)).data as unknown as Record<string, unknown>;
  assert.deepEqual(shown['operatingSystems'], [{ type: 'Linux', versions: ['1.2.3'] }]);
  await api.call('DELETE', `posture-checks/${id}`);
});

test('types and role attributes of checks are listed', async () => {
  assert.deepEqual(
    await idsOf('posture-check-types?filter=true%20sort%20by%20id'),
    Object.keys(CHECKS).sort(),
  );
  const id = await api.make('posture-checks', {
    name: 'listed',
    typeId: 'DOMAIN',
    roleAttributes: ['b', 'a'],
    ...CHECKS.DOMAIN,
  });
  const { data } = await api.call('GET', 'posture-check-role-attributes');
  assert.deepEqual(data, ['a', 'b']);
  await api.call('DELETE', `posture-checks/${id}`);
});

test('a check that could pass nowhere, or has more than its bounds, is refused with the place', async () => {
  const process = { ...PROCESS, signerFingerprints: [] };
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ...process, path: `/${at}` }));
  for (const [body, field] of [
    [{ typeId: 'GPS' }, 'typeId'],
    [{ typeId: 'OS' }, 'operatingSystems'],
    [{ typeId: 'OS', operatingSystems: [{ type: 'Linux' }, { type: 'Plan9' }] }, 'operatingSystems[1].type'],
    [
      { typeId: 'OS', operatingSystems: [{ type: 'Linux', versions: ['newest'] }] },
      'operatingSystems[0].versions',
    ],
    [{ typeId: 'DOMAIN', domains: [] }, 'domains'],
    [{ typeId: 'DOMAIN', domains: ['x'.repeat(300)] }, 'domains'],
    [{ typeId: 'DOMAIN', domains: ['x'], macAddresses: ['00'] }, 'macAddresses'],
    [{ typeId: 'MAC', macAddresses: Array.from({ length: 600 }, (_, at) => `${at}`) }, 'macAddresses'],
    [{ typeId: 'MFA', timeoutSeconds: -2 }, 'timeoutSeconds'],
    [{ typeId: 'PROCESS', process: { osType: 'Linux' } }, 'process.path'],
    [{ typeId: 'PROCESS', process: { ...PROCESS, colour: 'red' } }, 'process.colour'],
    [{ typeId: 'PROCESS_MULTI', processes: [process, { ...process, osType: '' }] }, 'processes[1].osType'],
    [{ typeId: 'PROCESS_MULTI', processes: many(65) }, 'processes'],
    [{ typeId: 'PROCESS_MULTI', semantic: 'NoneOf', processes: [process] }, 'semantic'],
  ] as const) {
    const { status, error } = await api.call('POST', 'posture-checks', { name: 'refused', ...body });
    assert.deepEqual([status, error.cause?.field], [400, field]);
  }
  assert.deepEqual(await idsOf('posture-checks'), []);
});
