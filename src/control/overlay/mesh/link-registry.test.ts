import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ctrlMessages, type CtrlInit } from '#wire/ctrl';
import { LinkRegistry, UNMEASURED_MS } from './link-registry.ts';

const NS_PER_MS = 1_000_000;
let links: LinkRegistry;
beforeEach(() => (links = new LinkRegistry()));

type Reported = NonNullable<NonNullable<CtrlInit<'routerLinks'>['links']>[number]>;

function report(routerId: string, reported: readonly Reported[], isWhole = false): string[] {
  const body = ctrlMessages.routerLinks.decode(ctrlMessages.routerLinks.encode({ links: [...reported] }));
  return links.report(routerId, body, isWhole).map(({ id }) => id);
}

function ids(): string[] {
  return [...links.all()].map(({ id }) => id).sort();
}

function measure(routerId: string, latenciesNs: Readonly<Record<string, number>>): void {
  links.setLatencies(routerId, (id) => latenciesNs[id]);
}

test('a newer iteration replaces a link, an older one or the same changes nothing', () => {
  report('a', [{ id: 'l', destRouterId: 'b', iteration: 2, dialAddress: 'tls:b:1' }]);
  measure('a', { l: 5 * NS_PER_MS });
  report('a', [{ id: 'l', destRouterId: 'c', iteration: 2 }]);
  report('a', [{ id: 'l', destRouterId: 'c', iteration: 1 }]);
  assert.equal(links.get('l')?.destinationId, 'b');
  assert.equal(links.get('l')?.sourceLatencyNs, 5 * NS_PER_MS);
  report('a', [{ id: 'l', destRouterId: 'c', iteration: 3 }]);
  assert.deepEqual([links.get('l')?.destinationId, links.get('l')?.sourceLatencyNs], ['c', undefined]);
  assert.deepEqual([...links.of('b')], []);
});

test('a whole report takes away what it does not name, of that router alone', () => {
  report('a', [
    { id: 'l', destRouterId: 'b', iteration: 1 },
    { id: 'm', destRouterId: 'b', iteration: 1 },
  ]);
  report('b', [{ id: 'n', destRouterId: 'a', iteration: 1 }]);
  measure('a', { m: NS_PER_MS });
  assert.deepEqual(report('a', [{ id: 'm', destRouterId: 'b', iteration: 1 }], true), ['l']);
  assert.deepEqual(ids(), ['m', 'n']);
  assert.equal(links.get('m')?.sourceLatencyNs, NS_PER_MS, 'what it names again keeps what was measured');
});

test('nobody reports, changes, measures or ends a link between others', () => {
  report('a', [{ id: 'l', destRouterId: 'b', iteration: 1 }]);
  report('mallory', [{ id: 'l', destRouterId: 'b', iteration: 9 }]);
  measure('mallory', { l: 0 });
  const connState = { stateIteration: 5, conns: [{ type: 'x', localAddr: 'y', remoteAddr: 'z' }] };
  const update = ctrlMessages.linkState.encode({ linkId: 'l', linkIteration: 1, connState });
  links.setState('mallory', ctrlMessages.linkState.decode(update));
  assert.equal(links.remove('l', 'mallory', 0), undefined);
  const { sourceId, iteration, cost, connections } = links.get('l')!;
  assert.deepEqual([sourceId, iteration, cost, connections], ['a', 1, 1 + 2 * UNMEASURED_MS, []]);
});

test('the cost is one, and the whole milliseconds that both ends measured; 65 s for one that did not', () => {
  report('a', [{ id: 'l', destRouterId: 'b', iteration: 1 }]);
  const { version } = links;
  measure('a', { l: 2.9 * NS_PER_MS });
  assert.equal(links.get('l')?.cost, 1 + 2 + UNMEASURED_MS);
  assert.ok(links.version > version);
  measure('b', { l: 4 * NS_PER_MS });
  assert.equal(links.get('l')?.cost, 7);
  const settled = links.version;
  measure('b', { l: 4.5 * NS_PER_MS });
  assert.equal(links.version, settled, 'the same whole milliseconds: no path changes');
  for (const nonsense of [NaN, Infinity, -1]) measure('b', { l: nonsense });
  assert.equal(links.get('l')?.cost, 7);
});

test('a fault of an earlier iteration, or of one that is no end, removes nothing', () => {
  report('a', [{ id: 'l', destRouterId: 'b', iteration: 3 }]);
  assert.equal(links.remove('l', 'a', 2), undefined);
  assert.equal(links.remove('l', 'c', 3), undefined);
  assert.equal(links.remove('l', 'b', 3)?.id, 'l');
  report('a', [{ id: 'l', destRouterId: 'b', iteration: 4 }]);
  assert.equal(links.remove('l', 'a', 0)?.id, 'l');
});

test('the state of a link with the highest count holds, whichever comes last', () => {
  report('a', [{ id: 'l', destRouterId: 'b', iteration: 1 }]);
  const update = (stateIteration: number, linkIteration = 1): void => {
    const conns = [{ type: `link.${String(stateIteration)}`, localAddr: 'tcp:1', remoteAddr: 'tcp:2' }];
    const body = { linkId: 'l', linkIteration, connState: { stateIteration, conns } };
    links.setState('a', ctrlMessages.linkState.decode(ctrlMessages.linkState.encode(body)));
  };
  for (const count of [5, 7, 6]) update(count);
  assert.deepEqual(links.get('l')?.connections, [
    { type: 'link.7', localAddress: 'tcp:1', remoteAddress: 'tcp:2' },
  ]);
  update(9, 2);
  assert.equal(links.get('l')?.stateIteration, 7);
});

test('a router has at most ten thousand links, none to itself, and no id without bound', () => {
  const many = Array.from({ length: 10_050 }, (_, at) => ({ id: `l${at}`, destRouterId: 'b', iteration: 1 }));
  report('a', many);
  assert.equal(ids().length, 10_000);
  report('b', [
    { id: 'self', destRouterId: 'b', iteration: 1 },
    { id: '', destRouterId: 'a', iteration: 1 },
    { id: 'x'.repeat(65), destRouterId: 'a', iteration: 1 },
  ]);
  assert.equal([...links.of('b')].filter(({ sourceId }) => sourceId === 'b').length, 0);
  links.removeOf('a');
  assert.deepEqual(ids(), []);
});
