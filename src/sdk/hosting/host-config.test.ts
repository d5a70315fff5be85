import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontdoorError } from '#base';
import { PRECEDENCE } from '../terminator-options.ts';
import { decodeHosting } from './host-config.ts';

const FIXED = { protocol: 'tcp', address: '10.0.0.1', port: 80 };

function decode(configs: Readonly<Record<string, unknown>>) {
  return decodeHosting(new Map(Object.entries(configs)));
}

function problemOf(type: string, config: unknown): string {
  try {
    decode({ [type]: config });
  } catch (error) {
    assert(error instanceof FrontdoorError);
    assert.equal(error.code, 'invalid-host-config');
    return error.message;
  }
  return '';
}

test('host.v2 counts before host.v1, and that before ziti-tunneler-server.v1', () => {
  const v1 = { ...FIXED, port: 1 };
  const v2 = {
    terminators: [
      { ...FIXED, port: 2 },
      { ...FIXED, port: 3 },
    ],
  };
  const server = { protocol: 'udp', hostname: 'db', port: 4, portChecks: [] };
  const ports = (configs: Readonly<Record<string, unknown>>) =>
    decode(configs).map(({ target }) => target.port);
  assert.deepEqual(ports({ 'host.v1': v1, 'host.v2': v2, 'ziti-tunneler-server.v1': server }), [2, 3]);
  assert.deepEqual(ports({ 'host.v1': v1, 'ziti-tunneler-server.v1': server }), [1]);
  assert.deepEqual(ports({ 'intercept.v1': {} }), []);
  const [old] = decode({ 'ziti-tunneler-server.v1': server });
  assert.deepEqual([old?.target.protocol, old?.target.address, old?.target.port], ['udp', 'db', 4]);
});

test('a whole host.v1 is decoded, unknown fields are ignored', () => {
  const [terminator] = decode({
    'host.v1': {
      forwardProtocol: true,
      allowedProtocols: ['tcp', 'udp'],
      forwardAddress: true,
      allowedAddresses: ['10.0.0.0/8', '*.corp.example', 'db.example'],
      forwardAddressTranslations: [
        { from: '10.1.0.0', to: '192.168.0.0', prefixLength: 16 },
        { from: '10.1.2.0', to: '192.168.9.0', prefixLength: 24 },
      ],
      forwardPort: true,
      allowedPortRanges: [{ low: 80, high: 90 }],
      allowedSourceAddresses: ['172.20.0.0/16'],
      listenOptions: {
        cost: 7,
        precedence: 'required',
        identity: 'x',
        connectTimeout: '1500ms',
        maxConnections: 2,
      },
      portChecks: [
        {
          address: 'db:5432',
          interval: '5s',
          timeout: '100ms',
          actions: [{ trigger: 'fail', consecutiveEvents: 2, duration: '10s', action: 'mark unhealthy' }],
        },
      ],
      httpChecks: [{ url: 'http://db/health', interval: '1s', timeout: '1s', expectInBody: 'ok' }],
      proxy: { type: 'http', address: 'proxy.example:3128' },
      later: 1,
    },
  });
  assert(terminator !== undefined);
  const { target, listen, checks, proxy, allowedSources } = terminator;
  assert.deepEqual([target.protocol, target.address, target.port], [undefined, undefined, undefined]);
  assert.deepEqual(
    target.translations.map(({ from }) => from.prefixBits),
    [24, 16],
  );
  assert.deepEqual(listen, {
    cost: 7,
    precedence: PRECEDENCE.required,
    identity: 'x',
    connectTimeoutMs: 1_500,
  });
  assert.deepEqual(checks[0], {
    kind: 'port',
    host: 'db',
    port: 5432,
    intervalMs: 5_000,
    timeoutMs: 100,
    actions: [{ trigger: 'fail', consecutiveEvents: 2, durationMs: 10_000, step: { type: 'markUnhealthy' } }],
  });
  assert.deepEqual(checks[1], {
    kind: 'http',
    url: new URL('http://db/health'),
    method: 'GET',
    body: '',
    expectStatus: 200,
    expectInBody: 'ok',
    intervalMs: 1_000,
    timeoutMs: 1_000,
    actions: [],
  });
  assert.deepEqual(proxy, { host: 'proxy.example', port: 3128 });
  assert.deepEqual(
    allowedSources.map(({ text }) => text),
    ['172.20.0.0/16'],
  );
});

test('connectTimeout counts before connectTimeoutSeconds, and 5 s without either', () => {
  const timeout = (listenOptions: object) =>
    decode({ 'host.v1': { ...FIXED, listenOptions } })[0]?.listen.connectTimeoutMs;
  assert.equal(timeout({ connectTimeout: '2s', connectTimeoutSeconds: 9 }), 2_000);
  assert.equal(timeout({ connectTimeoutSeconds: 9 }), 9_000);
  assert.equal(timeout({}), 5_000);
});

test('a config that cannot be decoded names its field', () => {
  const forwarding = { ...FIXED, forwardAddress: true };
  const check = { address: 'a:1', interval: '5s', timeout: '1s' };
  const wrong: readonly (readonly [unknown, string])[] = [
    [[], 'host.v1: the config must be an object'],
    [{ address: 'a', port: 1 }, 'host.v1: protocol must be given without forwardProtocol'],
    [{ ...FIXED, protocol: 'sctp' }, 'host.v1: protocol must be'],
    [{ ...FIXED, port: 70_000 }, 'host.v1: port must be'],
    [{ protocol: 'tcp', port: 1 }, 'host.v1: address must be given without forwardAddress'],
    [forwarding, 'host.v1: allowedAddresses must be given with forwardAddress'],
    [{ ...forwarding, allowedAddresses: ['*x'] }, 'host.v1: allowedAddresses contains "*x"'],
    [{ ...FIXED, forwardPort: true }, 'host.v1: allowedPortRanges must be given with forwardPort'],
    [{ ...FIXED, allowedSourceAddresses: ['lo'] }, 'host.v1: allowedSourceAddresses.0 must be an IP address'],
    [
      {
        ...forwarding,
        allowedAddresses: ['*'],
        forwardAddressTranslations: [{ from: '1.2.3.4', to: 'fd00::', prefixLength: 8 }],
      },
      'host.v1: forwardAddressTranslations.0 must be two addresses',
    ],
    [{ ...FIXED, portChecks: [{ ...check, interval: 5 }] }, 'host.v1: portChecks.0.interval must be'],
    [
      { ...FIXED, portChecks: [{ ...check, address: 'a' }] },
      'host.v1: portChecks.0.address must be host:port',
    ],
    [
      { ...FIXED, portChecks: [{ ...check, actions: [{ trigger: 'fail', action: 'increase cost 0' }] }] },
      'host.v1: portChecks.0.actions.0.action must be an action',
    ],
    [
      { ...FIXED, httpChecks: [{ url: 'ftp://a', interval: '5s', timeout: '1s' }] },
      'host.v1: httpChecks.0.url must be',
    ],
    [{ ...FIXED, proxy: { type: 'socks', address: 'a:1' } }, 'host.v1: proxy.type must be'],
  ];
  for (const [config, problem] of wrong)
    assert(problemOf('host.v1', config).startsWith(problem), problemOf('host.v1', config));
  const second = { terminators: [FIXED, { ...FIXED, port: 'x' }] };
  assert(problemOf('host.v2', second).startsWith('host.v2: terminators.1.port must be'));
});
