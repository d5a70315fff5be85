// How changes of the list of services are reported.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#base';
import { within } from '../../../test/support/deadline.ts';
import type { ListedService } from './listed-service.ts';
import { ServiceWatch, type ServicesChange } from './service-watch.ts';

const service = (id: string, updatedAt = ''): ListedService => ({
  id,
  name: id,
  permissions: ['Dial'],
  encryptionRequired: true,
  config: {},
  tags: {},
  updatedAt,
});

test('changes are reported once, relative to the first list', async (t) => {
  const lists = [
    [service('a'), service('b')],
    [service('b', 'later'), service('c')],
  ];
  let mark = 0;
  let listed = 0;
  const { promise, resolve } = Promise.withResolvers<ServicesChange>();
  const watch = new ServiceWatch({
    api: {
      serviceUpdates: async () => String(Math.min((mark += 1), 2)),
      services: async () => lists[(listed += 1) - 1]!,
    },
    intervalMs: 1,
    log: silentLog,
    onChange: resolve,
  });
  t.after(() => watch.stop());
  const { added, changed, removed } = await within('a change', promise);
  assert.deepEqual(
    [added, changed, removed].map((each) => each.map(({ id }) => id)),
    [['c'], ['b'], ['a']],
  );
  assert.equal(listed, 2);
});
