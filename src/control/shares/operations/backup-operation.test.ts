import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { decodeBackup } from '#net/files';
import type { BackupSummary } from '#domain/backup';
import { until, within } from '../../../../test/support/deadline.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

let world: ApiWorld;
let url: string;
before(async () => {
  world = await openApiWorld();
  url = await world.app.listen({ host: '127.0.0.1', port: 0 });
  // More than what stands in pipes and buffers: a backup that nobody reads stays open.
  const row = { organization_id: world.first.organizationId, name: 'x', scopes: 'frontdoor.read' };
  for (let n = 0; n < 40; n += 1) {
    const rows = Array.from({ length: 100 }, () => ({
      ...row,
      id: randomUUID(),
      secret_id: 'test',
      token_hmac: randomBytes(3_000).toString('base64'),
      created_at: 1,
      revoked_at: null,
    }));
    await world.store.db.insertInto('api_account').values(rows).execute();
  }
});
after(() => world.close());

async function get(authorization = world.authorization): Promise<IncomingMessage> {
  const request = httpGet(`${url}/backup`, { headers: { authorization }, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

async function summaryOf(stream: IncomingMessage): Promise<BackupSummary> {
  for await (const items of decodeBackup(stream))
    for (const item of items) if (item.type === 'end') return item.summary;
  throw new Error('no end');
}

/** The next one may be taken once the copy of the last is gone. */
async function getWhenFree(): Promise<IncomingMessage> {
  let answer = await get();
  await until(
    'a backup',
    async () => {
      if (answer.statusCode !== 200) answer = await get();
      if (answer.statusCode !== 200) answer.resume();
      return answer.statusCode;
    },
    (status) => status === 200,
  );
  return answer;
}

test('a caller with the admin scope gets the whole database, and the audit trail records it', async () => {
  const answer = await get();
  const { statusCode, headers } = answer;
  assert.deepEqual(
    [statusCode, headers['content-type'], headers['cache-control']],
    [200, 'application/gzip', 'no-store'],
  );
  assert.match(String(headers['content-disposition']), /filename="frontdoor-\d{4}-\d\d-\d\d\.backup"/);
  const { rows } = await summaryOf(answer);
  assert.equal(rows['api_account'], 4_002);
  const event = await world.store.db
    .selectFrom('audit_event')
    .selectAll()
    .where('action', '=', 'getBackup')
    .executeTakeFirstOrThrow();
  assert.deepEqual([event.actor_id, event.result], [world.first.accountId, 'ok']);
  // It is in the backup itself: that holds all that was acknowledged before.
  assert.ok((rows['audit_event'] ?? 0) >= 1);
});

test('it takes the admin scope', async () => {
  const reader = await world.addAccount(world.first.organizationId, 'frontdoor.read frontdoor.write');
  const answer = await get(reader.authorization);
  answer.resume();
  assert.equal(answer.statusCode, 403);
});

test('one is taken at a time; the next may come when the reader of the last is done or gone', async () => {
  const first = await getWhenFree();
  const second = await get();
  second.resume();
  assert.deepEqual([second.statusCode, second.headers['retry-after']], [429, '10']);
  first.destroy();
  assert.ok((await summaryOf(await getWhenFree())).rows['api_account']);
});

test('one that nobody reads does not hold up the end of the server', async () => {
  const answer = await getWhenFree();
  await within('the end of the server', world.app.close());
  await assert.rejects(summaryOf(answer));
});
