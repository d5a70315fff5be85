// Features of the files in OpenZiti's own repositories, in files of Frontdoor.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, summaryOf } from './testing/router-file-fixture.ts';

const EDGE_ROUTER = `
v: 3
identity:
  cert:         "\${PKI}/router.client.pem"
  server_cert:  "\${PKI}/router.server.pem"
  key:          "\${PKI}/router.key"
  ca:           "\${PKI}/chain.pem"
  #alt_server_certs:
  #  - server_cert: other.pem
ctrl:
  endpoint: tls:\${CTRL_HOST}:\${CTRL_PORT}
healthChecks:
    ctrlPingCheck:
        interval: 30s
        timeout: 15s
        initialDelay: 15s
    linkCheck:
        minLinks: 1
        interval: 5s
link:
  dialers:
    - binding: transport
  listeners:
    - binding:   transport
      bind:      tls:127.0.0.1:\${LINK_PORT}
      advertise: tls:127.0.0.1:\${LINK_PORT}
      options:
        outQueueSize: 4
edge:
  apiProxy:
    listener: 127.0.0.1:1281
    upstream: 127.0.0.1:1280
  csr:
    country: US
    organizationalUnit: Routers
    sans:
      dns:
        - localhost
      email:
        - "admin@router.example"
      ip:
        - "127.0.0.1"
        - "::1"
      uri:
        - "https://router.example/resources/me"
dialers:
  - binding: udp
  - binding: transport
listeners:
  - binding: tunnel
    options:
      mode: host #tproxy|host
  - binding: edge
    address: tls:0.0.0.0:3022
    options:
      advertise: 127.0.0.1:3022
      maxQueuedConnects: 50
      maxOutstandingConnects: 100
      connectTimeoutMs: 3000
      lookupApiSessionTimeout: 1s
      lookupSessionTimeout: 1s
      getSessionTimeout: 60s
  - binding: transport
    address: tls:0.0.0.0:7099
    options:
      advertise: 127.0.0.1:7099
      txQueueSize: 1
web:
  - name: health-check
    bindPoints:
      - interface: 127.0.0.1:8081
        address: 127.0.0.1:8081
    apis:
      - binding: health-checks
#transport:
#  ws:
#    writeTimeout: 10
`;

test('an edge router: variables in addresses, health checks, all kinds of names, a tunnel that hosts', () => {
  const environment = { PKI: '/etc/pki', CTRL_HOST: 'ctrl.example', CTRL_PORT: '6262', LINK_PORT: '6000' };
  const { problems, config } = read(EDGE_ROUTER, environment);
  assert.deepEqual(summaryOf(problems), [
    'warning unsupported edge.apiProxy',
    'warning binding dialers[0].binding',
    'warning unsupported listeners[1].options.lookupSessionTimeout',
    'warning no-effect listeners[1].options.getSessionTimeout',
  ]);
  assert.equal(config?.link?.listeners[0]?.advertise.port, 6_000);
  assert.equal(config?.identity.cert, '/etc/pki/router.client.pem');
});

const FABRIC_ROUTER = `
v: 3
identity: { cert: a.pem, server_cert: b.pem, key: c.pem, ca: d.pem }
ctrl:
  endpoint: tls:127.0.0.1:6262
forwarder:
  latencyProbeInterval: 1000
  latencyProbeTimeout: 10000
  idleSessionTimeout: 60000
  xgressDialQueueLength: 1000
  linkDialWorkerCount: 10
dialers:
  - binding: transport
    options:
      retransmission: true
      connectTimeout: 2s
listeners:
  - binding: proxy
    address: tcp:0.0.0.0:1001
    service: loop
    options:
      retransmission: true
      randomDrops: off
      drop1InN: 2500
  - binding: proxy_udp
    address: udp:127.0.0.1:7006
    service: loop-udp
  - binding: transport
    address: tls:0.0.0.0:7001
  - binding: transport_udp
    address: udp:0.0.0.0:7001
    options:
      advertise: "127.0.0.1:7001"
`;

test('a fabric router without csr: valid once its transport listener has an advertised address', () => {
  assert.deepEqual(summaryOf(read(FABRIC_ROUTER).problems.filter(({ severity }) => severity === 'error')), [
    'error required listeners[2].options.advertise',
  ]);
  const { config } = read(FABRIC_ROUTER.replace('address: tls:0.0.0.0:7001', '$&\n    advertise: a:1'));
  assert.deepEqual([config?.csr, config?.edge, config?.link], [undefined, undefined, undefined]);
});

/** Indents the whole text, with lists at the indentation of their key. */
const MESH_ROUTER = `
    v: 3
    enableDebugOps: true
    ha:
      enabled: true
    identity: &identity
      cert: a.pem
      key: b.pem
      server_cert: c.pem
      ca: d.pem
    tls:
      handshakeTimeout: 30s
    managedConfig:
      allow: [all]
    csr:
      sans:
        ip: [127.0.0.1]
    ctrl:
      startupTimeout: 2m
      endpointsFile: work/endpoints.yml
      options:
        connectTimeout: 30s
        outQueueSize: 16
      heartbeats:
        sendInterval: 5s
        closeUnresponsiveTimeout: 45s
      listeners:
      - bind: tls:0.0.0.0:6264
        advertise: tls:10.0.0.1:6264
        groups: private
    metrics:
      reportInterval: 15s
      messageQueueSize: 10
    transport:
      westworld3:
        profile_version: 1
        tx_portal_min_sz: 16384
        instrument: { name: metrics, path: /tmp, snapshot_ms: 250, enabled: true }
    link:
      listeners:
      - binding: transport
        bind: dtls:0.0.0.0:6002
        advertise: dtls:10.0.0.1:6002
        groups: [public, private]
      dialers:
      - binding: transport
        split: false
        groups: public
        healthyDialBackoff:
          minRetryInterval: 5s
          maxRetryInterval: 30s
          retryBackoffFactor: 1.5
        unhealthyDialBackoff: { minRetryInterval: 30s, maxRetryInterval: 1m, retryBackoffFactor: 2 }
    dialers:
    - binding: transport
      options: &xgress
        mtu: 65536
        rxBufferSize: 4_194_304
        txPortalIncreaseThresh: 28
        txPortalIncreaseScale: 1
        txPortalRetxScale: 0.75
        txPortalIncreaseThresh: 224
    listeners:
    - binding: transport
      address: tls:0.0.0.0:7001
      advertise: 10.0.0.1:7001
      options:
        <<: *xgress
        txQueueSize: 4
`;

