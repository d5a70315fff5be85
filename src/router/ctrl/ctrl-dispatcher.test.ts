import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontdoorError, Secret, silentLog } from '#base';
import { contentType, makeFrame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import { until } from '../../../test/support/deadline.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { routerConfigFixture } from '../testing/router-config-fixture.ts';
import { configInspector } from './config-inspector.ts';
import type { CtrlHandler, CtrlHandlers } from './controllers.ts';
import { CtrlDispatcher } from './ctrl-dispatcher.ts';
import { InspectResponder } from './inspect-responder.ts';
import { FakeController } from './testing/fake-controllers.ts';

const UNKNOWN_TYPE = 31_337;

async function inspectionOf(responder: InspectResponder, ...requestedValues: string[]) {
  const controller = new FakeController('c1');
  const dispatcher = new CtrlDispatcher([responder.handlers()], silentLog);
  dispatcher.onFrame(ctrlMessages.inspectRequest.frame({ requestedValues }), controller);
  const { value } = await until(
    'the answer',
    () => controller.sentOf(contentType.inspectResponse),
    ({ length }) => length > 0,
  );
  const [response] = value;
  return ctrlMessages.inspectResponse.decode(response!.body);
}

test('a frame goes to the part that handles its type; a type of nobody is ignored', () => {
  const seen: string[] = [];
  const parts: CtrlHandlers[] = [
    new Map([[contentType.route, (_frame, from) => void seen.push(`route ${from.id}`)]]),
    new Map([[contentType.fault, () => void seen.push('fault')]]),
  ];
  const dispatcher = new CtrlDispatcher(parts, silentLog);
  const controller = new FakeController('c1');
  for (const type of [contentType.route, UNKNOWN_TYPE, contentType.result, contentType.fault]) {
    dispatcher.onFrame(makeFrame(type), controller);
  }
  assert.deepEqual([seen, controller.closeReason], [['route c1', 'fault'], undefined]);
});

test('two parts cannot handle one type', () => {
  const part = (): CtrlHandlers => new Map([[contentType.route, () => {}]]);
  assert.throws(() => new CtrlDispatcher([part(), part()], silentLog), /two parts handle Route/);
});

test('a malformed body closes that controller alone; a fault of Frontdoor closes none', () => {
  const parts: CtrlHandlers[] = [
    new Map<number, CtrlHandler>([
      [contentType.unroute, (frame) => void ctrlMessages.unroute.decode(frame.body)],
      [
        contentType.fault,
        () => {
          throw new FrontdoorError('internal', 'broken', 'ours');
        },
      ],
    ]),
  ];
  const dispatcher = new CtrlDispatcher(parts, silentLog);
  const [hostile, other] = [new FakeController('c1'), new FakeController('c2')];
  dispatcher.onFrame(makeFrame(contentType.fault), other);
  dispatcher.onFrame(makeFrame(contentType.unroute, { body: Uint8Array.of(0x0a, 0xff) }), hostile);
  assert.deepEqual([hostile.closeReason, other.closeReason], ['malformed Unroute', undefined]);
});

test('an inspection is answered as JSON texts, names in any case, ids as they are, unknown names left out', async () => {
  const responder = new InspectResponder(
    [
      (name) =>
        name === 'links' ? { big: 2n ** 60n, map: new Map([['a', 1]]), bytes: Buffer.from('ab') } : undefined,
      (name) =>
        name.startsWith('circuit:') ? Promise.resolve({ id: name.slice('circuit:'.length) }) : undefined,
    ],
    silentLog,
  );
  const { success, errors, values } = await inspectionOf(responder, 'Links', 'nothing', 'CIRCUIT:aBc');
  assert.deepEqual([success, errors], [true, []]);
  assert.deepEqual(
    values.map(({ name, value }) => [name, JSON.parse(value)]),
    [
      ['Links', { big: String(2n ** 60n), map: { a: 1 }, bytes: 'YWI=' }],
      ['CIRCUIT:aBc', { id: 'aBc' }],
    ],
  );
});

test('an inspection that fails is an error in the answer, beside the successful ones', async () => {
  const responder = new InspectResponder(
    [
      (name) => {
        if (name === 'broken') throw new Error('a secret of Frontdoor');
        return name === 'good' ? 1 : undefined;
      },
    ],
    silentLog,
  );
  const { success, errors, values } = await inspectionOf(responder, 'broken', 'good');
  assert.deepEqual([success, errors, values.length], [false, ['broken: inspection failed'], 1]);
});

test('the configuration is shown without its secrets', async () => {
  const pem = '-----BEGIN PRIVATE KEY-----\nxyz\n-----END PRIVATE KEY-----\n';
  const fixture = routerConfigFixture('/etc/router');
  const config: RouterConfig = {
    ...fixture,
    identity: {
      ...fixture.identity,
      key: new Secret(`pem:${pem}`),
      serverKey: new Secret(pem),
      alternates: [{ serverCert: '/etc/router/other.pem', serverKey: new Secret(pem) }],
    },
    proxy: { host: 'proxy.example', port: 3128, username: 'router', password: new Secret('hunter2') },
  };
  const { values } = await inspectionOf(new InspectResponder([configInspector(config)], silentLog), 'config');
  const text = values[0]!.value;
  assert.ok(!text.includes('xyz') && !text.includes('hunter2'), text);
  const shown = JSON.parse(text) as RouterConfig;
  assert.deepEqual(
    [shown.proxy!.host, shown.identity.cert, shown.forwarder.linkDialQueueLength],
    ['proxy.example', '/etc/router/cert.pem', 1_000],
  );
});
