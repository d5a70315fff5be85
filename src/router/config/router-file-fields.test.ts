// Every field of the file at its bounds and beyond, with a wrong type, empty and missing: the problems and values of
// `router check`. The expected values are repeated here, so that a mistake in the schema shows.
import { after, test } from 'node:test';
import {
  addressCases,
  durationCases,
  hostPortCases,
  integerCases,
  judgeChannelOptions,
  judgeIn,
  LIST_ERRORS,
  MAP_ERRORS,
  ofKind,
  type Case,
} from './testing/field-cases.ts';
import { CheckedFolder } from './testing/router-file-fixture.ts';

const folder = new CheckedFolder();
after(() => folder.close());
const judge = judgeIn(folder);

test('v is 3, a whole number', () => {
  judge('v', [
    [undefined, 'error required'],
    ['null', 'error type'],
    ['"3"', 'error type'],
    ['3.0', 'error type'],
    ['1', 'error version'],
    ['2', 'error version'],
    ['4', 'error version'],
    ['3', 'ok'],
  ]);
});

test('ctrl', () => {
  judge('ctrl', [[undefined, 'error required'], ['null', 'error type'], ...MAP_ERRORS]);
  judge('ctrl.endpoint', [[undefined, 'error required'], ...addressCases]);
  const several = (item: string): string => `{ endpoints: ${item} }`;
  judge('ctrl', [
    [several('[tls:a.example:1, tls:b.example:2]'), 'ok'],
    [several('5'), 'error type', 'ctrl.endpoints'],
    [several('null'), 'error type', 'ctrl.endpoints'],
    [several('[tls:a.example:1, 5]'), 'error type', 'ctrl.endpoints[1]'],
    [several('[tls:a.example:1, b.example]'), 'error address', 'ctrl.endpoints[1]'],
    [several('[]'), 'error required', 'ctrl.endpoint'],
  ]);
  judge('ctrl.endpoints', [
    ['["tls:x:1"]', 'warning ignored'],
    ['5', 'warning ignored'],
    [undefined, 'ok'],
  ]);
  judge(
    'ctrl.defaultRequestTimeout',
    durationCases({ negative: 'warning minimum', zero: 'warning minimum' }),
  );
  judge('ctrl.endpointsFile', [[undefined, 'ok'], ...ofKind('path'), ['endpoints.yml', 'ok']]);
  judge('ctrl.bind', [
    [undefined, 'ok'],
    ...ofKind('interface'),
    ['no-such-interface', 'error interface'],
    ['0.0.0.0', 'error interface'],
    ['127.0.0.1', 'ok'],
  ]);
  judge('ctrl.options', [[undefined, 'ok'], ['null', 'error type'], ...MAP_ERRORS]);
  judge('ctrl.heartbeats', [[undefined, 'ok'], ['null', 'error type'], ...MAP_ERRORS]);
  const lenient = { negative: 'warning minimum', zero: 'warning minimum' } as const;
  judge('ctrl.heartbeats.sendInterval', durationCases(lenient));
  judge('ctrl.heartbeats.checkInterval', durationCases(lenient));
  judge('ctrl.heartbeats.unresponsiveAfter', durationCases(lenient));
  judge(
    'ctrl.heartbeats.closeUnresponsiveTimeout',
    durationCases({ negative: 'warning minimum', zero: 'ok' }),
  );
});

test('options of channels: of ctrl, link listeners, link dialers and edge listeners', () => {
  judgeChannelOptions(judge, 'ctrl.options', false);
  judgeChannelOptions(judge, 'link.listeners[0].options', true);
  judgeChannelOptions(judge, 'link.dialers[0].options', true, true);
  judgeChannelOptions(judge, 'listeners[0].options', false);
  judge('ctrl.options', [
    ['{ connectTimeout: 1s, connectTimeoutMs: 1 }', 'ok', 'ctrl.options.connectTimeoutMs'],
  ]);
});

