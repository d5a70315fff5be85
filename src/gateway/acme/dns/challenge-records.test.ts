// The records of one order, and those that orders leave behind.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { silentLog } from '#base';
import { nameBehindAliases } from './challenge-alias.ts';
import { ChallengeRecords } from './challenge-records.ts';
import type { DnsProvider } from './dns-provider.ts';
import { RecordJournal } from './record-journal.ts';
import { RecordSweeper } from './record-sweeper.ts';

const NAME = '_acme-challenge.zone.invalid';
const HOUR_MS = 3_600_000;

const folder = mkdtempSync(join(tmpdir(), 'records-'));
const journal = new RecordJournal(folder);
const files = (): string[] => readdirSync(folder);

/** A provider that keeps its calls; `failure` is what the next ones reject with. */
class KeptCalls implements DnsProvider {
  readonly calls: string[] = [];
  readonly delegations = ['acme.example.net'];
  failure: Error | undefined;

  add = (record: { target: string; value: string }): Promise<void> => this.#call('add', record);
  remove = (record: { target: string; value: string }): Promise<void> => this.#call('remove', record);

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #call(method: string, { target, value }: { target: string; value: string }): Promise<void> {
    this.calls.push(`${method} ${target} ${value}`);
    if (this.failure !== undefined) throw this.failure;
  }
}

function sweeperOf(provider: DnsProvider, nowMs: number): RecordSweeper {
  return new RecordSweeper({
    journal,
    providerName: 'own',
    open: () => Promise.resolve(provider),
    log: silentLog,
    clock: { nowMs: () => nowMs },
  });
}

const kept = (value: string, atMs: number, provider = 'own') =>
  journal.note({ provider, name: NAME, target: NAME, value, atMs });

afterEach(() => {
  for (const name of files()) rmSync(join(folder, name));
});

describe('the records of an order', () => {
  it('are in the journal from before they are created, also when that fails, until they are removed', async () => {
    const provider = new KeptCalls();
    const notes: string[] = [];
    const records = new ChallengeRecords({
      providerName: 'own',
      provider,
      servers: ['127.0.0.1:1'],
      journal,
      signal: new AbortController().signal,
      onNote: (note) => notes.push(note),
    });
    provider.failure = new Error('refused');
    await assert.rejects(records.present(NAME, 'v'), { message: 'refused' });
    assert.equal(files().length, 1);
    await records.cleanUp(NAME, 'v');
    assert.equal(files().length, 1);
    assert.match(notes.join(), /could not be removed, and is removed later: refused/);
    const [left] = await journal.list();
    provider.failure = undefined;
    const sweeper = sweeperOf(provider, left!.atMs);
    await sweeper.sweep();
    assert.equal(files().length, 1, 'an order may still need it');
    await sweeper.sweep(0);
    assert.deepEqual([files(), provider.calls.at(-1)], [[], `remove ${NAME} v`]);
  });
});

describe('records that are left behind', () => {
  it('are bounded: above a hundred no further one is created, and the message names the folder', async () => {
    for (let count = 0; count < 100; count += 1) await kept(String(count), 0);
    await assert.rejects(kept('more', 0), { code: 'dns-provider-failed', message: new RegExp(folder) });
  });

  it('wait while removing them fails, which is tried for a few of them, and are given up after a month', async () => {
    for (let count = 0; count < 5; count += 1) await kept(String(count), 0);
    const provider = new KeptCalls();
    provider.failure = new Error('refused');
    await sweeperOf(provider, HOUR_MS).sweep();
    assert.deepEqual([files().length, provider.calls.length], [5, 3]);
    await sweeperOf(provider, 31 * 24 * HOUR_MS).sweep();
    assert.equal(files().length, 2);
  });

  it('of another provider are not removed by this one, and a damaged file is removed', async () => {
    await kept('v', 0, 'former');
    writeFileSync(join(folder, `${'a'.repeat(32)}.json`), '{');
    const provider = new KeptCalls();
    await sweeperOf(provider, HOUR_MS).sweep();
    assert.deepEqual([files().length, provider.calls], [1, []]);
  });

  it('are not removed by a gateway that stops', async () => {
    await kept('v', 0);
    const provider = new KeptCalls();
    const sweeper = sweeperOf(provider, HOUR_MS);
    await sweeper.close();
    await sweeper.sweep();
    assert.deepEqual(provider.calls, []);
  });
});

describe('the aliases of a name', () => {
  const resolverOf = (aliases: Readonly<Record<string, string>>) => ({
    resolveCname: async (name: string): Promise<string[]> => {
      const alias = aliases[name];
      if (alias === undefined) throw Object.assign(new Error('queryCname ENODATA'), { code: 'ENODATA' });
      return [alias];
    },
  });

  it('are followed to the last one, in lower case', async () => {
    const resolver = resolverOf({ a: 'b', b: 'C.Example.' });
    assert.equal(await nameBehindAliases('a', resolver), 'c.example');
    assert.equal(await nameBehindAliases('other', resolver), 'other');
  });

  it('that lead in a circle are an error', async () => {
    await assert.rejects(nameBehindAliases('a', resolverOf({ a: 'b', b: 'a' })), {
      code: 'dns-provider-failed',
      message: /the alias \(CNAME\) of a leads through more than 8 names, or in a circle/,
    });
  });
});
