// The provider for DNS UPDATE (RFC 2136) at Debian's BIND.
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { OutwardDialer } from '#net';
import { exchangeDns } from '#net/names';
import { Bind, withoutBind } from '../../../../test/support/bind.ts';
import type { DnsProvider } from './dns-provider.ts';
import { decodeUpdateResponse, encodeTxtUpdate } from './dns-update-codec.ts';
import { openDnsProvider } from './open-dns-provider.ts';
import { NEVER } from './provider-api-fixture.ts';

describe('DNS updates', { skip: withoutBind }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bind-'));
  let bind: Bind;
  before(async () => {
    bind = await Bind.start({
      folder,
      keys: { frontdoor: 'hmac-sha256', other: 'hmac-sha512' },
      zones: [
        { name: 'share.localhost', key: 'frontdoor' },
        { name: 'apps.example.com', key: 'other' },
      ],
    });
  });
  after(async () => {
    await bind?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function open(key: string, settings: Readonly<Record<string, string>> = {}): Promise<DnsProvider> {
    const choice = {
      provider: 'rfc2136',
      settings: { server: bind.server, 'key-file': bind.keyFile(key), ...settings },
    };
    return openDnsProvider(choice, { folder, environment: {}, outward: new OutwardDialer() });
  }

  const at = (name: string, value: string) => ({ name, target: name, value });

  it('add values beside others of the same name, in the zone that the server has, and remove each alone', async () => {
    const provider = await open('frontdoor');
    const name = '_acme-challenge.deep.below.share.localhost';
    for (const value of ['wildcard', 'apex', 'apex']) await provider.add(at(name, value), NEVER);
    assert.deepEqual(await bind.txt(name), ['apex', 'wildcard']);
    await provider.remove(at(name, 'apex'), NEVER);
    await provider.remove(at(name, 'apex'), NEVER);
    assert.deepEqual(await bind.txt(name), ['wildcard']);
    await provider.remove(at(name, 'wildcard'), NEVER);
    assert.deepEqual(await bind.txt(name), []);
  });

  it('are signed with HMAC-SHA512 too, and with a key from the environment', async () => {
    const provider = await open('other');
    await provider.add(at('_acme-challenge.x.apps.example.com', 'v'), NEVER);
    const secret = /secret "([^"]+)"/.exec(readFileSync(bind.keyFile('other'), 'utf8'))![1]!;
    const choice = { provider: 'rfc2136', settings: { server: bind.server } };
    const environment = { FRONTDOOR_TSIG_KEY: `hmac-sha512:other:${secret}` };
    const second = await openDnsProvider(choice, { folder, environment, outward: new OutwardDialer() });
    await second.remove(at('_acme-challenge.x.apps.example.com', 'v'), NEVER);
    assert.deepEqual(await bind.txt('_acme-challenge.x.apps.example.com'), []);
  });

  it('that the server refuses name the key, where it is from, and what it needs', async () => {
    const name = '_acme-challenge.share.localhost';
    const other = await open('other');
    await assert.rejects(other.add(at(name, 'v'), NEVER), {
      code: 'dns-provider-failed',
      message:
        /refuses the update \(REFUSED\): the key "other" of key-file=\/.*\.key needs the right to change TXT/,
    });
    const secret = randomBytes(32).toString('base64');
    for (const [key, reason] of [
      ['frontdoor', 'BADSIG'],
      ['unknown', 'BADKEY'],
    ]) {
      const file = join(folder, 'wrong.key');
      writeFileSync(file, `hmac-sha256:${key}:${secret}\n`, { mode: 0o600 });
      const wrong = await open('frontdoor', { 'key-file': file });
      await assert.rejects(wrong.add(at(name, 'v'), NEVER), (error: Error) => {
        assert.match(
          error.message,
          new RegExp(`does not accept the key "${key}" of key-file=/.*NOTAUTH, ${reason}`),
        );
        assert.ok(!error.message.includes(secret));
        return true;
      });
    }
    const elsewhere = await open('frontdoor');
    await assert.rejects(elsewhere.add(at('_acme-challenge.example.org', 'v'), NEVER), {
      message: /does not answer which zone contains _acme-challenge\.example\.org: querySoa/,
    });
    const zone = await open('frontdoor', { zone: 'example.org' });
    await assert.rejects(zone.add(at('_acme-challenge.example.org', 'v'), NEVER), {
      message: /it is no primary server of the zone example\.org \(NOTAUTH\)/,
    });
  });

  it('are answered with the time of the server where clocks differ', async () => {
    const secret = /secret "([^"]+)"/.exec(readFileSync(bind.keyFile('frontdoor'), 'utf8'))![1]!;
    const key = {
      name: 'frontdoor',
      algorithm: 'hmac-sha256',
      hmac: (message: Uint8Array) =>
        createHmac('sha256', Buffer.from(secret, 'base64')).update(message).digest(),
    };
    const nowS = Math.floor(Date.now() / 1_000) - 3_600;
    const update = { id: 7, zone: 'share.localhost', name: 'a.share.localhost', value: 'v', ttl: 60, nowS };
    const { message, mac } = encodeTxtUpdate(update, key);
    const [host = '', port] = bind.server.split(':');
    const bytes = await exchangeDns(
      message,
      { host, port: Number(port) },
      { timeoutMs: 10_000, signal: NEVER },
    );
    const response = decodeUpdateResponse(bytes, 7, { key, mac, nowS });
    assert.deepEqual([response?.rcode, response?.tsigError, response?.isSigned], [9, 18, true]);
    assert.ok(Math.abs(response!.serverS! - nowS - 3_600) < 60);
  });
});
