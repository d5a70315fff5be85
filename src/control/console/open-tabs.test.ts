// What 200 open tabs of the console cost the control plane in memory. Times, and the cost for a gateway, are in `npm run bench:api`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usedMemory } from '../../../test/support/heap.ts';
import { openStream, type StreamReader } from '../shares/operations/event-stream-fixture.ts';
import { CONSOLE_HOST, openConsoleWorld, type TestBrowser } from './console-fixture.ts';

const TABS = 200;
/** The API bounds the streams of one person. */
const TABS_OF_PERSON = 40;
const MOST_BYTES = 32 << 20;

test('200 open tabs of the console get each change, and take at most 32 MiB, their own ends of the connections included', async (context) => {
  const world = await openConsoleWorld();
  context.after(() => world.close());
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const frontdoor = `/frontdoor/${world.api.first.frontdoorId}`;
  const follow = async ({ cookie }: TestBrowser): Promise<StreamReader> => {
    const headers = { host: CONSOLE_HOST, cookie: cookie!, 'sec-fetch-site': 'same-origin' };
    const stream = await openStream(world.app, `/console/api${frontdoor}/changes`, headers);
    assert.equal(stream.response.statusCode, 200);
    await stream.until(/^id: /m);
    return stream;
  };
  const change = async (name: string): Promise<RegExp> => {
    const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] };
    const body = { name, type: 'API_KEY', data };
    const made = await world.api.call('POST', `${frontdoor}/auth-providers`, { body });
    assert.equal(made.status, 201, made.text);
    return new RegExp((made.body as { readonly id: string }).id);
  };
  const people: TestBrowser[] = [];
  for (let at = 0; at < TABS / TABS_OF_PERSON; at += 1)
    people.push(await world.person('reader', `reader-${at}@example.com`));
  // What the first stream alone brings with it is not counted.
  const first = await follow(people[0]!);
  await first.until(await change('first'));
  first.response.destroy();
  const before = await usedMemory();
  const tabs: StreamReader[] = [];
  for (const person of people) for (let at = 0; at < TABS_OF_PERSON; at += 1) tabs.push(await follow(person));
  const seen = await change('second');
  await Promise.all(tabs.map((tab) => tab.until(seen)));
  const held = (await usedMemory()) - before;
  context.diagnostic(`${tabs.length} of ${TABS} tabs, ${(held / (1 << 20)).toFixed(1)} MiB`);
  assert.equal(tabs.length, TABS);
  assert.ok(held <= MOST_BYTES, `${held} bytes`);
  for (const { response } of tabs) response.destroy();
});