test('identity', () => {
  judge('identity', [[undefined, 'error required'], ['null', 'error type'], ...MAP_ERRORS]);
  const certificate: readonly Case[] = [
    ...ofKind('certificate'),
    ['pkcs11:x', 'error certificate'],
    ['"https://x/y"', 'error certificate'],
    ['file:rel.pem', 'ok'],
    ['file:///etc/x.pem', 'ok'],
    ['file://host/x.pem', 'error certificate'],
    ['"pem:-----BEGIN X-----"', 'ok'],
  ];
  judge('identity.cert', [[undefined, 'error required'], ...certificate]);
  judge('identity.server_cert', [[undefined, 'ok'], ...certificate]);
  judge('identity.ca', [[undefined, 'warning ca'], ...certificate]);
  const key: readonly Case[] = [
    ...ofKind('key'),
    ['"pkcs11:/lib.so?pin=1"', 'error key'],
    ['parsec:name', 'error key'],
    ['"other:x"', 'error key'],
    ['file:rel.pem', 'ok'],
  ];
  judge('identity.key', [[undefined, 'error required'], ...key]);
  judge('identity.server_key', [[undefined, 'ok'], ...key]);
  judge('identity.alt_server_certs', [
    [undefined, 'ok'],
    ['null', 'error type'],
    ...LIST_ERRORS,
    ['[]', 'ok'],
    ['[{ server_cert: a }]', 'ok'],
  ]);
  judge('identity.alt_server_certs', [
    ['[5]', 'error type', 'identity.alt_server_certs[0]'],
    ['[{}]', 'error required', 'identity.alt_server_certs[0].server_cert'],
    ['[{ server_cert: 5 }]', 'error type', 'identity.alt_server_certs[0].server_cert'],
    ['[{ server_cert: a, server_key: 5 }]', 'error type', 'identity.alt_server_certs[0].server_key'],
  ]);
});

test('edge and csr', () => {
  judge('edge', [['null', 'error type'], ...MAP_ERRORS]);
  judge('edge.db', [
    [undefined, 'ok'],
    ...ofKind('path').slice(0, -1),
    ['""', 'warning path'],
    ['a/b', 'ok'],
  ]);
  judge('edge.dbSaveIntervalSeconds', [
    [undefined, 'ok'],
    ['null', 'error type'],
    ['0', 'error minimum'],
    ['1', 'ok'],
    ['30', 'ok'],
    ['30s', 'ok'],
    ['999ms', 'error minimum'],
    ['-5s', 'error minimum'],
    ['"30"', 'error duration'],
    ['1d', 'error duration'],
    ['1.5', 'error type'],
    ['true', 'error type'],
  ]);
  judge('edge.csr', MAP_ERRORS);
  for (const key of ['country', 'province', 'locality', 'organization', 'organizationalUnit']) {
    judge(`edge.csr.${key}`, [
      [undefined, 'ok'],
      ['null', 'error type'],
      ['5', 'error type'],
      ['[]', 'error type'],
      ['DE', 'ok'],
      ['""', 'ok'],
    ]);
  }
  judge('edge.csr.sans', [[undefined, 'error sans'], ['null', 'error type'], ...MAP_ERRORS]);
  for (const [key, good, bad, rule] of [
    ['dns', 'a.example', '""', 'text'],
    ['ip', '"::1"', 'a.example', 'ip'],
    ['uri', 'spiffe://a/b', '"no uri"', 'uri'],
    ['email', 'a@b.example', '""', 'text'],
  ] as const) {
    const path = `edge.csr.sans.${key}`;
    judge(path, [[undefined, key === 'dns' ? 'error sans' : 'ok', key === 'dns' ? 'edge.csr.sans' : path]]);
    judge(
      'edge.csr.sans',
      [
        [`{ ${key}: null }`, 'error type', path],
        [`{ ${key}: 5 }`, 'error type', path],
        [`{ ${key}: [5] }`, 'error type', `${path}[0]`],
        [`{ ${key}: [${bad}] }`, `error ${rule}`, `${path}[0]`],
        [`{ ${key}: [${good}] }`, 'ok', path],
      ]
        .map(([yaml, verdict, at]) => [yaml, verdict, at] as Case)
        .filter(([yaml]) => yaml !== undefined),
    );
  }
});

