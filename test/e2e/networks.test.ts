// An agent and a gateway in networks as they are: dead addresses, IPv6, name servers that fail, addresses that change, sleep.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { after, afterEach, before, describe, test } from 'node:test';
import { callAgent } from '#cli';
import {
  CustomerSite,
  PROXY_ADDRESS,
  SERVER_ADDRESS,
  SERVER_NAME,
  SITE_ADDRESS,
  type SiteProcess,
} from '../support/customer-site.ts';
import { until } from '../support/deadline.ts';
import { namespaceSkip } from '../support/network-namespace.ts';

const skip = namespaceSkip('nft', 'curl', 'dnsmasq');
const WAIT_MS = 60_000;
const GATEWAY_PORT = 8090;
/** After a change of addresses, or sleep. */
const BACK_MS = 15_000;
/** After a name server is back. */
const RESOLVED_MS = 10_000;
/** Less than what the system takes to give up an address. */
const DEAD_MS = 2_500;
/** Nothing answers there. */
const DEAD_ADDRESS = '192.0.2.9';
const [SERVER_V6, SITE_V6] = ['fd00::1', 'fd00::2'];
const NAME_SERVER = [
  '--keep-in-foreground',
  '--no-resolv',
  '--no-hosts',
  '--bind-interfaces',
  '--conf-file=/dev/null',
  // It reads its file again as this user.
  '--user=root',
];
const SERVICE = `require('node:http').createServer((q, r) => r.end('from the site')).listen(8000, '127.0.0.1')`;
/** Two requests over new connections, and the milliseconds that each took. */
const TIMED = `
import { OutwardDialer } from '#net';
import { JsonClient } from '#net/http';
const outward = new OutwardDialer();
const times = [];
for (let i = 0; i < 2; i += 1) {
  const client = new JsonClient({ origin: process.argv[1], outward, ca: process.argv[2] });
  const startMs = performance.now();
  const { status } = await client.request({ method: 'GET', path: '/openapi.json' });
  if (status !== 200) throw new Error(String(status));
  times.push(performance.now() - startMs);
  await client.close();
}
console.log(JSON.stringify(times));
`;

