// Changes that are made by the command line reach a stream of the console within a second: 100 of 100, at the same control
// plane and at another one over the same database.
import assert from 'node:assert/strict';
import { afterEach, describe, it, type TestContext } from 'node:test';
import type { ControlPlane, FirstStart } from '#control';
import { callCommand } from '../support/command-line.ts';
import {
  followConsole,
  logInAtConsole,
  newSharedDatabase,
  startConsolePlane,
  type Closers,
} from '../support/console-stream.ts';
import { until } from '../support/deadline.ts';
import { postgresSkip } from '../support/postgres.ts';

const CHANGES = 100;
const LIMIT_MS = 1_000;
const DATA = '{"placement":"header","name":"X-Key","keys":[{"name":"a"}]}';

describe('changes by the command line', () => {
  const closers: Closers = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function change(test: TestContext, at: ControlPlane, readsAt: ControlPlane, first: FirstStart) {
    const { frontdoorId } = first;
    const cookie = await logInAtConsole(readsAt, first);
    const { events } = await followConsole(closers, readsAt, { cookie, frontdoorId });
    const env = {
      FRONTDOOR_API_URL: at.apiUrl,
      FRONTDOOR_ACCOUNT_ID: first.accountId,
      FRONTDOOR_API_TOKEN: first.apiToken,
      FRONTDOOR_ID: first.frontdoorId,
    };
    const delays: number[] = [];
    let id = '';
    for (let made = 0; made < CHANGES; made += 1) {
      const step = made % 3;
      if (step === 0) {
        const options = ['--name', `keys ${made}`, '--type', 'API_KEY', '--data', DATA, '--json'];
        const text = await callCommand(['auth-providers', 'create', ...options], env);
        ({ id } = JSON.parse(text) as { id: string });
      } else if (step === 1) await callCommand(['auth-providers', 'change', id, '--no-enabled'], env);
      else await callCommand(['auth-providers', 'delete', id], env);
      const madeAt = performance.now();
      const { value: times } = await until(
        `change ${made + 1}`,
        () => events.filter((event) => event.id === id),
        (came) => came.length > step,
      );
      delays.push(Math.max(0, times[step]!.atMs - madeAt));
    }
    const sorted = delays.toSorted((a, b) => a - b);
    test.diagnostic(`after the command: median ${sorted[CHANGES / 2]} ms, most ${sorted.at(-1)} ms`);
    const inTime = delays.filter((ms) => ms <= LIMIT_MS).length;
    assert.equal(inTime, CHANGES, `${inTime} of ${CHANGES} within a second`);
  }

  it('are in a stream of the console within a second, 100 of 100', async (test) => {
    const control = await startConsolePlane(closers);
    await change(test, control, control, control.firstStart!);
  });

  it(
    'are in a stream at another control plane within a second, 100 of 100',
    { skip: postgresSkip },
    async (test) => {
      const shared = await newSharedDatabase();
      const one = await startConsolePlane(closers, shared);
      const other = await startConsolePlane(closers, shared);
      await change(test, one, other, one.firstStart!);
    },
  );
});
