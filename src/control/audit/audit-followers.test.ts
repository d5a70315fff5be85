import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { silentLog } from '#base';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import type { Store } from '../store/mod.ts';
import { AuditFollowers, type AuditFollowersOptions, type FollowRequest } from './audit-followers.ts';
import { appendAudit } from './audit-store.ts';
import { openEmbedded } from '../store/engine/migrated-copy-fixture.ts';

const DEADLINE_MS = 30_000;

describe('a stream of audit events', () => {
  const secrets = ephemeralSecrets();
  let store: Store;
  let followers: AuditFollowers;
  const opened: AuditFollowers[] = [];

  beforeEach(async () => {
    store = await openEmbedded();
    followers = open();
  });
  afterEach(async () => {
    for (const each of opened.splice(0)) each.close();
    await store.close();
  });

  function open(options: Partial<AuditFollowersOptions> = {}): AuditFollowers {
    const made = new AuditFollowers({ store, log: silentLog, jsonOf: (row) => row.action, ...options });
    opened.push(made);
    return made;
  }

  const entry = (action: string, organizationId = 'mine') => {
    const actor = { kind: 'account', id: 'a' } as const;
    return { organizationId, actor, action, address: null, result: 'ok' } as const;
  };
  const append = (action: string, organizationId?: string) =>
    store.transaction((trx, touch) => appendAudit(trx, touch, secrets, entry(action, organizationId), 1));

  function follow(request: Partial<FollowRequest> = {}, by = followers): Reader {
    const stream = by.follow({
      organizationId: 'mine',
      filter: {},
      afterSequence: undefined,
      reader: 'account a',
      isAllowed: async () => true,
      ...request,
    });
    assert.ok(stream);
    return new Reader(stream);
  }

  it('sends new events of its organization only, with numbers', async () => {
    await append('before');
    const reader = follow();
    await reader.until('retry: 2000\n\n');
    await append('first');
    await append('foreign', 'other');
    await append('second');
    await reader.until('data: second\n\n');
    assert.equal(
      reader.text,
      'retry: 2000\n\nid: 2\nevent: audit\ndata: first\n\nid: 3\nevent: audit\ndata: second\n\n',
    );
  });

  it('continues after the event that its reader has, and misses and doubles none', async () => {
    for (let n = 1; n <= 250; n += 1) await append(`e${n}`);
    const reader = follow({ afterSequence: 7 });
    const more = (async () => {
      for (let n = 251; n <= 300; n += 1) await append(`e${n}`);
    })();
    await reader.until('data: e300\n\n');
    await more;
    assert.deepEqual(
      reader.ids(),
      Array.from({ length: 293 }, (_, n) => n + 8),
    );
    // A number that the trail never reached: of a database that was put back to an older state.
    const ahead = follow({ afterSequence: 9_999 });
    await ahead.until('retry: 2000\n\n');
    await append('e301');
    await ahead.until('data: e301\n\n');
  });

  it('sends only events that match its filter', async () => {
    const reader = follow({ filter: { action: 'wanted' }, afterSequence: 0 });
    for (let n = 0; n < 120; n += 1) await append('other');
    await append('wanted');
    await append('other');
    await append('wanted');
    await reader.until('id: 123\nevent: audit\ndata: wanted\n\n');
    assert.deepEqual(reader.ids(), [121, 123]);
  });

  it('shows that it is alive when nothing happens', async () => {
    const reader = follow({}, open({ heartbeatMs: 20 }));
    await reader.until(':\n\n:\n\n:\n\n');
  });

  it('ends when the credential no longer counts: at the next look, or at once when callers change', async () => {
    let isAllowed = true;
    const watchful = open({ recheckMs: 20 });
    const reader = follow({ isAllowed: async () => isAllowed }, watchful);
    await reader.until('retry: 2000\n\n');
    isAllowed = false;
    await reader.ended();
    assert.equal(watchful.size, 0);

    isAllowed = true;
    const other = follow({ isAllowed: async () => isAllowed });
    await other.until('retry: 2000\n\n');
    isAllowed = false;
    await store.transaction(async (trx, touch) => {
      await appendAudit(trx, touch, secrets, entry('too late'), 1);
      touch('caller', 'a');
    });
    await other.ended();
    assert.equal(other.text, 'retry: 2000\n\n');
  });

  it('ends when the store fails; its reader comes back', async () => {
    const reader = follow({ isAllowed: () => Promise.reject(new Error('away')) }, open({ recheckMs: 1 }));
    await reader.ended();
  });

  it('ends at once with its reader, and with the server', async () => {
    const reader = follow();
    await reader.until('retry: 2000\n\n');
    assert.equal(followers.size, 1);
    reader.stream.destroy();
    assert.equal(followers.size, 0);

    const other = follow();
    await other.until('retry: 2000\n\n');
    const closed = once(other.stream, 'close', { signal: AbortSignal.timeout(30_000) });
    followers.close();
    await closed;
    assert.equal(followers.size, 0);
  });

  it('is one of ten of its reader at most', async () => {
    const ten = Array.from({ length: 10 }, () => follow());
    const again = {
      organizationId: 'mine',
      filter: {},
      afterSequence: undefined,
      isAllowed: async () => true,
    };
    assert.equal(followers.follow({ ...again, reader: 'account a' }), undefined);
    assert.ok(followers.follow({ ...again, reader: 'account b' }));
    ten[0]!.stream.destroy();
    assert.ok(followers.follow({ ...again, reader: 'account a' }));
  });

  it('that nobody reads holds one chunk, and is cut off', async () => {
    const impatient = open({ maxStalledMs: 50, jsonOf: () => 'x'.repeat(1_000) });
    for (let n = 0; n < 400; n += 1) await append('much');
    const { stream } = follow({ afterSequence: 0 }, impatient);
    stream.removeAllListeners('data');
    stream.pause();
    await once(stream, 'close', { signal: AbortSignal.timeout(DEADLINE_MS) });
    assert.ok(stream.readableLength < 300_000, `${stream.readableLength} bytes`);
    assert.equal(impatient.size, 0);
  });
});

/** Reads a stream as text, and waits for what is in it. */
class Reader {
  readonly stream: Readable;
  text = '';
  readonly #ended: Promise<unknown>;

  constructor(stream: Readable) {
    this.stream = stream;
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      this.text += chunk;
    });
    this.#ended = once(stream, 'end');
    this.#ended.catch(() => {});
  }

  async until(end: string): Promise<void> {
    const signal = AbortSignal.timeout(DEADLINE_MS);
    while (!this.text.endsWith(end)) await once(this.stream, 'data', { signal });
  }

  async ended(): Promise<void> {
    const late = AbortSignal.timeout(DEADLINE_MS);
    await Promise.race([this.#ended, once(late, 'abort').then(() => assert.fail('it continues'))]);
  }

  ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }
}
