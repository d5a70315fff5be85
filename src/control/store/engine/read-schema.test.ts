import assert from 'node:assert/strict';
import { it } from 'node:test';
import { migrations } from '../migrations/migration-table.ts';
import { describeEachStore } from './each-store-suite.ts';
import { openStore } from './open-store.ts';
import { databaseState, readDatabaseState, schemaSteps } from './read-schema.ts';

describeEachStore('the state of a database', (_open, newPlace) => {
  it('is read while it is in use by its store, and without one by its place', async () => {
    const place = await newPlace();
    const store = await openStore(place);
    const { schema, bytes, kind } = await databaseState(store.db);
    assert.equal(kind, place.database === undefined ? 'embedded' : 'postgres');
    assert.equal(schema, Object.keys(migrations).at(-1));
    assert.ok(bytes > 10_000);
    if (place.database === undefined)
      await assert.rejects(readDatabaseState(place.path, undefined), { code: 'database-unreadable' });
    await store.close();
    const { schema: read } = await readDatabaseState(place.path, place.database);
    assert.equal(read, schema);
    assert.ok(schemaSteps().every(({ effect }) => effect !== ''));
  });
});
