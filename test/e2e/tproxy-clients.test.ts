// Programs that know nothing of the overlay through mode tproxy: ssh, iperf3 and psql on a machine behind the router's, and a
// router that is killed under 1,000 flows. All share one world.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { namespaceSkip, type NetworkNamespace } from '../support/network-namespace.ts';
import { POSTGRES_PASSWORD, postgresSkip, sharedPostgres, type PostgresAccess } from '../support/postgres.ts';
import { RouterMachine } from '../support/router-machine.ts';
import { makeSshdFiles, SSHD_FOLDER } from '../support/sshd.ts';

const skip = namespaceSkip('nft', 'ss', 'ssh', 'sshd', 'iperf3') || postgresSkip;
/** Debian keeps it out of the PATH of users. It wants to be started by its whole path. */
const SSHD = '/usr/sbin/sshd';
type Closing = Pick<TestContext, 'after'>;
const FLOWS = 1_000;
const SSH_BYTES = 5_000_000;
const IPERF_BYTES = 40_000_000;
const IPERF_DATAGRAM_BYTES = 1_000_000;
const ROWS = 50_000;

/** Starts a server, which ends with the test. Its log is in the failure of a client. */
function serve(t: Closing, machine: NetworkNamespace, program: string, args: readonly string[]): string[] {
  const output: string[] = [];
  const server: ChildProcess = machine.start(program, args, output);
  t.after(async () => {
    const ended = once(server, 'exit');
    if (server.exitCode === null && server.kill()) await ended;
  });
  return output;
}

/** Resolves when a server listens at the port. */
async function listening(machine: NetworkNamespace, port: number, output: readonly string[]): Promise<void> {
  await until(
    `a server at port ${port}`,
    () => machine.run('ss', '-Hltn', `sport = :${port}`),
    (text) => text !== '' || output.join('').includes('error'),
  );
}

async function startSshd(t: Closing, machine: NetworkNamespace, port: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-ssh-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { config, key } = makeSshdFiles(folder, port);
  // The server wants a folder there. Other programs of the namespace keep locks in it.
  await machine.run('mount', '-t', 'tmpfs', 'tmpfs', '/run');
  await machine.run('mkdir', SSHD_FOLDER);
  await listening(machine, port, serve(t, machine, SSHD, ['-D', '-e', '-f', config]));
  return key;
}

interface IperfResult {
  readonly end: {
    readonly sum_received?: { readonly bytes: number };
    readonly sum: { readonly packets: number };
  };
}

describe('clients that know nothing of the overlay', { skip }, () => {
  const closers: (() => unknown)[] = [];
  const world = { after: (close: () => unknown) => void closers.push(close) };
  let postgres: PostgresAccess;
  let router: RouterMachine;
  let lan: NetworkNamespace;
  let state: string;
  let key: string;

  before(async () => {
    postgres = await sharedPostgres();
    const [ssh, iperf] = [await freePort(), await freePort()];
    const targets = {
      tcp: {
        22: { host: '127.0.0.1', port: ssh },
        5201: { host: '127.0.0.1', port: iperf },
        5432: { path: postgres.socketPath },
      },
      udp: { 5201: { port: iperf } },
    };
    router = await RouterMachine.open(world, targets);
    const { machine } = router;
    lan = router.lan;
    state = await router.state();
    key = await startSshd(world, machine, ssh);
    await listening(
      machine,
      iperf,
      serve(world, machine, 'iperf3', ['-s', '-B', '127.0.0.1', '-p', String(iperf)]),
    );
    await router.start();
  });
  // The last one is the machine itself.
  after(async () => {
    for (const close of closers.toReversed()) await close();
  });

  test('ssh carries output, input and the status of a command', async () => {
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'LogLevel=ERROR',
      'BatchMode=yes',
    ];
    const login = [...options.flatMap((option) => ['-o', option]), '-i', key, 'root@10.9.1.4'];
    const command = `head -c ${SSH_BYTES} /dev/zero | tr '\\0' x`;
    assert.equal((await lan.run('ssh', ...login, command)).length, SSH_BYTES);
    await assert.rejects(lan.run('ssh', ...login, 'exit 7'), { code: 7 });
    const counted = `head -c ${SSH_BYTES} /dev/zero | ssh ${login.join(' ')} wc -c`;
    assert.equal((await lan.run('sh', '-c', counted)).trim(), String(SSH_BYTES));
  });

  test('iperf3 measures both directions over TCP, and datagrams', async () => {
    const measure = async (...args: readonly string[]): Promise<IperfResult> =>
      JSON.parse(await lan.run('iperf3', '-c', '10.9.1.5', '-J', ...args)) as IperfResult;
    for (const direction of [[], ['-R']]) {
      const { end } = await measure('-P', '4', '-n', String(IPERF_BYTES), ...direction);
      // Bytes that are in buffers at the end do not count.
      assert.ok(end.sum_received!.bytes > IPERF_BYTES / 10, JSON.stringify(end.sum_received));
    }
    const { end } = await measure('-u', '-b', '10M', '-l', '1200', '-n', String(IPERF_DATAGRAM_BYTES));
    assert.ok(end.sum.packets >= IPERF_DATAGRAM_BYTES / 1_200, JSON.stringify(end.sum));
  });

  test('psql sends and receives many rows', async () => {
    const { username, pathname } = new URL(await postgres.createDatabase());
    const url = `postgres://${username}:${POSTGRES_PASSWORD}@10.9.1.6${pathname}`;
    const rows = `generate_series(1, ${ROWS}) as n`;
    const psql = (...args: readonly string[]): Promise<string> =>
      lan.run(postgres.programPath('psql'), url, '-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', ...args);
    assert.equal((await psql('-c', `select n, repeat('x', 40) from ${rows}`)).split('\n').length, ROWS + 1);
    const copied = `seq ${ROWS} | "$0" "$1" -X -c 'create table t (n int)' -c 'copy t from stdin'`;
    await lan.run('sh', '-c', copied, postgres.programPath('psql'), url);
    assert.equal((await psql('-c', 'select sum(n) from t')).trim(), String((ROWS * (ROWS + 1)) / 2));
  });

  test('new flows work at once when a router that was killed under 1,000 flows is back', async () => {
    const output: string[] = [];
    const load = router.startLoad(world, FLOWS, output);
    const round = (number: number): Promise<unknown> =>
      until(
        `round ${number} of ${FLOWS} flows`,
        () => output.join(''),
        (text) => text.includes(`round ${number}\n`),
      );
    await round(0);
    await router.stop('SIGKILL');
    load.stdin!.write('again\n');
    await router.start();
    assert.match(await router.curl('http://10.9.1.2/a', lan), /^\/a /);
    await round(1);
    load.stdin!.write('again\n');
    await round(2);
    const ended = once(load, 'exit');
    load.stdin!.end();
    await ended;
  });

  test('the machine is as before when the router has stopped', async () => {
    await router.stop();
    assert.equal(await router.state(), state, router.text);
  });
});
