import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { describe, it, type TestContext } from 'node:test';
import { silentLog } from '#base';
import { within } from '../../test/support/deadline.ts';
import { AcceptingServers, type ListenAddress } from './accepting-servers.ts';

const HERE: ListenAddress = { host: '127.0.0.1', port: 0 };
/** `O_CLOEXEC` in the flags of `/proc/self/fdinfo`. */
const CLOSED_FOR_PROGRAMS = 0o2_000_000;
const MAX_TURNS = 100_000;
const onLinux = { skip: process.platform !== 'linux' && 'the system is not Linux' };

const openedAt = async (
  test: TestContext,
  onSocket: (socket: Socket) => void,
  address = HERE,
): Promise<AcceptingServers> => {
  const servers = await AcceptingServers.open(address, {}, silentLog, onSocket);
  test.after(() => servers.close());
  return servers;
};

/** By descriptor, the sockets that this process has open. */
function openSockets(): ReadonlyMap<string, string> {
  const linkOf = (fd: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return 'closed in the meantime';
    }
  };
  const links = readdirSync('/proc/self/fd').map((fd) => [fd, linkOf(fd)] as const);
  return new Map(links.filter(([, link]) => link.startsWith('socket:')));
}

describe('the servers of an address', () => {
  it('accept several of the connections that wait, in one turn of the event loop', onLinux, async (test) => {
    let accepted = 0;
    const { promise: allAccepted, resolve } = Promise.withResolvers<void>();
    const servers = await openedAt(test, (socket) => {
      accepted += 1;
      socket.destroy();
      if (accepted === 24) resolve();
    });
    const inTurns: number[] = [];
    let turns = 0;
    const count = (): void => {
      const before = inTurns.reduce((sum, each) => sum + each, 0);
      if (accepted > before) inTurns.push(accepted - before);
      turns += 1;
      if (accepted < 24 && turns < MAX_TURNS) setImmediate(count);
    };
    // The kernel completes all of them before this turn ends.
    const clients = Array.from({ length: 24 }, () =>
      connect(servers.port, '127.0.0.1').on('error', () => {}),
    );
    setImmediate(count);
    await within('24 connections', allAccepted);
    for (const client of clients) client.destroy();
    assert.ok(inTurns.length <= 4, `24 connections took the turns ${inTurns.join(', ')}`);
  });

  it('leave no descriptor to programs that this one starts', onLinux, async (test) => {
    const before = openSockets();
    await openedAt(test, () => {});
    const opened = [...openSockets()].filter(([fd, link]) => before.get(fd) !== link);
    assert.equal(new Set(opened.map(([, link]) => link)).size, 1, 'copies of one socket');
    assert.ok(opened.length > 1, `${opened.length} descriptors`);
    for (const [fd] of opened) {
      const flags = /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
      assert.ok((Number.parseInt(flags!, 8) & CLOSED_FOR_PROGRAMS) !== 0, `descriptor ${fd}: ${flags}`);
    }
  });

  it('refuse a port that is taken and an address that is not of this machine', async (test) => {
    const { port } = await openedAt(test, () => {});
    const open = (address: ListenAddress) => AcceptingServers.open(address, {}, silentLog, () => {});
    await assert.rejects(open({ ...HERE, port }), {
      code: 'port-taken',
      message: `127.0.0.1:${port} is taken`,
    });
    await assert.rejects(open({ ...HERE, host: '192.0.2.7' }), { code: 'cannot-listen' });
    await assert.rejects(open({ ...HERE, host: 'nowhere.invalid' }), { code: 'cannot-listen' });
  });

  it('accept at every address of the machine when the host is empty', async (test) => {
    const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
    const { port } = await openedAt(test, resolve, { ...HERE, host: '' });
    const client = connect(port, '127.0.0.2').on('error', () => {});
    (await within('a connection', accepted)).destroy();
    client.destroy();
  });

  it('give the port back when they close, after they accepted those that wait', async (test) => {
    let accepted = 0;
    const servers = await openedAt(test, (socket) => {
      accepted += 1;
      socket.destroy();
    });
    const clients = Array.from({ length: 12 }, () =>
      connect(servers.port, '127.0.0.1').on('error', () => {}),
    );
    servers.close();
    await within('the ends of 12 clients', Promise.all(clients.map((client) => once(client, 'close'))));
    assert.equal(accepted, 12);
    const next = await openedAt(test, () => {}, { ...HERE, port: servers.port });
    assert.equal(next.port, servers.port);
  });
});