test('forwarder', () => {
  judge('forwarder', [
    [undefined, 'ok'],
    ['null', 'warning type'],
    ['5', 'warning type'],
    ['[]', 'warning type'],
    ['text', 'warning type'],
  ]);
  for (const key of [
    'faultTxInterval',
    'idleTxInterval',
    'idleCircuitTimeout',
    'xgressDialDwellTime',
    'latencyProbeInterval',
  ])
    judge(`forwarder.${key}`, integerCases({ min: 0, isLenient: true }));
  judge('forwarder.xgressCloseCheckInterval', integerCases({ min: 1, isLenient: true }));
  judge('forwarder.rateLimitedQueueLength', integerCases({ min: 1, max: 50_000 }));
  for (const key of [
    'linkDialQueueLength',
    'linkDialWorkerCount',
    'rateLimitedWorkerCount',
    'xgressDialQueueLength',
    'xgressDialWorkerCount',
  ])
    judge(`forwarder.${key}`, integerCases({ min: 1, max: 10_000 }));
});

test('healthChecks', () => {
  for (const path of ['healthChecks', 'healthChecks.ctrlPingCheck', 'healthChecks.linkCheck'])
    judge(path, [
      [undefined, 'ok'],
      ['null', 'warning type'],
      ['5', 'warning type'],
      ['[]', 'warning type'],
    ]);
  const positive = { negative: 'error minimum', zero: 'error minimum', isZeroBare: true } as const;
  judge('healthChecks.ctrlPingCheck.interval', durationCases(positive));
  judge('healthChecks.linkCheck.interval', durationCases(positive));
  judge(
    'healthChecks.ctrlPingCheck.timeout',
    durationCases({ negative: 'warning minimum', zero: 'warning minimum', isZeroBare: true }),
  );
  for (const path of ['healthChecks.ctrlPingCheck.initialDelay', 'healthChecks.linkCheck.initialDelay'])
    judge(path, durationCases({ negative: 'warning minimum', zero: 'ok', isZeroBare: true }));
  judge('healthChecks.linkCheck.minLinks', integerCases({ min: 0, isLenient: true }));
});

test('link', () => {
  judge('link', [[undefined, 'ok'], ['null', 'warning empty'], ...MAP_ERRORS]);
  for (const [section, rest] of [
    ['listeners', ', bind: "tls:0.0.0.0:1", advertise: "a:1"'],
    ['dialers', ''],
  ] as const) {
    judge(`link.${section}`, [
      [undefined, 'ok'],
      ['null', 'error type'],
      ...LIST_ERRORS,
      ['[]', 'ok'],
      ['[5]', 'error type', `link.${section}[0]`],
      ['[null]', 'error type', `link.${section}[0]`],
      [`[{ binding: transport${rest} }]`, 'ok'],
    ]);
    judge(`link.${section}[0].binding`, [
      [undefined, 'error required'],
      ['null', 'error type'],
      ['5', 'error type'],
      ['udp', 'error enum'],
      ['transport', 'ok'],
    ]);
    judge(`link.${section}[0].groups`, [
      [undefined, 'ok'],
      ['null', 'error type'],
      ['5', 'error type'],
      ['[a, 5]', 'error type', `link.${section}[0].groups[1]`],
      ['one', 'ok'],
      ['[one, two]', 'ok'],
    ]);
    judge(`link.${section}[0].options`, [[undefined, 'ok'], ['null', 'error type'], ...MAP_ERRORS]);
  }
  judge('link.listeners[0].bind', [[undefined, 'error required'], ...addressCases]);
  judge('link.listeners[0].advertise', [
    [undefined, 'error required'],
    ...hostPortCases('advertised'),
    ['tls:router.example:6000', 'ok'],
    ['nope:router.example:6000', 'error advertised'],
  ]);
  judge('link.dialers[0].split', [
    [undefined, 'ok'],
    ['null', 'error type'],
    ['1', 'error type'],
    ['"yes"', 'error type'],
    ['no', 'ok'],
    ['true', 'ok'],
  ]);
  judge('link.dialers[0].bind', [
    [undefined, 'ok'],
    ...ofKind('interface'),
    ['0.0.0.0', 'error interface'],
    ['127.0.0.1', 'ok'],
  ]);
});

