// Shares that were quiet when the last control plane went, all parts processes: circuits that wait for such a time.
import assert from 'node:assert/strict';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../support/deadline.ts';
import type { Separate } from '../support/separate.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';

const SHARES = ['quiet-one', 'quiet-two', 'quiet-three'];
const STANDBY_PER_SHARE = 2;
const WAIT_MS = 60_000;

describe('while no control plane answers, open shares that were quiet', () => {
  let origin: Server;
  let requests = 0;
  let parts: Separate;

  before(async () => {
    // Keeps no connection: the circuit of each request ends with it.
    origin = createServer((_incoming, answer) => {
      requests += 1;
      answer.setHeader('connection', 'close').end('here');
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    parts = await sharedSeparate();
    for (const name of SHARES)
      await parts.share('public', `http://127.0.0.1:${(origin.address() as AddressInfo).port}`, name);
  });
  after(async () => {
    origin.close();
    await releaseWorld();
  });

  const ask = (name: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { host: `${name}.share.localhost`, accept: 'application/json' };
      const asked = request({ host: '127.0.0.1', port: parts.port, headers, agent: false });
      asked.on('error', reject).on('response', (answer) => {
        let text = '';
        answer.on('data', (piece: Buffer) => (text += piece.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode!, text }));
      });
      asked.end();
    });
  const ca = (): string => join(parts.folder, 'api-ca.pem');
  /** The circuits of the requests before end shortly after their responses, so that two lists are compared. */
  const untilStandby = async (): Promise<void> => {
    let last = '';
    await until(
      'standby circuits of every share',
      async () => {
        const json = await parts.run('fabric', 'circuits', '--json', '--ca', ca());
        const ids = (JSON.parse(json) as { readonly id: string }[]).map(({ id }) => id).toSorted();
        const isSteady = ids.join() === last;
        last = ids.join();
        return isSteady && ids.length === SHARES.length * STANDBY_PER_SHARE;
      },
      (areOpen) => areOpen,
      WAIT_MS,
    );
  };

  test('have circuits that hold no connection to the service', async () => {
    for (const name of SHARES)
      await until(
        `an answer of ${name}`,
        () => ask(name),
        ({ status }) => status === 200,
      );
    await until(
      'no connection to the service, but for looks at its health',
      () => new Promise<number>((resolve) => origin.getConnections((_, count) => resolve(count))),
      (open) => open === 0,
    );
    await untilStandby();
  });

  test('answer over these, and with the true reason when they are used up', async () => {
    await parts.control.kill();
    const before = requests;
    for (let count = 1; count <= STANDBY_PER_SHARE; count += 1) {
      const answers = await Promise.all(SHARES.map((name) => ask(name)));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
    }
    assert.equal(requests - before, SHARES.length * STANDBY_PER_SHARE);
    for (const { status, text } of await Promise.all(SHARES.map((name) => ask(name)))) {
      assert.equal(status, 503);
      assert.match(text, /control-away/);
    }
  });

  test('have new ones when a control plane is back', async () => {
    await parts.control.start();
    for (const name of SHARES)
      await until(
        `an answer of ${name}`,
        () => ask(name),
        ({ status }) => status === 200,
        WAIT_MS,
      );
    await untilStandby();
  });
});
