// The log of changes: positions, bounds, and what a reader of one topic sees.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChangeLog, INSTALLATION_TOPIC, isLogPosition } from './change-log.ts';

const share = (id: string, ownerId = 'f') => ({ ownerId, kind: 'share', id });
const idsOf = (log: ChangeLog, position: string, topic = 'f', limit = 100) =>
  log.after(position, [topic], limit)?.changes.map(({ id }) => id);

describe('the log of changes', () => {
  it('returns the changes of one topic after a position, each resource once', () => {
    const log = new ChangeLog();
    const start = log.position;
    assert.ok(isLogPosition(start));
    for (const id of ['a', 'b', 'a']) log.append(share(id));
    log.append(share('foreign', 'g'));
    log.append({ ownerId: null, kind: 'router', id: 'r' });
    log.append({ ownerId: 'f', kind: 'frontdoor', id: 'f' });
    assert.deepEqual(idsOf(log, start), ['b', 'a', 'f']);
    assert.deepEqual(idsOf(log, start, INSTALLATION_TOPIC), ['r', 'f']);
    assert.deepEqual(idsOf(log, log.position), []);
  });

  it('returns long spans in parts', () => {
    const log = new ChangeLog();
    let { position } = log;
    for (let n = 0; n < 25; n += 1) log.append(share(`s${n}`));
    const sizes: number[] = [];
    for (let isAtEnd = false; !isAtEnd;) {
      const span = log.after(position, ['f'], 10)!;
      sizes.push(span.changes.length);
      ({ position, isAtEnd } = span);
    }
    assert.deepEqual(sizes, [10, 10, 5]);
  });

  it('knows a bounded number of changes, and no position of another log or before a restart', () => {
    const log = new ChangeLog(4);
    const start = log.position;
    for (const id of ['a', 'b', 'c', 'd']) log.append(share(id));
    assert.deepEqual(idsOf(log, start), ['a', 'b', 'c', 'd']);
    log.append(share('e'));
    assert.equal(log.after(start, ['f'], 10), undefined);
    assert.equal(log.after(new ChangeLog().position, ['f'], 10), undefined);
    const before = log.position;
    const [epoch] = before.split('-');
    assert.equal(log.after(`${epoch}-6`, ['f'], 10), undefined);
    log.restart();
    assert.equal(log.after(before, ['f'], 10), undefined);
    assert.ok(!isLogPosition('x') && !isLogPosition(`${epoch}-01`));
  });
});
