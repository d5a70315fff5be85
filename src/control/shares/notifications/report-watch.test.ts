import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { openEmbedded } from '../../store/engine/migrated-copy-fixture.ts';
import type { Store } from '../../store/mod.ts';
import { ReportWatch, type WatchFinding, type WatchFindings } from './report-watch.ts';

class ScriptedWatch extends ReportWatch<WatchFinding> {
  findings: WatchFindings<WatchFinding> = { found: [], isCutOff: () => false };
  readonly reported: string[][] = [];

  constructor(store: Store) {
    const parts = { store, clock: new ManualClock(1), log: silentLog };
    super(parts, { kind: 'quota', type: 'quota.reached', what: 'findings', everyMs: 1_000 });
  }

  protected find(): Promise<WatchFindings<WatchFinding>> {
    return Promise.resolve(this.findings);
  }

  protected organizationOf(): string {
    return '';
  }

  protected resourcesOf(found: readonly WatchFinding[]): readonly object[] {
    this.reported.push(found.map(({ key }) => key));
    return found;
  }

  async look(keys: readonly string[], cutOff: readonly string[] = []): Promise<void> {
    this.findings = { found: keys.map((key) => ({ key })), isCutOff: (key) => cutOff.includes(key) };
    await this.pass();
  }
}

describe('a watch that reports each finding once', () => {
  let store: Store;
  let watch: ScriptedWatch;
  before(async () => {
    store = await openEmbedded();
    watch = new ScriptedWatch(store);
  });
  after(async () => {
    await watch.close();
    await store.close();
  });

  it('forgets one that is gone, unless the list was cut off', async () => {
    await watch.look(['a', 'b']);
    await watch.look(['b'], ['a']);
    await watch.look(['a', 'b']);
    assert.deepEqual(watch.reported, [['a', 'b']]);
    await watch.look(['b']);
    await watch.look(['a', 'b']);
    assert.deepEqual(watch.reported, [['a', 'b'], ['a']]);
  });
});