test('backoffs of link dialers', () => {
  for (const policy of ['healthyDialBackoff', 'unhealthyDialBackoff']) {
    const at = `link.dialers[0].${policy}`;
    judge(at, [[undefined, 'ok'], ['null', 'error type'], ...MAP_ERRORS]);
    const bounds: readonly Case[] = [
      ['9ms', 'error minimum'],
      ['10ms', 'ok'],
      ['24h0m1s', 'error maximum'],
    ];
    const wrong = { negative: 'error minimum', zero: 'error minimum' } as const;
    judge(`${at}.minRetryInterval`, durationCases({ ...wrong, more: [...bounds, ['24h', 'error order']] }));
    const [shortest, longest] = policy === 'healthyDialBackoff' ? ['5s', '4999ms'] : ['1m', '59s'];
    const lows = durationCases({
      ...wrong,
      more: [
        ['24h', 'ok'],
        ['9ms', 'error minimum'],
        ['24h0m1s', 'error maximum'],
        [shortest, 'ok'],
        [longest, 'error order'],
      ],
    });
    judge(
      `${at}.maxRetryInterval`,
      lows.map(([yaml, verdict]) => [
        yaml,
        policy === 'unhealthyDialBackoff' && yaml?.endsWith('40s') === true ? 'error order' : verdict,
      ]),
    );
    judge(at, [['{ minRetryInterval: 10ms, maxRetryInterval: 10ms }', 'ok']]);
    judge(`${at}.retryBackoffFactor`, [
      [undefined, 'ok'],
      ['null', 'error type'],
      ['"2"', 'error type'],
      ['0', 'error minimum'],
      ['0.99', 'error minimum'],
      ['1', 'ok'],
      ['1.0', 'ok'],
      ['100', 'ok'],
      ['100.1', 'error maximum'],
      ['.inf', 'error type'],
    ]);
  }
});

test('metrics, trace and profile', () => {
  judge('metrics', [[undefined, 'ok'], ['null', 'warning empty'], ...MAP_ERRORS]);
  judge('metrics.reportInterval', durationCases({ negative: 'error minimum', zero: 'error minimum' }));
  judge(
    'metrics.intervalAgeThreshold',
    durationCases({ negative: 'warning minimum', zero: 'warning minimum' }),
  );
  judge('metrics.messageQueueSize', integerCases({ min: 0 }));
  judge('trace', [[undefined, 'ok'], ['null', 'error type'], ...MAP_ERRORS]);
  judge('trace.path', [[undefined, 'error required'], ...ofKind('path'), ['trace', 'ok']]);
  judge('profile', [[undefined, 'ok'], ['null', 'warning empty'], ...MAP_ERRORS]);
  for (const section of ['profile.cpu', 'profile.memory']) {
    judge(section, [[undefined, 'ok'], ['null', 'error type'], ...MAP_ERRORS]);
    judge(`${section}.path`, [[undefined, 'error required'], ...ofKind('path'), ['file', 'ok']]);
  }
  judge('profile.memory.intervalMs', integerCases({ min: 1 }));
});

test('transport.wss', () => {
  for (const key of ['readTimeout', 'handshakeTimeout', 'pingInterval', 'pongTimeout'])
    judge(`transport.wss.${key}`, integerCases({ min: 1 }));
});

test('transport: fields are checked, the underlay gives one warning and never an error', () => {
  judge('transport', [[undefined, 'ok'], ['null', 'warning empty'], ...MAP_ERRORS]);
  judge('transport.westworld3', [
    [undefined, 'ok'],
    ['{}', 'warning unsupported'],
  ]);
  for (const key of ['profile_version', 'tx_portal_min_sz', 'tx_portal_max_sz', 'instrument.snapshot_ms'])
    judge(`transport.westworld3.${key}`, integerCases({}));
  for (const key of ['instrument.name', 'instrument.path'])
    judge(`transport.westworld3.${key}`, [
      [undefined, 'ok'],
      ['null', 'error type'],
      ['5', 'error type'],
      ['x', 'ok'],
    ]);
  judge('transport.westworld3.instrument.enabled', [
    [undefined, 'ok'],
    ['null', 'error type'],
    ['1', 'error type'],
    ['on', 'ok'],
  ]);
});
