import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newNumber } from '#base';
import { WaitingLine, type InLine } from './waiting-line.ts';

function waiterOf(party: string, freshOnly = false): InLine {
  return { number: newNumber(), party, freshOnly, sinceMs: 0 };
}

function lineOf(waiters: readonly InLine[]): WaitingLine<InLine> {
  const line = new WaitingLine<InLine>();
  for (const waiter of waiters) line.add(waiter);
  return line;
}

describe('the line for circuits of a share', () => {
  test('serves one address in the order in which its requests came', () => {
    const waiters = [waiterOf('a'), waiterOf('a'), waiterOf('a')];
    const line = lineOf(waiters);
    assert.deepEqual([line.next(false), line.next(false), line.next(false)], waiters);
    assert.equal(line.next(false), undefined);
    assert.equal(line.size, 0);
  });

  test('serves an address with one request before the second request of a crowd that came earlier', () => {
    const crowd = Array.from({ length: 1_000 }, () => waiterOf('crowd'));
    const single = waiterOf('single');
    const line = lineOf([...crowd, single]);
    assert.deepEqual([line.next(false), line.next(false), line.next(false)], [crowd[0], single, crowd[1]]);
    assert.equal(line.size, 998);
  });

  test('gives a used circuit to the first request that accepts one, also behind others', () => {
    const [fresh, later] = [waiterOf('a', true), waiterOf('b')];
    const line = lineOf([fresh, later]);
    assert.equal(line.next(true), later);
    assert.equal(line.next(true), undefined);
    assert.equal(line.next(false), fresh);
  });

  test('drops aborted requests, and addresses without requests', () => {
    const [first, second] = [waiterOf('a'), waiterOf('a')];
    const line = lineOf([first, second]);
    line.delete(first);
    line.delete(first);
    assert.equal(line.size, 1);
    assert.equal(line.next(false), second);
    line.delete(second);
    assert.equal(line.size, 0);
  });
});
