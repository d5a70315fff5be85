// Programs at guarded shares, as people write them: curl with keys, tokens, names and passwords, client certificates.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { findCommand } from '../support/child-process.ts';
import { makeTestAuthority } from '../support/certificates.ts';
import { until } from '../support/deadline.ts';
import type { IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorld } from '../support/shared-world.ts';

const CURL = findCommand('curl');
const skip =
  CURL === undefined && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? 'curl is not installed' : false;
const KEY = 'a-key-for-programs';
/** From a change to the last gateway. */
const KNOWN_MS = 20_000;
/** Issuers are asked again for unknown keys, but not at once again. */
const ROTATED_MS = 40_000;

interface Curled {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

const isAdmitted = ({ status }: Curled): boolean => status === 200;

function claimsOf(jwt: string): Record<string, unknown> {
  const [, payload = ''] = jwt.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
}

describe('curl', { skip }, () => {
  let world: IdentityWorld;
  before(async () => {
    world = await sharedIdentityWorld();
    writeFileSync(join(world.parts.folder, 'share-ca.pem'), world.ca);
  });
  after(releaseWorld);

  const file = (name: string): string => join(world.parts.folder, name);

  async function curl(host: string, path: string, ...args: readonly string[]): Promise<Curled> {
    const { stdout } = await promisify(execFile)(CURL!, [
      '--silent',
      '--show-error',
      '--include',
      '--http1.1',
      '--max-time',
      '15',
      '--cacert',
      file('share-ca.pem'),
      '--resolve',
      `${host}:${world.securePort}:127.0.0.1`,
      ...args,
      `https://${host}:${world.securePort}${path}`,
    ]);
    const [head = '', ...body] = stdout.split('\r\n\r\n');
    return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: body.join('\r\n\r\n') };
  }

  const seenOf = ({ body }: Curled) =>
    JSON.parse(body) as { readonly url: string; readonly headers: Readonly<Record<string, string>> };

  it('is admitted by an API key in a header, in a query parameter and as bearer token; the service receives none of them', async () => {
    const placements = [
      [{ placement: 'header', name: 'X-Api-Key' }, '/page?x=1', ['--header', `X-Api-Key: ${KEY}`]],
      [{ placement: 'query', name: 'key' }, `/page?x=1&key=${KEY}&y=2`, []],
      [{ placement: 'bearer' }, '/page?x=1', ['--header', `Authorization: Bearer ${KEY}`]],
    ] as const;
    for (const [data, path, args] of placements) {
      const { placement } = data;
      const id = await world.addProvider('API_KEY', placement, {
        ...data,
        keys: [{ name: 'curl', key: KEY }],
      });
      const host = await world.share(`by-${placement}`, [id]);
      const good = await curl(host, path, ...args);
      assert.equal(good.status, 200, good.body);
      const { url, headers } = seenOf(good);
      assert.equal(url, placement === 'query' ? '/page?x=1&y=2' : '/page?x=1');
      assert.doesNotMatch(good.body, new RegExp(KEY));
      const { kind, sub, provider } = claimsOf(headers['frontdoor-identity'] ?? '');
      assert.deepEqual([kind, sub, provider], ['api-key', 'curl', placement]);
      for (const wrong of [path.replace(KEY, 'a-key-of-nobody'), path]) {
        const bad = await curl(host, wrong, ...args.map((arg) => arg.replace(KEY, 'a-key-of-nobody')));
        if (wrong === path && placement === 'query') continue;
        assert.equal(bad.status, 401, `${placement}: ${bad.body}`);
        const scheme =
          placement === 'bearer' ? /^www-authenticate: bearer/im : /^www-authenticate: apikey .*name=/im;
        assert.match(bad.head, scheme);
      }
    }
  });

  it('is admitted by a token of the provider, and by no other token', async () => {
    const host = await world.share('tokens', [await world.addProvider('OIDC', 'machines')], {
      claims: [{ claim: 'groups', anyOf: ['robots'] }],
    });
    const claims = { sub: 'robot-1', groups: ['robots'] };
    const bearer = async (token: string): Promise<Curled> =>
      curl(host, '/', '--header', `Authorization: Bearer ${token}`);
    const token = await world.provider.signToken(claims);
    const { value: good } = await until('the keys are known', () => bearer(token), isAdmitted, KNOWN_MS);
    assert.equal(seenOf(good).headers['authorization'], undefined);
    const ofNobody = await world.provider.signToken({ sub: 'robot-2', groups: ['people'] });
    await until(
      'the claims are asked for',
      () => bearer(ofNobody),
      ({ status }) => status === 403,
    );
    const refused = [
      [await world.provider.signToken(claims, { audience: 'another-client' }), 401],
      [await world.provider.signToken(claims, { issuer: 'https://evil.test' }), 401],
      [await world.provider.signToken(claims, { expiresInS: -120 }), 401],
    ] as const;
    for (const [token, status] of refused) assert.equal((await bearer(token)).status, status);
  });

  it('is admitted by a token that is signed with a key that the provider has just added', async () => {
    const host = await world.share('rotated', [await world.addProvider('OIDC', 'rotating')]);
    const bearer = (token: string) => curl(host, '/', '--header', `Authorization: Bearer ${token}`);
    const old = await world.provider.signToken({ sub: 'robot' });
    await until('the key is known', () => bearer(old), isAdmitted, KNOWN_MS);
    await world.provider.rotateKeys();
    const token = await world.provider.signToken({ sub: 'robot' });
    await until('the new key is known', () => bearer(token), isAdmitted, ROTATED_MS);
  });

  it('is admitted by name and password, which the service does not receive', async () => {
    const host = await world.share('basic', [], {
      basicAuth: [{ name: 'ann', password: 'a long password' }],
    });
    await until(
      'the policy is known',
      () => curl(host, '/'),
      ({ status, head }) => status === 401 && /^www-authenticate: basic/im.test(head),
    );
    const good = await curl(host, '/', '--user', 'ann:a long password');
    assert.equal(good.status, 200, good.body);
    assert.equal(seenOf(good).headers['authorization'], undefined);
    assert.equal((await curl(host, '/', '--user', 'ann:another password')).status, 401);
    assert.equal((await curl(host, '/', '--user', 'bob:a long password')).status, 401);
  });

  it('is admitted by a client certificate of a trusted authority, for an allowed name', async () => {
    const clients = await makeTestAuthority('clients');
    const save = async (name: string, authority: typeof clients): Promise<void> => {
      const { cert, key } = await authority.issue(name, { dns: [name], purposes: ['client'] });
      writeFileSync(file(`${name}.pem`), cert);
      writeFileSync(file(`${name}.key`), key, { mode: 0o600 });
    };
    await save('robot', clients);
    await save('stranger', clients);
    await save('forged', await makeTestAuthority('others'));
    const host = await world.share('certified', [], {
      clientCertificate: { authorities: [clients.ca], names: ['robot'] },
    });
    const by = (name: string): Promise<Curled> =>
      curl(host, '/', '--cert', file(`${name}.pem`), '--key', file(`${name}.key`));
    await until(
      'the policy is known',
      () => curl(host, '/'),
      ({ status }) => status === 403,
    );
    const good = await by('robot');
    assert.equal(good.status, 200, good.body);
    assert.equal((await by('stranger')).status, 403);
    const forged = await by('forged').catch(() => ({ status: 0 }));
    assert.ok([0, 403].includes(forged.status), String(forged.status));
  });

  it('gets 429 when it asks too often, and reaches an open share without credentials', async () => {
    const id = await world.addProvider('API_KEY', 'limited', {
      placement: 'header',
      name: 'X-Api-Key',
      keys: [{ name: 'curl', key: KEY }],
    });
    const host = await world.share('limited', [id], {
      rateLimit: { requests: 3, per: 'PT1H' },
      publicPaths: ['/health'],
    });
    await until('the policy is known', () => curl(host, '/health'), isAdmitted);
    const key = ['--header', `X-Api-Key: ${KEY}`];
    const seen: number[] = [];
    for (let i = 0; i < 4; i += 1) seen.push((await curl(host, '/', ...key)).status);
    assert.deepEqual(seen, [200, 200, 200, 429]);
    const limited = await curl(host, '/', ...key);
    assert.match(limited.head, /^retry-after: \d+$/im);
    assert.equal((await curl(host, '/health')).status, 200);
  });

  it('is refused once the share’s time is over', async () => {
    const host = await world.share('brief', []);
    const expiresAt = new Date(Date.now() + 1_500).toISOString();
    await world.call('PUT', '/shares/brief/policy', { expiresAt });
    const { value } = await until(
      'the time is over',
      () => curl(host, '/'),
      ({ status }) => status !== 200,
    );
    assert.equal(value.status, 403);
  });
});
