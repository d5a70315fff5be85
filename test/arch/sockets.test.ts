// The files that may open sockets, call C libraries, start processes and threads, or wait for the clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';

const SOCKET_MODULES = ['node:net', 'node:tls', 'node:http', 'node:https', 'node:http2', 'node:dgram', 'ws'];

/**
 * Folders and files that use these modules at run time, with the purpose. Imports of types are allowed
 * everywhere.
 */
const SOCKET_USERS: readonly (readonly [prefix: string, modules: readonly string[], reason: string])[] = [
  [
    'src/net/datagrams/',
    ['node:dgram', 'node:net'],
    'the data path: datagrams of circuits that end at a router or a tunnel; isIP: what form an address has',
  ],
  ['src/net/', ['node:net', 'node:tls', 'node:https', 'ws'], 'the part that opens sockets'],
  ['src/gateway/accepting-servers.ts', ['node:net'], 'the data path: client connections'],
  ['src/gateway/streams/tcp-port.ts', ['node:net'], 'the data path: connections to ports of shares'],
  ['src/gateway/http2/', ['node:http2'], 'the data path: streams of clients'],
  ['src/gateway/services/', ['node:http2'], 'the data path: streams to services'],
  ['src/gateway/tls-front.ts', ['node:tls'], 'the data path: TLS of client connections'],
  ['src/gateway/certificates/', ['node:tls'], 'contexts of certificates'],
  ['src/gateway/acme/dns/', ['node:net'], 'isIP: what form an address has'],
  ['src/gateway/acme/acme-order.ts', ['node:https'], 'which authorities the library for orders trusts'],
  [
    'src/router/xgress/',
    ['node:net', 'node:tls'],
    'the data path: connections of circuits that end at a router',
  ],
  [
    'src/sdk/hosting/',
    ['node:https', 'node:net'],
    'the data path: connections to the services that a tunnel hosts, and their health checks',
  ],
  [
    'src/router/tunnel/dns/',
    ['node:net'],
    'connections to upstreams of the name server; isIP: what form an address has',
  ],
  [
    'src/router/tunnel/tproxy/',
    ['node:dgram'],
    'the data path: connections and datagrams that are led to a tunnel',
  ],
  ['src/agent/backends/target-connection.ts', ['node:net', 'node:tls'], 'the data path: private services'],
  ['src/agent/', ['node:net'], 'the control socket, for its owner on this machine'],
  [
    'src/router/config/',
    ['node:net', 'node:tls'],
    'isIP: what form an address has; the authorities that come with Node',
  ],
  ['src/sdk/certificate-signing.ts', ['node:net'], 'isIP: what form an address has'],
  [
    'src/router/web/',
    ['node:http2', 'node:net'],
    'HTTP over connections that src/net accepted; isIP: what form an address has',
  ],
  ['src/control/pki/', ['node:net'], 'isIP: what form an address has'],
  [
    'src/control/shares/operations/api-tls.ts',
    ['node:https', 'node:tls'],
    'distinguishes a TLS server from its sockets',
  ],
  ['src/control/overlay/clients/peer-identity.ts', ['node:tls'], 'reads the certificate of a connection'],
  ['src/cli/agent-socket-client.ts', ['node:net'], 'a client of the agent’s control socket'],
  ['bin/lifetime.ts', ['node:net'], 'reads the pipe that ends with the launcher'],
  ['bin/port-memory.ts', ['node:net'], 'looks for free ports'],
  ['bin/shared-port.ts', ['node:net'], 'isIP: what form an address has'],
  ['bin/router-part.ts', ['node:net'], 'isIP: what form an address has'],
  ['bin/worker-ports.ts', ['node:net'], 'binds the ports that the workers of a gateway share'],
];

/** Folders and files that start processes or threads, and why. */
const PROCESS_USERS: readonly (readonly [prefix: string, reason: string])[] = [
  ['bin/', 'wiring: the launcher and the demo’s programs'],
  ['tools/', 'development commands'],
  ['src/control/store/', 'the database’s thread'],
  ['src/gateway/acme/dns-hook.ts', 'runs the operator’s program for DNS records'],
  ['src/cli/import/caddy/caddyfile-source.ts', 'runs `caddy adapt` for a Caddyfile'],
  ['src/cli/setup/setup-service.ts', 'starts the service of the installation by `systemctl`'],
  ['src/router/tunnel/machine/', 'sets addresses, rules and routes of the machine by its own programs'],
  ['src/router/tunnel/tproxy/', 'receives datagrams by calls that block'],
  ['src/net/files/process-identity.ts', 'asks `ps` when a process began, where there is no /proc'],
];

