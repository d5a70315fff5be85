import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { agentRequestShape, encodeAgentAnswer, type AgentRequest } from '#domain/agent-shapes';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { closerOf } from '../../test/support/server-sockets.ts';
import { runCli } from './cli-fixture.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).toReversed()) cleanup();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cli-tls-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** An agent that records what it is asked, and refuses it. */
async function recordingAgent(): Promise<{ socket: string; asked: AgentRequest[] }> {
  const socket = join(folder(), 'agent.sock');
  const asked: AgentRequest[] = [];
  const server = createServer((connection) => {
    connection.on('error', () => {});
    connection.once('data', (bytes: Buffer) => {
      const read = agentRequestShape.readText(bytes.toString());
      assert.ok('value' in read, 'problem' in read ? read.problem : '');
      const { id, ...request } = read.value;
      asked.push(request);
      const error = { kind: 'conflict', code: 'conflict', message: 'recorded' } as const;
      connection.end(encodeAgentAnswer(id, { ok: false, error }));
    });
  });
  cleanups.push(closerOf(server));
  server.listen(socket);
  await once(server, 'listening');
  return { socket, asked };
}

async function upstreamsOf(mode: 'public' | 'private', ...commands: readonly string[][]): Promise<unknown[]> {
  const { socket, asked } = await recordingAgent();
  for (const options of commands) {
    const ran = await runCli(['agent', 'share', mode, 'https://nas', '--socket', socket, ...options]);
    assert.match(ran.err, /recorded/);
  }
  return asked.map((request) => ('upstream' in request ? request.upstream : undefined));
}

test('of a pin, an authority and no verification, the last command decides', async () => {
  const { ca } = await makeTestAuthority();
  const file = join(folder(), 'ca.pem');
  writeFileSync(file, `A comment\n${ca}`);
  assert.deepEqual(
    await upstreamsOf(
      'private',
      ['--target-pin', 'c3'.repeat(32)],
      ['--target-ca', file, '--target-server-name', 'nas.test'],
      ['--target-insecure'],
      [],
    ),
    [
      { tlsPin: 'c3'.repeat(32), tlsCa: null, tlsInsecure: false },
      { tlsPin: null, tlsCa: `${ca.trim()}\n`, tlsInsecure: false, tlsServerName: 'nas.test' },
      { tlsPin: null, tlsCa: null, tlsInsecure: true },
      undefined,
    ],
  );
});

test('headers of a public share are set, added and removed by their sign', async () => {
  const rules = ['--request-header', 'X-A: b', '--request-header', '+X-A:c', '--response-header', '-Server'];
  assert.deepEqual(await upstreamsOf('public', rules), [
    {
      requestHeaders: [
        { action: 'set', name: 'X-A', value: 'b' },
        { action: 'add', name: 'X-A', value: 'c' },
      ],
      responseHeaders: [{ action: 'remove', name: 'Server' }],
    },
  ]);
  const ran = await runCli(['agent', 'share', 'public', 'https://nas', '--request-header', 'X-A']);
  assert.equal(ran.code, 2);
  assert.match(ran.err, /must be like X-Tenant:blue/);
});

test('a private key is not sent as an authority, and not printed', async () => {
  const { cert, key } = await (await makeTestAuthority()).issue('nas');
  const file = join(folder(), 'both.pem');
  writeFileSync(file, cert + key);
  const ran = await runCli(['agent', 'share', 'public', 'https://nas', '--target-ca', file]);
  assert.equal(ran.code, 2);
  assert.match(ran.err, /both\.pem must be a list of PEM certificates/);
  assert.doesNotMatch(ran.err, /BEGIN/);
  const missing = await runCli(['agent', 'share', 'public', 'https://nas', '--target-ca', '/no/ca.pem']);
  assert.match(missing.err, /--target-ca: \/no\/ca\.pem cannot be read/);
});

test('options that contradict each other are refused', async () => {
  const pin = ['--target-pin', 'c3'.repeat(32)];
  for (const other of [['--target-insecure'], ['--target-ca', 'ca.pem']])
    assert.equal((await runCli(['agent', 'share', 'public', 'https://nas', ...pin, ...other])).code, 2);
});

test('the certificate of a service is shown with the command that pins it', async () => {
  const { cert, key } = await (await makeTestAuthority()).issue('nas');
  const server = createHttpsServer({ cert, key });
  cleanups.push(closerOf(server));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { out, code } = await runCli(['agent', 'certificate', address]);
  const { fingerprint256 } = new X509Certificate(cert);
  assert.equal(code, 0);
  assert.ok(out.includes(`fingerprint  ${fingerprint256} (SHA-256)\nsubject      CN=nas\n`));
  assert.match(
    out,
    /issuer {7}CN=test CA\nvalid {8}20.*\nverified {5}no \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/,
  );
  const pin = fingerprint256.replaceAll(':', '').toLowerCase();
  assert.ok(out.endsWith(`  frontdoor agent share public https://${address} --target-pin ${pin}\n`));
  const json = await runCli(['agent', 'certificate', `https://${address}`, '--json']);
  assert.equal((JSON.parse(json.out) as { fingerprint: string }).fingerprint, fingerprint256);
});

test('a service without a certificate and a target that is no address are refused with the reason', async () => {
  const server = createServer((socket) => socket.end('plain'));
  cleanups.push(closerOf(server));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const plain = await runCli(['agent', 'certificate', address]);
  assert.match(plain.err, /presented no certificate: /);
  assert.notEqual(plain.code, 0);
  assert.equal((await runCli(['agent', 'certificate', 'http://nas'])).code, 2);
});
