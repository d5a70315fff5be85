// How many shares and environments one turn of the loop looks at, for each operation that concerns all of them. It is counted
// here and measured with 100,000 shares in row L12 of the battery.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { Exposition } from '#net/metrics';
import { ApiMeter } from './api-meter.ts';
import { writeControlMetrics } from './control-metrics.ts';
import { openApiWorld, type ApiWorld } from '../shares/operations/api-fixture.ts';
import { sampleShare } from '../../../test/support/sample-share.ts';

const SHARES = 20_000;
/** As `inSlices` cuts. */
const MOST_IN_ONE_TURN = 2_000;

let world: ApiWorld;
let looks = 0;

before(async () => {
  world = await openApiWorld();
  const { model, catalog, first, options } = world;
  const { frontdoorId } = first;
  const environmentId = await world.addEnvironment('away');
  const service = (n: number) =>
    sampleShare(`id-${n}`, {
      token: `name-${n}`,
      name: `name-${n}`,
      frontdoorId,
      environmentId,
      createdAtMs: n,
    });
  for (let n = 0; n < SHARES; n += 1) catalog.set(service(n));
  await options.counts.settled();
  const counted = <T>(all: () => IterableIterator<T>): (() => IterableIterator<T>) =>
    function* () {
      for (const each of all()) {
        looks += 1;
        yield each;
      }
    };
  catalog.all = counted(catalog.all.bind(catalog));
  model.identities = counted(model.identities.bind(model));
  const { status } = options;
  const { service: measured, isConnected } = status;
  Object.assign(status, {
    service: (id: string) => ((looks += 1), measured(id)),
    isConnected: (id: string) => ((looks += 1), isConnected(id)),
  });
});
after(() => world.close());

/** Runs the work and returns what was looked at in the turn that looked at most. */
async function mostInOneTurn(work: () => Promise<void>): Promise<number> {
  let isDone = false;
  let most = 0;
  looks = 0;
  const nextTurn = (): void => {
    most = Math.max(most, looks);
    looks = 0;
    if (!isDone) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  await work();
  isDone = true;
  return Math.max(most, looks);
}

test('a scrape and summaries look at none of the shares', async () => {
  const { options, first } = world;
  const scrape = (): Promise<void> =>
    writeControlMetrics(new Exposition(), {
      model: options.model,
      counts: options.counts,
      fabric: options.fabric,
      store: options.store,
      circuitCount: () => 0,
      sessionCount: () => 0,
      log: silentLog,
      apis: new ApiMeter(options),
      notifications: { write: () => {} },
      eventExport: { write: () => {} },
      certificates: () => [],
      rotation: () => undefined,
    });
  assert.equal(await mostInOneTurn(scrape), 0);
  for (const path of ['/summary', `/frontdoor/${first.frontdoorId}/summary`]) {
    const read = async (): Promise<void> => {
      const { status, body } = await world.call('GET', path);
      assert.equal(status, 200);
      assert.equal((body as { shares: { failed: number } }).shares.failed, SHARES);
    };
    assert.equal(await mostInOneTurn(read), 0, path);
  }
});

test('lists by status and searches look at a bounded number in one turn', async () => {
  const shares = `/frontdoor/${world.first.frontdoorId}/shares`;
  const paths = [
    `${shares}?status=FAILED`,
    `${shares}?status=DEPLOYED`,
    `${shares}?sort=status,desc`,
    '/search?q=name-1',
  ];
  for (const path of paths) {
    const read = async (): Promise<void> => {
      assert.equal((await world.call('GET', path)).status, 200);
    };
    const most = await mostInOneTurn(read);
    assert.ok(most > 0 && most <= MOST_IN_ONE_TURN + 100, `${path}: ${most}`);
  }
});
