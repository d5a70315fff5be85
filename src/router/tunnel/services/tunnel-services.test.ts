import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog, utf8 } from '#base';
import { ctrlMessages, DataState_Action, TerminatorPrecedence } from '#wire/ctrl';
import {
  eventsOf,
  grantChanges,
  identityChange,
  relationChange,
  serviceChange,
  type DataModelChange,
} from '../../../../test/support/token-signer.ts';
import { until } from '../../../../test/support/deadline.ts';
import { DataModel } from '../../model/data-model.ts';
import { interceptConfigOf, proxyConfigOf } from './tunnel-configs.ts';
import type { TunnelService } from './tunnel-service.ts';
import { TunnelServices } from './tunnel-services.ts';

const ROUTER = 'router-1';

interface World {
  readonly model: DataModel;
  readonly services: TunnelServices;
  /** Notifications, such as `gained web`. */
  readonly notified: string[];
  change(changes: readonly DataModelChange[], action?: DataState_Action): void;
  untilNotified(what: string): Promise<void>;
}

function openWorld(t: TestContext, changes: readonly DataModelChange[], log = silentLog): World {
  const model = new DataModel();
  const change = (more: readonly DataModelChange[], action?: DataState_Action): void => {
    const set = { index: model.index + 1n, changes: eventsOf(more, action) };
    model.change(ctrlMessages.dataStateChangeSet.decode(ctrlMessages.dataStateChangeSet.frame(set).body));
  };
  change(changes);
  const services = new TunnelServices({ routerId: ROUTER, model, log });
  t.after(() => services.close());
  const notified: string[] = [];
  services.follow({
    gained: ({ name }) => void notified.push(`gained ${name}`),
    changed: ({ name, mayDial }) => void notified.push(`changed ${name} ${mayDial}`),
    lost: ({ name }) => void notified.push(`lost ${name}`),
  });
  const untilNotified = async (what: string): Promise<void> => {
    await until(what, () => notified.includes(what), Boolean);
  };
  return { model, services, notified, change, untilNotified };
}

const GRANTED = [
  identityChange(ROUTER),
  identityChange('other'),
  serviceChange('web'),
  serviceChange('dns'),
  serviceChange('secret'),
  ...grantChanges('dial-web', 'Dial', ROUTER, 'web'),
  ...grantChanges('bind-dns', 'Bind', ROUTER, 'dns'),
  ...grantChanges('dial-secret', 'Dial', 'other', 'secret'),
];

function configChange(id: string, type: string, data: unknown): DataModelChange[] {
  const dataJson = typeof data === 'string' ? data : JSON.stringify(data);
  return [
    { case: 'configType', value: { id: `type-${type}`, name: type } },
    { case: 'config', value: { id, typeId: `type-${type}`, name: id, dataJson } },
  ];
}

test('the services of the own identity are those of its policies, by their type', (t) => {
  const { services, notified } = openWorld(t, GRANTED);
  assert.deepEqual(notified.sort(), ['gained dns', 'gained web']);
  assert.deepEqual([services.get('web')?.mayDial, services.get('web')?.mayBind], [true, false]);
  assert.deepEqual([services.get('dns')?.mayDial, services.get('dns')?.mayBind], [false, true]);
  assert.equal(services.get('secret'), undefined);
});

test('policies, services and the identity change what is notified; other entities do not', async (t) => {
  const { services, notified, change, untilNotified } = openWorld(t, GRANTED);
  notified.length = 0;
  change([relationChange('dial-web', 'service', ['dns'])]);
  await untilNotified('changed dns true');
  change([relationChange('dial-web', 'service', ['web'], false)]);
  await untilNotified('lost web');
  change([{ case: 'service', value: { id: 'dns', name: 'dns', encryptionRequired: true } }]);
  await until('encryption', () => services.get('dns')?.encryptionRequired, Boolean);
  notified.length = 0;
  change([identityChange('third'), serviceChange('fourth')]);
  change([identityChange(ROUTER, true)]);
  await untilNotified('lost dns');
  assert.deepEqual(notified, ['lost dns']);
  change([identityChange(ROUTER)]);
  await untilNotified('gained dns');
  change([serviceChange('dns')], DataState_Action.DELETE);
  await until(
    'the loss',
    () => services.get('dns'),
    (it) => it === undefined,
  );
});