test('a mesh router: indented, anchors, doubled keys, controllers that dial, datagram links that only run refuses', () => {
  const { problems, config, notRunnable } = read(MESH_ROUTER);
  assert.deepEqual(summaryOf(problems), [
    'warning unsupported enableDebugOps',
    'warning no-effect ha',
    'warning unsupported managedConfig',
    'warning unsupported transport.westworld3',
    'warning duplicate-key dialers[0].options.txPortalIncreaseThresh',
  ]);
  const [dialer] = config!.dialers;
  const [listener] = config!.listeners;
  assert.deepEqual(
    [dialer?.xgress.txPortalIncreaseThresh, listener?.xgress.txPortalIncreaseThresh],
    [224, 224],
  );
  assert.deepEqual([listener?.xgress.mtu, listener?.xgress.txQueueSize], [65_536, 4]);
  assert.deepEqual(config?.ctrl.endpoints, []);
  assert.deepEqual(summaryOf(notRunnable), [
    'error not-runnable link.listeners[0].bind',
    'error not-runnable link.listeners[0].advertise',
  ]);
});

test('a generated file whose lists are commented out has no such role', () => {
  const generated = EDGE_ROUTER.replace(
    /^listeners:\n[^]*?(?=^web:)/m,
    'listeners:\n#  - binding: edge\n',
  ).replace(/^dialers:\n[^]*?(?=^listeners:)/m, 'dialers:\n');
  const { problems, config } = read(generated, { PKI: '/', CTRL_HOST: 'a', CTRL_PORT: '1', LINK_PORT: '2' });
  assert.deepEqual(summaryOf(problems), [
    'warning no-listener edge',
    'warning unsupported edge.apiProxy',
    'warning empty dialers',
    'warning empty listeners',
  ]);
  assert.deepEqual([config?.dialers, config?.listeners], [[], []]);
});

test('an older version, a stray line and an unknown kind of listener are refused', () => {
  const errors = (text: string): string[] =>
    summaryOf(read(text).problems.filter(({ severity }) => severity === 'error'));
  assert.deepEqual(errors(MESH_ROUTER.replace('v: 3', 'v: 2')), ['error version v']);
  assert.deepEqual(errors(MESH_ROUTER.replace('    metrics:', '/\n    metrics:')), ['error syntax ']);
  assert.deepEqual(
    errors(EDGE_ROUTER.replace('binding: edge', 'binding: edge_wss').replaceAll(/\$\{\w+\}/g, '1')),
    ['error enum listeners[1].binding'],
  );
});

/** The keys and values of `ziti create config router edge`, with the lines that its options change. */
function generatedFile(edgeAddress: string, tunnel: readonly string[], more = ''): string {
  return `
v: 3
identity: { cert: /r/r1.cert, server_cert: /r/r1.server.chain.cert, key: /r/r1.key, ca: /r/r1.cas }
ha:
  enabled: false
ctrl:
  endpoint:             tls:router.example:6262
link:
  dialers:
    - binding: transport
  listeners:
    - binding:          transport
      bind:             tls:0.0.0.0:10080
      advertise:        tls:router.example:10080
      options:
        outQueueSize:   4
listeners:
  - binding: edge
    address: ${edgeAddress}
    options:
      advertise: router.example:3022
      connectTimeoutMs: 5000
      getSessionTimeout: 60
${['  - binding: tunnel', '    options:', ...tunnel.map((line) => `      ${line}`)].join('\n')}
edge:
  csr:
    country: US
    sans: { dns: [localhost, router.example], ip: ["127.0.0.1", "::1"] }
${more}
forwarder:
  latencyProbeInterval: 0
  xgressDialQueueLength: 1000
  xgressDialWorkerCount: 128
  linkDialQueueLength: 1000
  linkDialWorkerCount: 32
`;
}

test('generated files are valid and can be run: tunnels of each mode, and edge listeners over WebSocket', () => {
  const legacy = ['warning no-effect ha', 'warning no-effect listeners[0].options.getSessionTimeout'];
  const transport = 'transport:\n  ws: { writeTimeout: 10, pingInterval: 54, enableCompression: true }';
  const tproxy = ['mode: tproxy', 'resolver: udp://127.0.0.1:53', 'dnsSvcIpRange: 100.64.0.1/10'];
  for (const [file, warnings] of [
    [generatedFile('tls:0.0.0.0:3022', ['mode: host']), legacy],
    [generatedFile('tls:0.0.0.0:3022', tproxy), legacy],
    [
      generatedFile('wss:0.0.0.0:3022', ['mode: host'], transport),
      [...legacy, 'warning no-effect transport.ws'],
    ],
  ] as const) {
    const { problems, config, notRunnable } = read(file);
    assert.deepEqual(summaryOf(problems).sort(), [...warnings].sort());
    assert.deepEqual(summaryOf(notRunnable), []);
    assert.equal(config?.listeners.length, 2);
  }
});
