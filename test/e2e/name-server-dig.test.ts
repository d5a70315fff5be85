// The name server of mode tproxy, as dig uses it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { silentLog, systemClock } from '#base';
import { NameServer, type NameServerOptions } from '#router';
import { findCommand } from '../support/child-process.ts';
import { freePort } from '../support/free-port.ts';

const DIG = findCommand('dig');
const skip =
  DIG === undefined && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? 'dig is not installed' : false;

interface Dug {
  readonly status: string;
  readonly flags: readonly string[];
  /** Records of the answer section, as dig prints them with single spaces. */
  readonly answer: readonly string[];
  readonly text: string;
}

async function dig(port: number, ...args: readonly string[]): Promise<Dug> {
  const all = ['@127.0.0.1', '-p', `${port}`, '+tries=1', '+time=5', ...args];
  const { stdout: text } = await promisify(execFile)(DIG!, all);
  const section = /;; ANSWER SECTION:\n([\s\S]*?)\n\n/.exec(text)?.[1] ?? '';
  return {
    status: /status: (\w+)/.exec(text)?.[1] ?? '',
    flags: (/;; flags: ([^;]*);/.exec(text)?.[1] ?? '').split(' '),
    answer: section
      .split('\n')
      .filter(Boolean)
      .map((line) => line.replace(/\s+/g, ' ')),
    text,
  };
}

describe('dig', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-dig-'));
  const file = join(folder, 'names');
  const servers: NameServer[] = [];

  async function open(
    config: Partial<NameServerOptions['config']>,
    name: string,
  ): Promise<{ server: NameServer; port: number }> {
    const server = await NameServer.open({
      config: {
        path: 'listeners[0]',
        resolvers: [{ kind: 'udp', host: '127.0.0.1', port: await freePort() }],
        dnsSvcIpRange: '100.64.0.1/10',
        dnsUpstreams: [],
        dnsUpstreamMode: 'parallel',
        dnsUnanswerable: 'refused',
        ...config,
      },
      file: `${file}-${name}`,
      placeOf: (path) => path,
      isInUse: () => false,
      clock: systemClock,
      log: silentLog,
    });
    servers.push(server);
    return { server, port: server.ports[0]! };
  }

  let port = 0;
  let upstreamPort = 0;
  before(async () => {
    // The upstream is a second name server: what it answers for its own names, the first one forwards.
    const upstream = await open({ dnsSvcIpRange: '10.20.0.1/16', dnsUnanswerable: 'servfail' }, 'upstream');
    upstream.server.names.add('*.else.test', 'other');
    upstreamPort = upstream.port;
    const dnsUpstreams = [{ protocol: 'udp' as const, host: '127.0.0.1', port: upstreamPort }];
    const own = await open({ dnsUpstreams }, 'own');
    own.server.names.add('web.test', 's1');
    own.server.names.add('*.apps.test', 's2');
    port = own.port;
  });
  after(async () => {
    for (const server of servers) await server.close();
    rmSync(folder, { recursive: true });
  });

  it('gets the address of a service, over UDP and TCP, with and without EDNS', async () => {
    for (const args of [[], ['+tcp'], ['+noedns'], ['+dnssec'], ['+nocookie'], ['+bufsize=512']]) {
      const { status, flags, answer } = await dig(port, 'WEB.test', ...args);
      assert.deepEqual([status, answer], ['NOERROR', ['WEB.test. 60 IN A 100.64.0.2']], args.join());
      assert.deepEqual(
        flags.filter((flag) => flag !== 'rd' && flag !== 'ad'),
        ['qr', 'aa', 'ra'],
      );
    }
  });

  it('gets no warning about the form of any answer', async () => {
    for (const args of [
      ['web.test', 'A'],
      ['web.test', 'AAAA'],
      ['web.test', 'HTTPS'],
      ['new.apps.test', 'A'],
      ['no.such', 'A'],
      ['web.test', 'CH', 'TXT'],
      ['web.test', 'AXFR'],
      ['web.test', '+edns=1', '+noednsneg'],
      ['web.test', '+opcode=2', '+noedns'],
    ]) {
      // Whether recursion is available depends on the upstream.
      const text = (await dig(port, ...args)).text.replace(/^.*recursion requested.*$/m, '');
      assert.doesNotMatch(text, /WARNING|malformed|mismatch|extra (?:data|bytes)|unexpected/i, text);
    }
  });

  it('gets an empty answer for AAAA of a name of a service', async () => {
    const { status, answer, text } = await dig(port, 'web.test', 'AAAA');
    assert.deepEqual([status, answer], ['NOERROR', []]);
    assert.match(text, /web\.test\.\s+60\s+IN\s+SOA/);
  });

  it('gets what the upstream answers for other names, and REFUSED or SERVFAIL as that does', async () => {
    const { status, answer } = await dig(port, 'a.else.test');
    assert.deepEqual([status, answer], ['NOERROR', ['a.else.test. 60 IN A 10.20.0.2']]);
    assert.equal((await dig(port, 'nobody.knows')).status, 'SERVFAIL');
    assert.equal((await dig(port, '+tcp', 'b.else.test')).answer.length, 1);
  });

  it('gets each name of a wildcard its own address, and the same one again after a restart', async () => {
    const { server, port: first } = await open({}, 'restarted');
    server.names.add('*.apps.test', 's');
    const names = Array.from({ length: 20 }, (_, index) => `n${index}.apps.test`);
    const before = await Promise.all(names.map((name) => dig(first, name)));
    await server.close();
    const again = await open({}, 'restarted');
    again.server.names.add('*.apps.test', 's');
    const restarted = await Promise.all(names.toReversed().map((name) => dig(again.port, name)));
    assert.deepEqual(
      restarted.toReversed().map(({ answer }) => answer),
      before.map(({ answer }) => answer),
    );
    assert.equal(new Set(before.map(({ answer }) => answer[0]!.split(' ').at(-1))).size, names.length);
  });
});
