// What programs report to systemd, through the real `systemd-notify` into a socket of datagrams. `hangup.test.ts` has the programs.
import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it } from 'node:test';
import { ServiceManager } from '../../bin/service-manager.ts';
import { recordingLog, type LogRecord } from '../support/recording-log.ts';
import { openServiceMessages } from '../support/service-messages.ts';

const PIDS = [process.pid];
/** Half of it passes between two messages. */
const SHORT_WATCHDOG_USEC = '200000';

describe('a program that systemd started', () => {
  it('reports that it is ready, reads its files again, and stops, in this order', async (t) => {
    const { socket, take } = await openServiceMessages(t);
    const manager = new ServiceManager({ variables: { NOTIFY_SOCKET: socket }, pids: PIDS });
    // A signal that comes before it is ready.
    manager.reloading();
    manager.reloaded();
    manager.ready();
    await manager.sent();
    manager.reloading();
    await manager.sent();
    manager.reloaded();
    await manager.sent();
    manager.stopping();
    assert.deepEqual(await take(4), ['READY=1', 'RELOADING=1', 'READY=1', 'STOPPING=1']);
  });

  it('sends the last of equal messages that wait, so that a reload ends', async (t) => {
    const { socket, take } = await openServiceMessages(t);
    const manager = new ServiceManager({ variables: { NOTIFY_SOCKET: socket }, pids: PIDS });
    manager.ready();
    for (let reload = 0; reload < 10; reload += 1) {
      manager.reloading();
      manager.reloaded();
    }
    await manager.sent();
    assert.deepEqual(await take(3), ['READY=1', 'RELOADING=1', 'READY=1']);
  });

  it('satisfies a watchdog of this process until it stops, and none of another', async (t) => {
    const { socket, take } = await openServiceMessages(t);
    const watched = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: SHORT_WATCHDOG_USEC };
    const other = new ServiceManager({ variables: { ...watched, WATCHDOG_PID: '1' }, pids: PIDS });
    other.ready();
    await other.sent();
    const manager = new ServiceManager({
      variables: { ...watched, WATCHDOG_PID: String(process.pid) },
      pids: PIDS,
    });
    manager.ready();
    const [ofOther, ready, ...more] = await take(5);
    manager.stopping();
    await manager.sent();
    assert.deepEqual([ofOther, ready], ['READY=1', 'READY=1']);
    assert.ok(more.length >= 3 && more.every((message) => message === 'WATCHDOG=1'), more.join());
    const rest = await take(1);
    assert.equal(rest.at(-1), 'STOPPING=1');
  });

  it('logs once that nothing takes its messages, and continues', async () => {
    const records: LogRecord[] = [];
    const manager = new ServiceManager({ variables: { NOTIFY_SOCKET: '/nonexistent/notify' }, pids: PIDS });
    manager.logTo(recordingLog((record) => records.push(record)));
    manager.ready();
    await manager.sent();
    manager.reloading();
    await manager.sent();
    assert.deepEqual(
      records.map(({ message }) => message),
      ['systemd could not be notified'],
    );
  });

  it('has nothing to report without a socket', async () => {
    const manager = new ServiceManager({ variables: {}, pids: PIDS });
    manager.ready();
    manager.stopping();
    assert.equal(await manager.sent(), undefined);
  });
});
