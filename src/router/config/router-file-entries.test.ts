// Fields of list entries (listeners, dialers, web servers), and OpenZiti's additions to the requirement.
import { after, test } from 'node:test';
import {
  addressCases,
  durationCases,
  hostPortCases,
  integerCases,
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

/** The schema accepts any text here, because the rules depend on the binding. */
function forText([yaml, verdict, path]: Case): Case {
  return [
    yaml,
    yaml === '""' ? 'error text' : verdict,
    ...(path === undefined ? [] : ([path] as const)),
  ] as Case;
}

test('listeners', () => {
  judge('listeners', [
    [undefined, 'warning no-listener', 'edge'],
    ['null', 'warning empty'],
    ...LIST_ERRORS,
    ['[5]', 'error type', 'listeners[0]'],
    ['[{}]', 'error required', 'listeners[0].binding'],
  ]);
  judge('listeners[1].binding', [
    [undefined, 'error required'],
    ['null', 'error type'],
    ['5', 'error type'],
    ['edge_transport', 'error enum'],
    ['nope', 'error enum'],
    ['transport', 'ok'],
  ]);
  judge('listeners[0].address', [[undefined, 'error required'], ...addressCases.map(forText)]);
  judge('listeners[1].address', [[undefined, 'error required'], ...addressCases.map(forText)]);
  judge('listeners[2].address', [[undefined, 'error required'], ...addressCases.map(forText)]);
  judge('listeners[0].bind', [
    ['tls:127.0.0.1:1', 'warning ignored'],
    ['5', 'warning ignored'],
  ]);
  const asFirst: readonly Case[] = [
    ['{ binding: edge, bind: "tls:x:1", options: { advertise: "a:1" } }', 'ok'],
    ['{ binding: edge, bind: x, options: { advertise: "a:1" } }', 'error address', 'listeners[0].bind'],
    ['{ binding: edge, bind: 5, options: { advertise: "a:1" } }', 'error type', 'listeners[0].bind'],
    ['{ binding: edge, address: "tls:x:1", advertise: "a:1" }', 'ok'],
    ['{ binding: edge, address: "tls:x:1", advertise: a }', 'error host-port', 'listeners[0].advertise'],
    ['{ binding: edge, address: "tls:x:1" }', 'error required', 'listeners[0].options.advertise'],
    ['{ binding: edge, address: "tls:x:1", advertise: a, options: { advertise: "a:1" } }', 'ok'],
    ['{ binding: transport, address: "tcp:x:1" }', 'error required', 'listeners[0].options.advertise'],
    ['{ binding: transport_udp, address: "udp:x:1" }', 'error required', 'listeners[0].options.advertise'],
    ['{ binding: transport_udp, address: "udp:x:1", advertise: "a:1" }', 'ok'],
    [
      '{ binding: transport_udp, address: "tls:x:1", advertise: "a:1" }',
      'error address',
      'listeners[0].address',
    ],
    ['{ binding: proxy_udp, address: "udp4:x:1", service: s }', 'ok'],
    ['{ binding: proxy_udp, address: "udp:x:1" }', 'error required', 'listeners[0].service'],
    ['{ binding: proxy, address: "tls:x:1" }', 'error required', 'listeners[0].service'],
    ['{ binding: proxy, address: "tls:x:1", service: 5 }', 'error type', 'listeners[0].service'],
    ['{ binding: tunnel }', 'ok'],
  ];
  judge('listeners[0]', asFirst);
  for (const i of [0, 1]) {
    judge(`listeners[${i}].options.advertise`, [
      [undefined, 'error required'],
      ...hostPortCases('host-port').map(forText),
    ]);
    judge(`listeners[${i}].options`, [['null', 'error type'], ...MAP_ERRORS]);
  }
});

test('options of circuits, for dialers and for every listener', () => {
  for (const at of [
    'dialers[0].options',
    'listeners[0].options',
    'listeners[1].options',
    'listeners[2].options',
    'listeners[3].options',
  ]) {
    judge(`${at}.mtu`, integerCases({ min: 0, isLenient: true }));
    judge(`${at}.randomDrops`, [
      [undefined, 'ok'],
      ['null', 'error type'],
      ['1', 'error type'],
      ['"yes"', 'error type'],
      ['on', 'ok'],
    ]);
    for (const key of [
      'drop1InN',
      'txPortalStartSize',
      'txPortalMinSize',
      'txPortalMaxSize',
      'txPortalIncreaseThresh',
      'txPortalRetxThresh',
      'txPortalDupAckThresh',
      'rxBufferSize',
      'retxStartMs',
      'retxMaxMs',
      'maxCloseWaitMs',
    ]) {
      judge(`${at}.${key}`, integerCases({ min: 1, isLenient: true }));
    }
    for (const key of ['txQueueSize', 'retxAddMs', 'maxRttScale'])
      judge(`${at}.${key}`, integerCases({ min: 0, isLenient: true }));
    for (const key of ['txPortalIncreaseScale', 'txPortalRetxScale', 'txPortalDupAckScale', 'retxScale']) {
      judge(`${at}.${key}`, [
        [undefined, 'ok'],
        ['null', 'error type'],
        ['"1"', 'error type'],
        ['true', 'error type'],
        ['1', 'ok'],
        ['0.5', 'ok'],
        ['-0.5', 'warning minimum'],
      ]);
    }
    for (const key of ['getCircuitTimeout', 'circuitStartTimeout'])
      judge(`${at}.${key}`, durationCases({ negative: 'warning minimum', zero: 'warning minimum' }));
  }
  judge('dialers[0].options.connectTimeout', durationCases({ negative: 'warning minimum', zero: 'ok' }));
  judge('listeners[1].options.connectTimeout', durationCases({ negative: 'warning minimum', zero: 'ok' }));
  judge(
    'listeners[0].options.lookupApiSessionTimeout',
    durationCases({ negative: 'warning minimum', zero: 'warning minimum' }),
  );
  judge('listeners[0].options.lookupSessionTimeout', [
    [undefined, 'ok'],
    ['1s', 'warning unsupported'],
  ]);
});

test('tunnel options', () => {
  const at = 'listeners[3].options';
  judge(`${at}.mode`, [
    [undefined, 'ok'],
    ...ofKind('tunnel-mode'),
    ['host', 'ok'],
    ['proxy', 'ok'],
    ['tproxy', 'ok'],
    ['tproxy:/usr/bin/divert', 'ok'],
    ['other', 'error tunnel-mode'],
  ]);
  judge(`${at}.resolver`, [
    [undefined, 'ok'],
    ['null', 'error type'],
    ['5', 'error type'],
    ['udp://127.0.0.1:53', 'ok'],
    ['["udp://127.0.0.1:53"]', 'ok'],
    ['tcp://127.0.0.1:53', 'error resolver'],
    ['["udp://127.0.0.1"]', 'error resolver', `${at}.resolver[0]`],
    ['file:///etc/hosts', 'ok'],
  ]);
  judge(`${at}.dnsSvcIpRange`, [
    [undefined, 'ok'],
    ...ofKind('cidr'),
    ['100.64.0.0/10', 'ok'],
    ['100.64.0.0', 'error cidr'],
    ['100.64.0.0/33', 'error cidr'],
    ['"fd00::/64"', 'ok'],
  ]);
  judge(`${at}.services`, [
    [undefined, 'ok'],
    ['null', 'error type'],
    ['web:80', 'error type'],
    ['["web:80", "dns:53:udp"]', 'ok'],
    ['[web]', 'error tunnel-service', `${at}.services[0]`],
    ['["web:70000"]', 'error tunnel-service', `${at}.services[0]`],
    ['["web:80:sctp"]', 'error tunnel-service', `${at}.services[0]`],
    ['[80]', 'error type', `${at}.services[0]`],
  ]);
  judge(`${at}.lanIf`, [
    ['null', 'error type'],
    ['no-such-interface', 'error interface'],
  ]);
  judge(`${at}.dnsUpstreamMode`, [
    ['Parallel', 'ok'],
    ['other', 'error enum'],
  ]);
  judge(`${at}.dnsUpstream`, [
    ['udp://1.1.1.1:53', 'ok'],
    ['["http://x:1"]', 'error upstream', `${at}.dnsUpstream[0]`],
  ]);
  judge(`${at}.dnsUnanswerable`, [
    ['servfail', 'ok'],
    ['other', 'error enum'],
  ]);
  judge(`${at}.svcPollRate`, [
    ['15s', 'ok'],
    ['15', 'error type'],
  ]);
  judge(`${at}.udpIdleTimeout`, [
    ['4s', 'warning minimum'],
    ['5s', 'ok'],
  ]);
  judge(`${at}.udpCheckInterval`, [
    ['999ms', 'warning minimum'],
    ['1s', 'ok'],
  ]);
});

test('dialers', () => {
  judge('dialers', [
    [undefined, 'ok'],
    ['null', 'warning empty'],
    ...LIST_ERRORS,
    ['[5]', 'error type', 'dialers[0]'],
    ['[{ options: {} }]', 'error required', 'dialers[0].binding'],
    [
      '[{ binding: proxy }, { binding: proxy_udp }, { binding: transport_udp }, { binding: edge }, { binding: tunnel }]',
      'ok',
    ],
    ['[{ binding: transport }, { binding: transport }]', 'warning duplicate-binding', 'dialers[1].binding'],
  ]);
  judge('dialers[0].binding', [
    ['null', 'error type'],
    ['5', 'error type'],
    ['udp', 'warning binding'],
  ]);
  judge('dialers[0].options', [[undefined, 'ok'], ['null', 'error type'], ...MAP_ERRORS]);
});

test('web', () => {
  judge('web', [
    [undefined, 'ok'],
    ['null', 'warning empty'],
    ...LIST_ERRORS,
    ['[]', 'ok'],
    ['[5]', 'error type', 'web[0]'],
  ]);
  judge('web[0].name', [[undefined, 'error required'], ...ofKind('text'), ['x', 'ok']]);
  for (const key of ['bindPoints', 'apis'])
    judge(`web[0].${key}`, [
      [undefined, 'error required'],
      ['null', 'error type'],
      ...LIST_ERRORS,
      ['[]', 'error required'],
    ]);
  for (const key of ['interface', 'address', 'newAddress']) {
    judge(`web[0].bindPoints[0].${key}`, [
      [undefined, key === 'newAddress' ? 'ok' : 'error required'],
      ...hostPortCases('host-port'),
      ['"router.example:0"', 'error minimum'],
      ['"router.example:1"', 'ok'],
    ]);
  }
  judge('web[0].apis[0].binding', [
    [undefined, 'error required'],
    ['null', 'error type'],
    ['fabric', 'error enum'],
  ]);
  judge('web[0].apis[0].options', [
    ['{}', 'ok'],
    ['5', 'error type'],
  ]);
  for (const key of ['readTimeout', 'writeTimeout', 'idleTimeout'])
    judge(`web[0].options.${key}`, durationCases({ negative: 'error minimum', zero: 'error minimum' }));
  for (const key of ['minTLSVersion', 'maxTLSVersion'])
    judge(`web[0].options.${key}`, [
      [undefined, 'ok'],
      ['null', 'error type'],
      ['1.2', 'error type'],
      ['TLS1.2', 'ok'],
      ['TLS1.4', 'error enum'],
      [key === 'minTLSVersion' ? 'TLS1.3' : 'TLS1.1', key === 'minTLSVersion' ? 'ok' : 'error order'],
    ]);
  judge('web[0].identity', [
    ['{ cert: a, key: b, server_cert: c, ca: d }', 'ok'],
    ['{ cert: a, key: b, server_cert: c, server_key: e, ca: d }', 'ok'],
    ['{ cert: a, server_cert: c, server_key: e, ca: d }', 'error required', 'web[0].identity.key'],
    ['{ key: b, server_cert: c, server_key: e, ca: d }', 'error required', 'web[0].identity.cert'],
    ['{ cert: a, key: b, ca: d }', 'error required', 'web[0].identity.server_cert'],
    ['{ cert: a, key: b, server_cert: c, server_key: e }', 'error required', 'web[0].identity.ca'],
  ]);
});

test('sections that OpenZiti has beside those of the requirement', () => {
  judge('ctrl.startupTimeout', durationCases({ negative: 'ok', zero: 'ok' }));
  judge('ctrl.listeners', [
    ['5', 'error type'],
    ['[{}]', 'error required', 'ctrl.listeners[0].bind'],
    ['[{ bind: "tls:0.0.0.0:1" }]', 'ok'],
    ['[{ bind: x }]', 'error address', 'ctrl.listeners[0].bind'],
  ]);
  judge('link.payloadSenderQueueSize', integerCases({ min: 1 }));
  judge('link.ackSenderQueueSize', integerCases({ min: 1 }));
  judge(
    'link.heartbeats.sendInterval',
    durationCases({ negative: 'warning minimum', zero: 'warning minimum' }),
  );
  judge(
    'link.heartbeats.closeUnresponsiveTimeout',
    durationCases({ negative: 'warning minimum', zero: 'ok' }),
  );
  judge('link.dialers[0].maxDefaultConnections', integerCases({ min: 1, max: 100, takesFraction: true }));
  judge('link.dialers[0].maxAckConnections', integerCases({ min: 0, max: 100, takesFraction: true }));
  judge('link.dialers[0].startupDelay', durationCases({ negative: 'error minimum', zero: 'ok' }));
  judge('edge.heartbeatIntervalSeconds', [
    ['9', 'warning minimum'],
    ['10', 'ok'],
    ['60', 'ok'],
    ['61', 'warning maximum'],
    ['10s', 'error type'],
  ]);
  judge('edge.apiProxy', [
    ['{ listener: "a:1", upstream: "b:1" }', 'warning unsupported'],
    ['{ upstream: "b:1" }', 'error required', 'edge.apiProxy.listener'],
    ['{ listener: "a:1" }', 'error required', 'edge.apiProxy.upstream'],
  ]);
  judge('proxy', [
    ['5', 'warning type'],
    ['{ type: none }', 'ok'],
    ['{ type: http, address: "p:1" }', 'ok'],
  ]);
  judge('proxy.type', [
    ['socks', 'error enum'],
    ['http', 'error required', 'proxy.address'],
  ]);
  judge(
    'tls.handshakeTimeout',
    durationCases({ negative: 'warning minimum', zero: 'warning minimum', isZeroBare: true }),
  );
  judge('connectEvents', [['5', 'warning type']]);
  judge('connectEvents.batchInterval', [
    ['249ms', 'warning minimum'],
    ['250ms', 'ok'],
    ['10m', 'ok'],
    ['601s', 'warning maximum'],
    ['x', 'warning duration'],
    ['5', 'warning type'],
  ]);
  judge('connectEvents.maxQueuedEvents', [
    ['-1', 'warning minimum'],
    ['0', 'ok'],
    ['10000001', 'warning maximum'],
  ]);
  judge('interfaceDiscovery', [['5', 'error type']]);
  judge('interfaceDiscovery.checkInterval', [
    ['x', 'error duration'],
    ['1m', 'ok'],
  ]);
});
