import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog, type Log } from '#base';
import { directDialer } from '#net';
import { freePort } from '../../../test/support/free-port.ts';
import { failedSurroundings, type NeededPlaces } from './surrounding-checks.ts';
import { checkSurroundings } from './surroundings.ts';

const server = (url: string) => ({ name: 'edge API', url, hasOwnAuthority: true, option: '--api' });

/** Returns the lines of the log after the first second, which is mocked. */
function logged(t: TestContext, surroundings: Partial<NeededPlaces>): Promise<unknown[]> {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lines: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<unknown[]>();
  const log: Log = {
    ...silentLog,
    warn(fields, message) {
      lines.push([fields, message]);
      resolve(lines);
    },
  };
  checkSurroundings(log, () => {
    setImmediate(() => setImmediate(() => surroundings.names === undefined && resolve(lines)));
    return { names: [], servers: [], outward: directDialer, ...surroundings };
  });
  t.mock.timers.tick(1_000);
  return promise;
}

test('a name that does not exist and a server that is away are found, each once, with a remedy', async () => {
  const port = await freePort();
  const found = await failedSurroundings({
    names: ['nobody.invalid', 'localhost'],
    servers: [server(`https://127.0.0.1:${port}`), server('tcp://nobody.invalid:6262')],
    outward: directDialer,
  });
  assert.deepEqual(
    found.map(({ check }) => check),
    ['name nobody.invalid', 'port of edge API', 'name nobody.invalid'],
  );
  for (const { remedy } of found) assert.ok(remedy !== undefined && remedy.length > 10);
});

test('what fails is logged with its remedy', async (t) => {
  const [line] = await logged(t, { names: ['nobody.invalid'] });
  const [fields, message] = line as [Readonly<Record<string, unknown>>, string];
  assert.match(message, /nobody\.invalid cannot be resolved/);
  assert.deepEqual(Object.keys(fields), ['check', 'remedy']);
});

test('places on this machine are not checked', async (t) => {
  assert.deepEqual(
    await logged(t, { servers: [server('https://127.0.0.1:1'), server('https://a.localhost')] }),
    [],
  );
});
