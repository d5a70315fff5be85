// A server of acme-dns as its documentation shows it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { AcmeDns } from './acme-dns.ts';
import { NEVER, openProviderApi, type DnsApiAnswer, type ProviderApi } from './provider-api-fixture.ts';

const NAME = '_acme-challenge.share.example.com';
const ACCOUNT = {
  username: 'eabcdb41-d89f-4580-826f-3e62e9755ef2',
  password: 'pbAXVjlIOE01xbut7YnAbkhMQIkcwoHO0ek2j4Q0',
  fulldomain: 'd420c923-bbd7-4056-ab64-c3ca54c9b3cf.auth.example.com',
  subdomain: 'd420c923-bbd7-4056-ab64-c3ca54c9b3cf',
};
const value = 'v'.repeat(43);

describe('the provider for acme-dns', () => {
  const folder = mkdtempSync(join(tmpdir(), 'acme-dns-'));
  let api: ProviderApi;
  let next: DnsApiAnswer[] = [];
  const open = async (): Promise<AcmeDns> => {
    api = await openProviderApi(({ line }) => {
      const [answer] = next.splice(0, 1);
      if (answer !== undefined) return answer;
      return line === 'POST /register'
        ? { status: 201, body: { ...ACCOUNT, allowfrom: [] } }
        : { body: { txt: value } };
    });
    return new AcmeDns(api.context(undefined, { server: api.origin }, folder));
  };
  afterEach(() => {
    next = [];
    api.close();
    rmSync(join(folder, 'acme-dns'), { recursive: true, force: true });
  });

  it('registers an account once, names the alias to create, and updates it when that leads there', async () => {
    const provider = await open();
    const wanted = new RegExp(`create the record "${NAME}\\. CNAME ${ACCOUNT.fulldomain}\\." in its zone`);
    for (let times = 0; times < 2; times += 1)
      await assert.rejects(provider.add({ name: NAME, target: NAME, value }, NEVER), {
        code: 'dns-provider-failed',
        message: wanted,
      });
    await provider.add({ name: NAME, target: ACCOUNT.fulldomain, value }, NEVER);
    assert.deepEqual(
      api.requests.map(({ line }) => line),
      ['POST /register', 'POST /update'],
    );
    const { headers, body } = api.requests[1]!;
    assert.deepEqual(
      [headers['x-api-user'], headers['x-api-key'], JSON.parse(body)],
      [ACCOUNT.username, ACCOUNT.password, { subdomain: ACCOUNT.subdomain, txt: value }],
    );
    const file = join(folder, 'acme-dns', `${NAME}.json`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(file, 'utf8'), /"format":1/);
  });

  it('names the file of an account that the server refuses, and does not repeat its password', async () => {
    const provider = await open();
    await assert.rejects(provider.add({ name: NAME, target: NAME, value }, NEVER));
    next = [{ status: 401, body: { error: `forbidden ${ACCOUNT.password}` } }];
    await assert.rejects(
      provider.add({ name: NAME, target: ACCOUNT.fulldomain, value }, NEVER),
      (error: Error) => {
        assert.match(error.message, /refuses what \/.*\.json holds: forbidden/);
        assert.ok(!error.message.includes(ACCOUNT.password), error.message);
        return true;
      },
    );
  });

  it('that answers something else is an error, and nothing is kept', async () => {
    const provider = await open();
    next = [{ body: '<html>' }];
    await assert.rejects(provider.add({ name: NAME, target: NAME, value }, NEVER), {
      message: /does not answer like a server of acme-dns/,
    });
    assert.throws(() => statSync(join(folder, 'acme-dns', `${NAME}.json`)));
  });
});
