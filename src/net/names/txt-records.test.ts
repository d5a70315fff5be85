import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestNameServer } from '../../../test/support/test-name-server.ts';
import { areDnsServers, txtRecordsOf } from './txt-records.ts';

describe('TXT records of a name', () => {
  let server: TestNameServer;
  const ask = (name: string) => txtRecordsOf(name, { servers: [server.address] });
  before(async () => {
    server = await TestNameServer.start();
    server.names.set('one.example', { txt: ['a', 'b'] });
    server.names.set('long.example', { txt: ['x'.repeat(400)] });
    server.names.set('alias.example', { alias: 'one.example' });
    server.names.set('fails.example', { failure: 'SERVFAIL' });
    server.names.set('refuses.example', { failure: 'REFUSED' });
    server.names.set('silent.example', { failure: 'SILENCE' });
  });
  after(() => server.close());

  it('are found, behind an alias and in several pieces, too', async () => {
    assert.deepEqual((await ask('one.example')).values.toSorted(), ['a', 'b']);
    assert.deepEqual((await ask('alias.example')).values.toSorted(), ['a', 'b']);
    assert.deepEqual(await ask('long.example'), { values: ['x'.repeat(400)], problem: undefined });
  });

  it('are none where there is no such name, or no such record', async () => {
    for (const name of ['nobody.example', 'example'])
      assert.deepEqual(await ask(name), { values: [], problem: undefined }, name);
  });

  it('are not known where name servers fail or do not answer', async () => {
    for (const [name, problem] of [
      ['fails.example', /ESERVFAIL/],
      ['refuses.example', /EREFUSED/],
      ['silent.example', /ETIMEOUT/],
    ] as const) {
      const answer = await ask(name);
      assert.deepEqual(answer.values, [], name);
      assert.match(answer.problem ?? '', problem);
    }
  });

  it('are not waited for when the question is ended', async () => {
    const ending = new AbortController();
    const answer = txtRecordsOf('silent.example', { servers: [server.address], signal: ending.signal });
    ending.abort();
    assert.match((await answer).problem ?? '', /ECANCELLED/);
  });

  it('are asked from addresses alone', () => {
    assert.ok(areDnsServers(['192.0.2.53', '[2001:db8::53]:5353', '192.0.2.53:53']));
    assert.ok(!areDnsServers(['dns.example']));
  });
});
