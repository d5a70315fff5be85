import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontdoorError } from '#base';
import type { ManagementClient } from '../management-client.ts';
import { findReportedFailure } from './failure-look-up.ts';

const ID = '9f86d081884c7d659a000001';
const FRONTDOOR = '11111111-1111-4111-8111-111111111111';

/** A frontdoor that gets the record after some looks. */
function looking(recordAfter: number) {
  let looks = 0;
  const call = async ({ path }: { readonly path: string }): Promise<unknown> => {
    if (path === '/caller') return { scopes: ['frontdoor.read'] };
    looks += 1;
    if (looks <= recordAfter) throw new FrontdoorError('notFound', 'not_found', `Failure ${ID} not found`);
    return { errorId: ID };
  };
  const client = { call } as unknown as ManagementClient;
  let pauses = 0;
  const find = (id: string): Promise<unknown> =>
    findReportedFailure({ client, access: { frontdoorId: FRONTDOOR } }, id, async () => void (pauses += 1));
  return { find, pauses: () => pauses };
}

test('why waits for a record that is on its way from the gateway', async () => {
  const late = looking(3);
  assert.deepEqual(await late.find(ID), { errorId: ID });
  assert.equal(late.pauses(), 3);
});

test('why gives up after a few looks, and at once for a text that is no error id', async () => {
  const never = looking(Number.POSITIVE_INFINITY);
  await assert.rejects(never.find(ID), { kind: 'notFound', message: /^there is no record of the error / });
  assert.equal(never.pauses(), 7);
  const other = looking(Number.POSITIVE_INFINITY);
  await assert.rejects(other.find('x9'), { kind: 'notFound' });
  assert.equal(other.pauses(), 0);
});