/**
 * Files that call C libraries by `node:ffi`, and why (ADR 0073). Agents, the SDK and what handles the bytes of gateways are never among
 * them: a wrong address or length corrupts memory instead of throwing.
 */
const FOREIGN_CALL_USERS: readonly (readonly [path: string, reason: string])[] = [
  [
    'src/gateway/accepting-servers.ts',
    'copies the descriptor of a listening socket; the call takes whole numbers only',
  ],
  ['src/router/tunnel/machine/socket-calls.ts', 'mode tproxy: sockets at addresses of other machines'],
  ['src/router/tunnel/tproxy/datagram-reader.ts', 'mode tproxy: the original destinations of datagrams'],
];

test('C libraries are called only where the list says', () => {
  const users = sourceFiles('src', 'bin').filter(({ text }) => text.includes("'node:ffi'"));
  assert.deepEqual(
    users.map(({ path }) => path).sort(),
    FOREIGN_CALL_USERS.map(([path]) => path),
  );
});

test('sockets are used only where the list says', () => {
  const wrong: string[] = [];
  for (const { path, imports } of sourceFiles('src', 'bin')) {
    if (isTest(path)) continue;
    const allowed = SOCKET_USERS.filter(([prefix]) => path.startsWith(prefix)).flatMap(
      ([, modules]) => modules,
    );
    for (const { specifier, typeOnly, line } of imports) {
      if (typeOnly || !SOCKET_MODULES.includes(specifier) || allowed.includes(specifier)) continue;
      wrong.push(`${path}:${line} uses ${specifier}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('the list allows no socket module that is not used', () => {
  const files = sourceFiles('src', 'bin').filter(({ path }) => !isTest(path));
  for (const [prefix, modules] of SOCKET_USERS) {
    const used = files
      .filter(({ path }) => path.startsWith(prefix))
      .flatMap(({ imports }) =>
        imports.filter(({ typeOnly }) => !typeOnly).map(({ specifier }) => specifier),
      );
    assert.deepEqual(
      modules.filter((name) => !used.includes(name)),
      [],
      prefix,
    );
  }
});

test('processes and threads are started only where the list says', () => {
  const allowed = PROCESS_USERS.map(([prefix]) => prefix);
  const wrong = sourceFiles('src', 'bin', 'tools')
    .filter(({ path }) => !isTest(path) && !allowed.some((prefix) => path.startsWith(prefix)))
    .filter(({ imports }) =>
      imports.some(
        ({ specifier, typeOnly }) =>
          !typeOnly && ['node:child_process', 'node:worker_threads', 'node:cluster'].includes(specifier),
      ),
    );
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});

test('no test sleeps: it awaits an event, with a deadline', () => {
  const sleeps = [
    /await (?:new Promise\S*\(\(?(\w+)\)? => (?:void )?setTimeout\(\1,|setTimeout\()/,
    /await (?:sleep|delay|wait)\(\s*[\d_]+\s*\)/,
    /\.wait\(\s*[\d_]+\s*\)/,
  ];
  const wrong: string[] = [];
  for (const { path, text } of sourceFiles('src', 'bin', 'test', 'tools')) {
    if (!path.endsWith('.test.ts') || path.startsWith('test/arch/')) continue;
    for (const [index, line] of text.split('\n').entries()) {
      if (sleeps.some((pattern) => pattern.test(line))) wrong.push(`${path}:${index + 1} ${line.trim()}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('only the outer ring uses the process environment and exits the process', () => {
  const allowed = [
    'bin/',
    'tools/',
    'src/cli/',
    // A program of its own.
    'src/agent/sample-service.ts',
    // A program of its own.
    'src/control/console/app/build-program.ts',
    // The variables of proxies are those of the program that uses the library.
    'src/sdk/library/outward.ts',
    // The router file's own rule: environment variables are substituted.
    'src/router/config/router-file.ts',
  ];
  const wrong = sourceFiles('src', 'bin', 'tools')
    .filter(({ path }) => !isTest(path) && !allowed.some((prefix) => path.startsWith(prefix)))
    .filter(({ text }) => /\bprocess\.(?:exit\(|exitCode\b|env\b|on\()/.test(text));
  assert.deepEqual(
    wrong.map(({ path }) => path),
    [],
  );
});
