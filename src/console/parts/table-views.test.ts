import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readChoices, TableViews } from './table-views.ts';

class Memory {
  text: string | null = null;
  readonly getItem = (): string | null => this.text;
  readonly setItem = (_key: string, text: string): void => void (this.text = text);
}

describe('the choices of a person for tables', () => {
  it('are there again for the same person, and not for another one', () => {
    const kept = new Memory();
    const views = new TableViews();
    views.of('ann', kept);
    views.setRoomy(true, kept);
    views.setHidden('shares', ['target', 'agent'], kept);
    const wanted = { isRoomy: true, hidden: { shares: ['target', 'agent'] } };
    assert.deepEqual(new TableViews().of('ann', kept), wanted);
    assert.deepEqual(new TableViews().of('bob', kept), { isRoomy: false, hidden: {} });
  });

  it('report each change, also where the browser keeps nothing', () => {
    const full = { getItem: () => null, setItem: () => assert.fail('full') };
    const views = new TableViews();
    let reports = 0;
    const stop = views.subscribe(() => (reports += 1));
    views.of('ann', full);
    views.setHidden('shares', ['target'], full);
    views.setHidden('shares', [], full);
    stop();
    views.setRoomy(true, full);
    assert.equal(reports, 2);
    assert.deepEqual(views.of('ann', full), { isRoomy: true, hidden: {} });
  });

  it('stay bounded, and are nothing where the kept text is not understood', () => {
    const kept = new Memory();
    const views = new TableViews();
    views.of('ann', kept);
    for (let at = 0; at < 500; at += 1) views.setHidden(`list-${at}`, ['name'], kept);
    assert.ok(kept.text!.length < 4_000, `${kept.text!.length} characters`);
    assert.deepEqual(views.of('ann', kept).hidden['list-499'], ['name']);
    const nothing = { isRoomy: false, hidden: {} };
    for (const text of [
      '',
      'no JSON',
      '[]',
      '7',
      '{"person":"bob","isRoomy":true}',
      '{"person":"ann","hidden":[1]}',
    ])
      assert.deepEqual(readChoices(text, 'ann'), nothing, text);
    const odd = {
      person: 'ann',
      hidden: { 'a b': ['x'], shares: [1, null, 'x y', 'target'], agents: 'all' },
    };
    assert.deepEqual(readChoices(JSON.stringify(odd), 'ann').hidden, { shares: ['target'] });
  });
});
