// How often answers are asked for again while many changes arrive.
import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { Refreshing } from './refreshing.ts';

const SECOND_MS = 1_000;
const share = (id: string) => ({ kind: 'share', id, ownerId: 'f' });

/** A page that shows answers. `counts` has how often each was asked for. */
function openPage(test: TestContext, operations: readonly string[], answer = async () => 'answer') {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const client = new QueryClient();
  const counts = new Map<string, number>();
  const stops = operations.map((operation) =>
    new QueryObserver(client, {
      queryKey: [operation, { frontdoorId: 'f' }, null],
      queryFn: () => {
        counts.set(operation, (counts.get(operation) ?? 0) + 1);
        return answer();
      },
      staleTime: Infinity,
    }).subscribe(() => undefined),
  );
  test.after(() => {
    for (const stop of stops) stop();
    client.clear();
    mock.timers.reset();
  });
  return { client, counts, refreshing: new Refreshing(client) };
}

/** Microtasks of a fetch are done. */
const settled = () => new Promise((done) => setImmediate(done));

test('an answer is asked for at once, and then every two seconds at most, however many changes there are', async (context) => {
  const { counts, refreshing } = openPage(context, ['getFrontdoorSummary', 'listShares', 'listPeople']);
  await settled();
  refreshing.changed([share('first')]);
  await settled();
  assert.deepEqual([...counts.values()], [2, 2, 1]);
  // A minute with twenty changes a second.
  for (let at = 0; at < 1_200; at += 1) {
    refreshing.changed([share(`share ${at}`), { kind: 'environment', id: `agent ${at}`, ownerId: 'f' }]);
    mock.timers.tick(50);
    await settled();
  }
  // Those of the start, after 0, 5, 15 and 35 seconds.
  assert.ok(counts.get('getFrontdoorSummary')! <= 5, `${counts.get('getFrontdoorSummary')}`);
  assert.ok(counts.get('listShares')! <= 32, `${counts.get('listShares')}`);
  assert.equal(counts.get('listPeople'), 1);
  mock.timers.tick(2 * SECOND_MS);
  await settled();
  refreshing.changed([share('now')]);
  await settled();
  const before = counts.get('listShares')!;
  refreshing.changed([share('last')]);
  mock.timers.tick(2 * SECOND_MS);
  await settled();
  mock.timers.tick(10 * SECOND_MS);
  await settled();
  assert.equal(counts.get('listShares'), before + 1, 'the last change is not lost');
});

test('an answer that is on its way is awaited, and asked for again once it is there', async (context) => {
  const answers: ((value: string) => void)[] = [];
  const slow = () => new Promise<string>((resolve) => answers.push(resolve));
  const { counts, refreshing } = openPage(context, ['listShares'], slow);
  await settled();
  for (let at = 0; at < 5; at += 1) {
    refreshing.changed([share('a')]);
    mock.timers.tick(SECOND_MS);
    await settled();
  }
  assert.equal(counts.get('listShares'), 1);
  answers[0]!('late');
  await settled();
  mock.timers.tick(2 * SECOND_MS);
  await settled();
  assert.equal(counts.get('listShares'), 2);
});
