// `frontdoor up` with certificates of its own: shown by server name, read again on SIGHUP; a second signal ends a drain.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { makeTestAuthority } from '../support/certificates.ts';
import { until, within } from '../support/deadline.ts';
import { PartProcess } from '../support/part-process.ts';

const HOST = 'shop.example';
const ZONE = 'share.localhost';

interface Ready {
  readonly gatewayUrl: string;
  readonly apiUrl: string;
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
}

const folder = mkdtempSync(join(tmpdir(), 'up-certificates-'));
const tlsDir = join(folder, 'tls');
const dataDir = join(folder, 'data');
const readyFile = join(folder, 'ready.json');
const authority = await makeTestAuthority();
const up = new PartProcess<Ready>({
  name: 'up',
  readyFile,
  args: () => ['up', '--any-port', '--data-dir', dataDir, '--tls-dir', tlsDir, '--ready-file', readyFile],
});

before(async () => {
  mkdirSync(tlsDir);
  await putCertificate('first');
  await up.start();
});
after(async () => {
  await up.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function putCertificate(name: string): Promise<void> {
  const { cert, key } = await authority.issue(name, { dns: [HOST] });
  writeFileSync(join(tlsDir, 'shop.key'), key, { mode: 0o600 });
  writeFileSync(join(tlsDir, 'shop.crt'), cert);
}

async function shownFor(servername: string): Promise<string> {
  const { https } = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as { https: number };
  const socket = connect({ port: https, host: '127.0.0.1', servername, rejectUnauthorized: false });
  await within('a handshake', once(socket, 'secureConnect'));
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

test('a certificate of the folder is shown for its names, ours for the zone, and a new one after SIGHUP', async () => {
  assert.equal(await shownFor(HOST), 'first');
  assert.notEqual(await shownFor('app.share.localhost'), 'first');
  await putCertificate('second');
  assert.equal(await shownFor(HOST), 'first', 'no signal was sent yet');
  process.kill(up.pid, 'SIGHUP');
  await until(
    'the new one is shown',
    () => shownFor(HOST),
    (name) => name === 'second',
  );
  writeFileSync(join(tlsDir, 'shop.crt'), 'half');
  process.kill(up.pid, 'SIGHUP');
  await until(
    'the reload is logged',
    () => up.output,
    (output) => output.includes('keeping the last good certificate'),
  );
  assert.equal(await shownFor(HOST), 'second');
});

test('shares have HTTPS addresses once a certificate covers their names', async () => {
  const { apiUrl, frontdoorId, accountId, apiToken } = up.ready;
  const frontends = async (): Promise<string> => {
    const headers = { authorization: `Basic ${accountId}:${apiToken}` };
    const answer = await fetch(`${apiUrl}/frontdoor/${frontdoorId}/frontends`, { headers });
    return answer.text();
  };
  assert.match(await frontends(), /"http:\/\/\{token\}\.share\.localhost:\d+"/);
  const { cert, key } = await authority.issue('zone', { dns: [`*.${ZONE}`] });
  writeFileSync(join(tlsDir, 'zone.key'), key, { mode: 0o600 });
  writeFileSync(join(tlsDir, 'zone.crt'), cert);
  process.kill(up.pid, 'SIGHUP');
  const { https } = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as { https: number };
  await until('the address', frontends, (text) => text.includes(`"https://{token}.${ZONE}:${https}"`));
});

test('a drain is cut short by a second signal, and the end is clean', async () => {
  const { port } = new URL(up.ready.gatewayUrl);
  const held = connectPlain(Number(port), '127.0.0.1');
  held.on('error', () => {});
  held.write('GET / HTTP/1.1\r\nHost: ');
  await once(held, 'connect');
  const draining = new Promise<void>((resolve) => {
    up.watch((line) => {
      if (line.includes('"stopping"')) resolve();
    });
  });
  process.kill(up.pid, 'SIGTERM');
  await within('it drains', draining);
  // A drain takes up to 30 s.
  assert.equal(await up.stop('SIGINT', 25_000), 0, up.output);
  held.destroy();
});
