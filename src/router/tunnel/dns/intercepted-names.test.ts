import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { encodeName } from './host-name-codec.ts';
import { InterceptedNames, type InterceptedNamesOptions } from './intercepted-names.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-names-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

const newFile = (): string => join(folder, `names-${(files += 1)}`);

function optionsWith(change: Partial<InterceptedNamesOptions>): InterceptedNamesOptions {
  return {
    range: '100.64.0.1/10',
    place: 'router.yml:9: listeners[0].options.dnsSvcIpRange',
    file: newFile(),
    areWildcardsAllowed: true,
    isInUse: () => false,
    clock: new ManualClock(),
    log: silentLog,
    ...change,
  };
}

const openNames = async (change: Partial<InterceptedNamesOptions> = {}): Promise<InterceptedNames> =>
  InterceptedNames.open(optionsWith(change));

/** Asks for a name as a query does. */
function ask(names: InterceptedNames, name: string): string | undefined {
  const wire = encodeName(name)!;
  return (names.find(wire) ?? (names.isCovered(wire) ? names.assign(wire) : undefined))?.address;
}

describe('names of services', () => {
  it('get addresses in the order of the range, after the address of the router', async () => {
    const names = await openNames();
    assert.deepEqual(names.range, { address: '100.64.0.1', prefixLength: 10 });
    assert.deepEqual([names.add('a.test', 's1'), names.add('B.Test.', 's1')], ['100.64.0.2', '100.64.0.3']);
    assert.equal(names.nameOf('100.64.0.3'), 'b.test');
    await names.close();
  });

  it('of several services have one address, until the last of them is gone', async () => {
    const names = await openNames();
    const address = names.add('a.test', 's1');
    assert.equal(names.add('A.TEST', 's2'), address);
    names.remove('a.test', 's1');
    assert.equal(ask(names, 'a.test'), address);
    names.remove('a.test', 's2');
    assert.deepEqual([ask(names, 'a.test'), names.nameOf(address!)], [undefined, undefined]);
    names.add('other.test', 's1');
    assert.equal(names.add('a.test', 's3'), address);
    await names.close();
  });

  it('below a wildcard get their address when they are asked for, at any depth, but not the domain itself', async () => {
    const names = await openNames();
    assert.equal(names.add('*.deep.test', 's1'), undefined);
    assert.equal(names.add('*.test', 's2'), undefined);
    assert.deepEqual(
      ['x.y.deep.test', 'deep.test', 'test', 'else.where'].map((name) => ask(names, name)),
      ['100.64.0.2', '100.64.0.3', undefined, undefined],
    );
    assert.deepEqual(names.patternsOf('x.y.deep.test'), ['*.deep.test', '*.test']);
    assert.deepEqual(
      names.liveNames('*.deep.test').map(({ name }) => name),
      ['x.y.deep.test'],
    );
    names.remove('*.test', 's2');
    assert.deepEqual([ask(names, 'x.y.deep.test'), ask(names, 'deep.test')], ['100.64.0.2', undefined]);
    await names.close();
  });

  it('that are no host names are refused', async () => {
    const names = await openNames();
    for (const text of ['', '*', 'a..b', 'a b', '*.*.test', `${'a'.repeat(64)}.test`, 'a.'.repeat(127) + 'b'])
      assert.throws(() => names.add(text, 's1'), { code: 'bad-host-name' }, text);
    await names.close();
  });

  it('are notified to followers, whose failure leaves the name without an answer until the next query', async () => {
    const names = await openNames();
    const seen: string[] = [];
    let fault: Error | undefined = new Error('no rule');
    names.follow({
      given: async (name) => {
        seen.push(`given ${name}`);
        if (fault !== undefined) throw fault;
      },
      released: (name) => seen.push(`released ${name}`),
    });
    names.add('*.test', 's1');
    assert.equal(ask(names, 'a.test'), '100.64.0.2');
    await names.find(encodeName('a.test')!)!.ready;
    assert.equal(names.find(encodeName('a.test')!), undefined);
    fault = undefined;
    assert.equal(ask(names, 'a.test'), '100.64.0.2');
    await names.find(encodeName('a.test')!)!.ready;
    names.remove('*.test', 's1');
    assert.deepEqual(seen, ['given a.test', 'released a.test', 'given a.test', 'released a.test']);
    await names.close();
  });
});