test('configs come by type name, and those of the identity replace those of the service', (t) => {
  const overrides = { web: { configs: { 'type-proxy.v1': 'own' } } };
  const appDataJson = utf8('{"site":"here"}');
  const { services } = openWorld(t, [
    ...configChange('both', 'proxy.v1', { port: 1, protocols: ['tcp'] }),
    ...configChange('own', 'proxy.v1', { port: 2, protocols: ['udp'] }),
    ...configChange('bad', 'intercept.v1', 'no JSON'),
    ...GRANTED,
    { case: 'service', value: { id: 'web', name: 'web', configs: ['both', 'bad', 'missing'] } },
    {
      case: 'identity',
      value: {
        id: ROUTER,
        name: 'edge-1',
        appDataJson,
        serviceConfigs: overrides,
        defaultHostingCost: 7,
        serviceHostingCosts: { web: 9 },
        serviceHostingPrecedences: { web: TerminatorPrecedence.FAILED },
      },
    },
  ]);
  const web = services.get('web')!;
  assert.deepEqual([...web.configs], [['proxy.v1', { port: 2, protocols: ['udp'] }]]);
  assert.deepEqual(web.identity.appData, { site: 'here' });
  assert.equal(web.identity.name, 'edge-1');
  assert.equal(web.identity.defaultHosting.cost, 7);
  assert.deepEqual(web.hosting, { cost: 9, precedence: TerminatorPrecedence.FAILED });
  assert.deepEqual(services.get('dns')?.hosting, { cost: undefined, precedence: undefined });
});

test('a config of clients is read with its defaults, and one that cannot be read counts as none', (t) => {
  const { services } = openWorld(t, GRANTED);
  const withConfigs = (configs: Record<string, unknown>): TunnelService => ({
    ...services.get('web')!,
    configs: new Map(Object.entries(configs)),
  });
  const intercept = { protocols: ['tcp'], addresses: ['a.example'], portRanges: [{ low: 1, high: 2 }] };
  const read = (configs: Record<string, unknown>): unknown =>
    interceptConfigOf(withConfigs(configs), silentLog);
  assert.deepEqual(read({ 'intercept.v1': { ...intercept, more: 1 } }), { ...intercept, dialOptions: {} });
  assert.deepEqual(read({ 'ziti-tunneler-client.v1': { hostname: 'h', port: 80 } }), {
    protocols: ['tcp', 'udp'],
    addresses: ['h'],
    portRanges: [{ low: 80, high: 80 }],
    dialOptions: {},
  });
  assert.equal(read({ 'intercept.v1': { ...intercept, addresses: [] } }), undefined);
  assert.equal(read({}), undefined);
  const proxy = { port: 80, protocols: ['tcp', 'udp'], binding: 'lo' };
  assert.deepEqual(proxyConfigOf(withConfigs({ 'proxy.v1': proxy }), silentLog), proxy);
  assert.equal(proxyConfigOf(withConfigs({ 'proxy.v1': { ...proxy, port: 0 } }), silentLog), undefined);
});

test('a router without an identity logs that once, and the identity when it comes', async (t) => {
  const lines: string[] = [];
  const keep = (_fields: unknown, text: string): void => void lines.push(text);
  const world = openWorld(t, [serviceChange('web')], { ...silentLog, warn: keep, info: keep });
  world.change([serviceChange('dns')]);
  world.change(GRANTED);
  await world.untilNotified('gained web');
  assert.deepEqual(lines, [
    'the router has no identity, so that its tunnels carry no service: enable it as a tunneler at the controller',
    'the router has an identity for its tunnels',
  ]);
});