const FAKETIME =
  process.env['FAKETIME_LIBRARY'] ??
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`;
const noFaketime = existsSync(FAKETIME) ? false : 'libfaketime is not installed';
/** Variables that move the clock of a program. */
const fakedTime = (offset: string) => ({
  LD_PRELOAD: FAKETIME,
  FAKETIME: offset,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

describe('networks as they are', { skip }, () => {
  const cleaners: (() => unknown)[] = [];
  let at: CustomerSite;
  let agent: SiteProcess;
  let gateway: SiteProcess;
  /** At the gateway of `up`, and at another one in the site. */
  const answer = async (): Promise<string> => {
    const near = await at.answerOf('app');
    return served(near) ? at.answerNear('app', GATEWAY_PORT) : near;
  };
  const served = (text: string): boolean => text === 'from the site';
  const serves = (what: string, withinMs = WAIT_MS) => until(what, answer, served, withinMs);

  before(async () => {
    at = await CustomerSite.open({ after: (cleaner) => void cleaners.push(cleaner as () => unknown) });
    await at.world.run('ip', 'addr', 'add', `${SERVER_V6}/64`, 'dev', 'lan', 'nodad');
    await at.site.run('ip', 'addr', 'add', `${SITE_V6}/64`, 'dev', 'lan', 'nodad');
    await at.startUp({ args: ['--listen', '::'] });
    await at.setNames(at.site, [`${SERVER_ADDRESS} ${SERVER_NAME}`]);
    at.start(at.site, process.execPath, ['-e', SERVICE]);
    agent = at.startAgent('agent', {}, ['--enrollment-token-file', await at.enrollmentCode('agent')]);
    await until('the agent', () => at.status('agent'), Boolean, WAIT_MS);
    const share = { mode: 'public', target: 'http://127.0.0.1:8000', grants: [], name: 'app' } as const;
    await callAgent(at.socketOf('agent'), { op: 'share', ...share });
    const jwt = at.file('gateway.jwt');
    const made = ['fabric', 'gateway', 'create', 'far', '--out', jwt, '--ca', at.file('api-ca.pem')];
    await at.frontdoor(at.world, made);
    gateway = at.startGateway(GATEWAY_PORT, jwt);
    await serves('the share');
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false) {
      console.error(agent?.text().slice(-3_000));
      console.error(gateway?.text().slice(-3_000));
    }
  });
  after(async () => {
    for (const clean of cleaners.reverse()) await clean();
  });

  /** The agent of the same directory again. */
  const restart = async (): Promise<void> => {
    await agent.stop('SIGKILL');
    agent = at.startAgent('agent', {});
  };
  const block = async (rule: string): Promise<() => Promise<unknown>> => {
    await at.site.run('nft', 'add', 'table', 'inet', 'net');
    await at.site.run('nft', 'add', 'chain', 'inet', 'net', 'out', '{ type filter hook output priority 0; }');
    await at.site.run('nft', 'add', 'rule', 'inet', 'net', 'out', rule);
    return () => at.site.run('nft', 'delete', 'table', 'inet', 'net');
  };
  const nameServer = (address: string, ...names: readonly string[]): SiteProcess =>
    at.start(at.world, 'dnsmasq', [...NAME_SERVER, `--listen-address=${address}`, ...names]);
  const enrollRouter = async (): Promise<() => SiteProcess> => {
    const [config, jwt] = [at.file('berlin.yml'), at.file('berlin.jwt')];
    const made = ['fabric', 'router', 'create', 'berlin', '--config', config, '--out', jwt];
    await at.frontdoor(at.world, [...made, '--advertise', 'berlin.example', '--ca', at.file('api-ca.pem')]);
    // The files of a router are beside each other.
    const inFolder = ['-C', at.folder, process.execPath, `${at.root}/bin/frontdoor.ts`, 'router'];
    await at.site.run('env', ...inFolder, 'enroll', config, '--jwt', jwt);
    return () => at.start(at.site, 'env', [...inFolder, 'run', config]);
  };
  let enrolled: Promise<() => SiteProcess> | undefined;
  /** A router in the site. */
  const startRouter = async (withinMs: number): Promise<SiteProcess> => {
    const router = (await (enrolled ??= enrollRouter()))();
    await connects(router, 1, withinMs);
    return router;
  };
  const connections = (router: SiteProcess): number =>
    router.text().split('connected to controller').length - 1;
  const connects = (router: SiteProcess, times: number, withinMs: number) =>
    until(
      `connection ${times} of the router`,
      () => connections(router),
      (count) => count >= times,
      withinMs,
    );
  const timed = async (): Promise<readonly number[]> => {
    const url = `https://${SERVER_NAME}:8081`;
    const args = ['--input-type=module', '-e', TIMED, url, at.apiCa];
    return JSON.parse(await at.site.run('env', '-C', at.root, process.execPath, ...args)) as number[];
  };

  const doctor = async (env: Readonly<Record<string, string>>) => {
    const args = ['doctor', '--json', '--ca', at.file('api-ca.pem'), '--agent-dir', at.file('agent')];
    const text = await at
      .frontdoor(at.site, args, env)
      .catch((error: unknown) => (error as { stdout: string }).stdout);
    return (JSON.parse(text) as { findings: { check: string; state: string; message: string }[] }).findings;
  };

  test('a dead address among several costs less than a second, and nothing the next time', async () => {
    const unblock = await block(`ip daddr ${DEAD_ADDRESS} drop`);
    for (const names of [
      [`${DEAD_ADDRESS} ${SERVER_NAME}`, `${SERVER_ADDRESS} ${SERVER_NAME}`],
      [`fd00::9 ${SERVER_NAME}`, `${DEAD_ADDRESS} ${SERVER_NAME}`, `${SERVER_ADDRESS} ${SERVER_NAME}`],
    ]) {
      await at.setNames(at.site, names);
      const [first, second] = await timed();
      assert.ok(first! < DEAD_MS && second! < DEAD_MS, `${first} ms, then ${second} ms`);
    }
    await restart();
    await serves('the share', BACK_MS);
    await unblock();
  });

  test('IPv6 alone is enough', async () => {
    await at.setNames(at.site, [`${SERVER_V6} ${SERVER_NAME}`]);
    const unblock = await block(`ip daddr 192.0.2.0/24 drop`);
    await restart();
    await serves('the share', BACK_MS);
    await unblock();
  });

  test('IPv6 that loses everything costs less than a second', async () => {
    await at.setNames(at.site, [`${SERVER_V6} ${SERVER_NAME}`, `${SERVER_ADDRESS} ${SERVER_NAME}`]);
    const unblock = await block(`ip6 daddr ${SERVER_V6} drop`);
    const [first, second] = await timed();
    assert.ok(first! < DEAD_MS && second! < DEAD_MS, `${first} ms, then ${second} ms`);
    await restart();
    await serves('the share', BACK_MS);
    await unblock();
  });

  test('a name server that is silent at the start ends nothing, and the agent connects when it is back', async () => {
    await at.setNames(at.site, [], `nameserver ${SERVER_ADDRESS}\n`);
    await restart();
    await until(
      'a failure',
      () => agent.text(),
      (text) => /EAI_AGAIN|did not respond in time/.test(text),
      WAIT_MS,
    );
    assert.equal(agent.child.exitCode, null);
    const dns = nameServer(SERVER_ADDRESS, `--host-record=${SERVER_NAME},${SERVER_ADDRESS}`);
    await serves('the share', RESOLVED_MS);
    await dns.stop('SIGKILL');
    await at.setNames(at.site, [`${SERVER_ADDRESS} ${SERVER_NAME}`]);
  });

  test('the agent and a router follow the server to the address that its name server answers with', async () => {
    const hosts = at.file('moving.hosts');
    const answerWith = (address: string): void => writeFileSync(hosts, `${address} ${SERVER_NAME}\n`);
    answerWith(SERVER_ADDRESS);
    const dns = nameServer(PROXY_ADDRESS, `--addn-hosts=${hosts}`);
    await at.setNames(at.site, [], `nameserver ${PROXY_ADDRESS}\noptions timeout:1\n`);
    const router = await startRouter(WAIT_MS);
    const move = async (address: string): Promise<void> => {
      await at.moveServer(address);
      answerWith(address);
      dns.child.kill('SIGHUP');
    };
    await move('192.0.2.4');
    await Promise.all([serves('the share', BACK_MS), connects(router, 2, BACK_MS)]);
    await router.stop();
    await move(SERVER_ADDRESS);
    await serves('the share', BACK_MS);
    await dns.stop('SIGKILL');
    await at.setNames(at.site, [`${SERVER_ADDRESS} ${SERVER_NAME}`]);
  });

  test('a router that lost its connection without an end is back at once', async () => {
    const lost = await startRouter(WAIT_MS);
    const unblock = await block('tcp flags & (fin | rst) != 0 drop');
    await lost.stop('SIGKILL');
    const router = await startRouter(BACK_MS);
    await unblock();
    await router.stop();
  });

  test('the agent is back after sleep, with another address of its own', async () => {
    agent.child.kill('SIGSTOP');
    await at.site.run('ip', 'addr', 'del', `${SITE_ADDRESS}/24`, 'dev', 'lan');
    await at.site.run('ip', 'addr', 'add', '192.0.2.5/24', 'dev', 'lan');
    const lost = () => at.answerOf('app');
    await until('the loss', lost, (text) => text.includes('curl: (22)'), WAIT_MS);
    agent.child.kill('SIGCONT');
    await serves('the share', BACK_MS);
  });

  test(
    'a clock that is wrong by an hour or a year is named with the time of the server',
    { skip: noFaketime },
    async () => {
      const timeOfServer = `that of the server says ${new Date().toISOString().slice(0, 13)}`;
      for (const [offset, connects] of [
        ['+1h', true],
        ['-1h', true],
        ['+400d', false],
        ['-400d', false],
      ] as const) {
        await agent.stop('SIGKILL');
        const env = fakedTime(offset);
        agent = at.startAgent('agent', env);
        const isSeen = (text: string) => text.includes(timeOfServer);
        await until(`the time in the log at ${offset}`, () => agent.text(), isSeen, WAIT_MS);
        const { value: status } = await until('the status', () => at.status('agent'), Boolean, WAIT_MS);
        assert.ok(isSeen(`${status?.clockProblem} ${status?.problem}`), JSON.stringify(status));
        if (connects) await serves('the share');
        const found = await doctor(env);
        const finding = found.find(({ check }) => check === 'clock');
        assert.equal(finding?.state, 'failure');
        assert.match(
          finding.message,
          new RegExp(`^this clock is \\d+ s .*, which says ${new Date().toISOString().slice(0, 13)}`),
        );
      }
    },
  );
});
