// `frontdoor control` on PostgreSQL, as an operator starts it: its start, and its errors.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { JsonClient } from '#net/http';
import { within } from '../support/deadline.ts';
import { PartProcess, runCommand } from '../support/part-process.ts';
import { POSTGRES_PASSWORD, postgresSkip, sharedPostgres, type PostgresAccess } from '../support/postgres.ts';
import { runLauncher } from '../support/product-process.ts';

/** Less than the 5 s that a program waits for its database. */
const GONE_MS = 3_000;

interface Ready {
  readonly apiUrl: string;
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
}

it('a program that still starts ends with its launcher', async (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-starting-'));
  // A database that accepts connections and answers nothing.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const connected = once(server, 'connection');
  const file = join(folder, 'url');
  writeFileSync(file, `postgres://someone@127.0.0.1:${port}/frontdoor\n`, { mode: 0o600 });
  const launcher = runLauncher(['control', '--data-dir', folder, '--database-file', file]);
  test.after(() => {
    launcher.child.kill('SIGKILL');
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const [socket] = (await within('a connection to the database', connected)) as [Socket];
  const closed = once(socket.on('error', () => {}).resume(), 'close');
  const sinceMs = performance.now();
  launcher.child.kill('SIGKILL');
  await within('the end of the program', closed);
  assert.ok(performance.now() - sinceMs < GONE_MS, launcher.output());
});

describe('frontdoor control on PostgreSQL', { skip: postgresSkip }, () => {
  let folder: string;
  let server: PostgresAccess;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'frontdoor-database-'));
    server = await sharedPostgres();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const args = (name: string): string[] => [
    'control',
    '--data-dir',
    join(folder, name),
    '--ready-file',
    join(folder, `${name}.json`),
    '--api-port',
    '0',
    '--edge-api-port',
    '0',
    '--ctrl-port',
    '0',
  ];

  it('reads the URL from a file, stores everything in that database, and shows its password nowhere', async (test) => {
    const file = join(folder, 'url');
    writeFileSync(file, `${await server.createDatabase()}\n`, { mode: 0o600 });
    const control = new PartProcess<Ready>({
      name: 'control',
      readyFile: join(folder, 'good.json'),
      args: () => [...args('good'), '--database-file', file],
      env: { FRONTDOOR_LOG: 'debug' },
    });
    test.after(() => control.kill());
    const first = await control.start();
    await control.kill();
    const again = await control.start();
    assert.equal(again.accountId, undefined, 'the first start is not done again');
    const client = new JsonClient({ origin: again.apiUrl });
    const { status } = await client.request({
      method: 'GET',
      path: `/frontdoor/${first.frontdoorId}`,
      headers: { authorization: `Basic ${first.accountId}:${first.apiToken}` },
    });
    assert.equal(status, 200);
    await client.close();
    assert.equal(await control.stop(), 0);
    assert.ok(control.output.length > 0 && !control.output.includes(POSTGRES_PASSWORD));
  });

  it('reports a problem of the database with its remedy, and exits', async () => {
    const table: readonly (readonly [string, RegExp])[] = [
      [server.urlOf('missing'), /\(2\).*127\.0\.0\.1:\d+\/missing: there is no such database.*createdb/s],
      [
        server.urlOf('postgres').replace(':canary', ':wrong-canary'),
        /\(2\).*refuses the login of frontdoor/s,
      ],
      ['postgres://frontdoor:canary@127.0.0.1:1/d', /\(8\).*127\.0\.0\.1:1\/d: nothing listens there/s],
      ['mysql://frontdoor:canary@h/d', /\(2\).*the database URL is not of the form/s],
    ];
    const refused = table.map(([database, message], i) =>
      assert.rejects(runCommand(args(`bad-${i}`), { FRONTDOOR_DATABASE: database }), (error: Error) => {
        assert.match(error.message, message);
        assert.ok(!error.message.includes('canary'), error.message);
        return true;
      }),
    );
    await Promise.all(refused);
  });
});
