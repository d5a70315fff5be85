// The options of `frontdoor tunnel`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCli } from './cli-fixture.ts';
import type { TunnelHostCommandOptions, TunnelProxyCommandOptions } from './tunnel-command.ts';

interface Parsed {
  readonly options: TunnelProxyCommandOptions | undefined;
  readonly err: string;
}

async function proxy(...args: readonly string[]): Promise<Parsed> {
  let options: TunnelProxyCommandOptions | undefined;
  const tunnelProxy = async (given: TunnelProxyCommandOptions): Promise<void> => void (options = given);
  const { err, code } = await runCli(['tunnel', 'proxy', ...args], {}, {}, { tunnelProxy });
  assert.equal(code, options === undefined ? 2 : 0);
  return { options, err };
}

test('tunnel proxy takes services with their ports, names with colons too', async () => {
  const services = ['db:5432', 'a:b c:0', 'web:80:tcp', 'dns:53:udp'].flatMap((one) => ['--service', one]);
  assert.deepEqual((await proxy('--identity', 'i.json', ...services)).options, {
    identity: 'i.json',
    logLevel: 'info',
    logFormat: 'auto',
    listen: '127.0.0.1',
    service: [
      { service: 'db', port: 5_432, protocol: 'tcp' },
      { service: 'a:b c', port: 0, protocol: 'tcp' },
      { service: 'web', port: 80, protocol: 'tcp' },
      { service: 'dns', port: 53, protocol: 'udp' },
    ],
    udpIdleTimeout: 300_000,
  });
});

test('tunnel proxy takes the idle time of sources of datagrams as a duration, within its limits', async () => {
  const args = ['--identity', 'i.json', '--service', 'dns:53:udp', '--udp-idle-timeout'];
  assert.equal((await proxy(...args, '90s')).options?.udpIdleTimeout, 90_000);
  for (const wrong of ['90', '0s', '25h', 'PT0.5S'])
    assert.match((await proxy(...args, wrong)).err, /must be a duration from 1s to 24h/);
});

test('tunnel proxy refuses what it cannot carry, and a service or identity that is missing', async () => {
  const cases = {
    db: /must be NAME:PORT or NAME:PORT:udp, such as db:5432/,
    ':80': /must be NAME:PORT/,
    'db:65536': /must be NAME:PORT/,
    'dns:53:sctp': /must be NAME:PORT or NAME:PORT:udp/,
  };
  for (const [service, message] of Object.entries(cases))
    assert.match((await proxy('--identity', 'i.json', '--service', service)).err, message);
  assert.match((await proxy('--identity', 'i.json')).err, /--service <name:port\[:udp\]>' not specified/);
  assert.match((await proxy('--service', 'db:1')).err, /--identity <file>' not specified/);
  const many = Array.from({ length: 257 }, (_one, i) => ['--service', `s${i}:0`]).flat();
  assert.match((await proxy('--identity', 'i.json', ...many)).err, /256 times at most/);
});

test('tunnel host takes services with and without a target, and no others', async () => {
  const given: TunnelHostCommandOptions['service'][] = [];
  const tunnelHost = async ({ service }: TunnelHostCommandOptions): Promise<void> => void given.push(service);
  const host = (...args: readonly string[]) =>
    runCli(['tunnel', 'host', '--identity', 'i.json', ...args], {}, {}, { tunnelHost });
  assert.equal((await host()).code, 0);
  assert.equal((await host('--service', 'db', '--service', 'web=[::1]:80')).code, 0);
  assert.deepEqual(given, [[], [{ service: 'db' }, { service: 'web', target: { host: '::1', port: 80 } }]]);
  for (const wrong of ['', 'db=', '=127.0.0.1:80', 'db=127.0.0.1', 'db=127.0.0.1:0'])
    assert.match((await host('--service', wrong)).err, /must be NAME or NAME=HOST:PORT/);
});
