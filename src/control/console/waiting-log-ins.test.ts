// Log-ins of people who share an address wait for their turn, and newcomers do not displace their connections.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { after, before, it } from 'node:test';
import { until } from '../../../test/support/deadline.ts';
import { BASE_URL } from '../shares/operations/api-fixture.ts';
import { passwordTurns } from '../credentials/passwords/password-hash.ts';
import { waitingPasswords } from '../credentials/passwords/password-turns-fixture.ts';
import { CONSOLE_HOST, openConsoleWorld, type ConsoleWorld } from './console-fixture.ts';

const PASSWORD = 'plum giraffe engine 47';
const [MAX, OFFICE, NEWCOMERS] = [4, 8, 12];

let world: ConsoleWorld;
before(async () => {
  world = await openConsoleWorld({ limits: { maxUnproven: MAX } });
  await world.app.listen({ host: '127.0.0.1', port: 0 });
});
after(() => world.close());

const portOf = () => (world.app.server.address() as AddressInfo).port;

/** Returns the status, or 0 if the connection is closed without one. */
function logIn(localAddress: string, name: string): Promise<number> {
  const headers = {
    host: CONSOLE_HOST,
    origin: BASE_URL,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
  };
  const options = { host: '127.0.0.1', port: portOf(), localAddress, headers, agent: false, method: 'POST' };
  const sent = request({ ...options, path: '/console/log-in' });
  const { promise: status, resolve } = Promise.withResolvers<number>();
  sent.once('response', (answer) => resolve(answer.resume().statusCode ?? 0)).once('error', () => resolve(0));
  sent.end(new URLSearchParams({ name, password: PASSWORD }).toString());
  return status;
}

it('log-ins that wait for their turn are answered, however many connections come after them', async () => {
  await world.person('reader', 'ann@example.com');
  const { waiting, release } = waitingPasswords(passwordTurns);
  try {
    const statuses: Promise<number>[] = [];
    for (let at = 0; at < OFFICE; at += 1) {
      statuses.push(logIn('127.0.0.9', 'ann@example.com'));
      // One after the other: a newcomer may displace one whose request has not come yet.
      await until('it waits', waiting, (count) => count > at);
    }
    for (let at = 0; at < NEWCOMERS; at += 1) {
      const newcomer = connect({ port: portOf(), host: '127.0.0.1', localAddress: `127.0.1.${at}` });
      newcomer.on('error', () => {});
      await once(newcomer, 'connect');
    }
    await release();
    assert.deepEqual(new Set(await Promise.all(statuses)), new Set([303]));
  } finally {
    await release();
  }
});