describe('the file of names', () => {
  it('keeps addresses across restarts, also after a crash', async () => {
    const file = newFile();
    const names = await openNames({ file });
    names.add('*.test', 's1');
    for (const name of ['a.test', 'b.test']) ask(names, name);
    await names.find(encodeName('b.test')!)!.ready;
    // The process ends here, in the middle of the next line.
    const crashed = `${readFileSync(file, 'utf8')}{"v":1,"name":"c.te`;
    await names.close();
    writeFileSync(file, crashed);
    const again = await openNames({ file });
    assert.equal(ask(again, 'b.test'), undefined, 'no service has it');
    again.add('*.test', 's1');
    assert.deepEqual(
      ['c.test', 'b.test', 'a.test'].map((name) => ask(again, name)),
      ['100.64.0.4', '100.64.0.3', '100.64.0.2'],
    );
    await again.close();
  });

  it('that contains other things loses these only, and one of a newer version is refused', async () => {
    const file = newFile();
    const lines = [
      '{"v":1,"name":"old.test","address":"100.64.0.7"}',
      'no JSON',
      '{"v":1,"name":"far.test","address":"10.0.0.1"}',
      '{"v":1,"name":"new.test","address":"100.64.0.7"}',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const names = await openNames({ file });
    assert.deepEqual([names.add('new.test', 's'), names.add('old.test', 's')], ['100.64.0.7', '100.64.0.2']);
    await names.close();
    writeFileSync(file, '{"v":2,"name":"old.test","address":"100.64.0.7"}\n');
    await assert.rejects(openNames({ file }), { code: 'bad-name-file' });
    await assert.rejects(openNames({ file: folder }), { code: 'bad-name-file' });
  });
});

describe('a range without free addresses', () => {
  it('is an error that names the option', async () => {
    const names = await openNames({ range: '10.9.0.1/30' });
    assert.equal(names.add('a.test', 's1'), '10.9.0.2');
    assert.throws(() => names.add('b.test', 's1'), {
      code: 'dns-range-exhausted',
      message: /router\.yml:9: listeners\[0\]\.options\.dnsSvcIpRange: no address of 10\.9\.0\.1\/30 is left/,
    });
    await names.close();
    for (const range of ['10.9.0.1/31', '10.9.0.1/32', 'fd00::1/64'])
      await assert.rejects(openNames({ range }), { code: 'bad-dns-range' }, range);
  });

  it('gives an address to another name when no client can still have it, never while it is in use', async () => {
    const clock = new ManualClock();
    const inUse = new Set(['10.9.0.2']);
    const names = await openNames({ range: '10.9.0.1/29', clock, isInUse: (address) => inUse.has(address) });
    const released: string[] = [];
    names.follow({ given: () => {}, released: (name) => released.push(name) });
    names.add('*.test', 's1');
    names.add('host.test', 's2');
    const all = ['used.test', 'old.test', 'b.test', 'c.test'];
    for (const name of all) ask(names, name);
    assert.throws(() => ask(names, 'd.test'), { code: 'dns-range-exhausted' });
    clock.advance(10 * 60_000);
    names.find(encodeName('c.test')!)!.lastAskedMs = clock.nowMs();
    inUse.add('10.9.0.3');
    assert.deepEqual([ask(names, 'd.test'), ask(names, 'e.test')], ['10.9.0.5', '10.9.0.4']);
    assert.deepEqual(released, ['b.test', 'old.test']);
    assert.throws(() => ask(names, 'f.test'), { code: 'dns-range-exhausted' });
    assert.deepEqual([ask(names, 'host.test'), ask(names, 'c.test')], ['10.9.0.2', '10.9.0.6']);
    await names.close();
  });
});
