// Cloudflare as its API documentation and its answers to wrong tokens show it.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { Cloudflare } from './cloudflare.ts';
import {
  NEVER,
  openProviderApi,
  recordAt,
  type DnsApiAnswer,
  type ProviderApi,
} from './provider-api-fixture.ts';

const TOKEN = 'cf-token-0123456789';
const ZONE = '023e105f4ecef8ad9ca31a8372d0c353';
const RECORDS = `/client/v4/zones/${ZONE}/dns_records`;
const record = recordAt('_acme-challenge.share.example.com', 'v1');

const ok = (result: unknown): DnsApiAnswer => ({
  body: { success: true, errors: [], messages: [], result },
});
const failed = (status: number, ...errors: unknown[]): DnsApiAnswer => ({
  status,
  body: { success: false, errors, messages: [], result: null },
});

describe('the provider for Cloudflare', () => {
  let api: ProviderApi;
  let provider: Cloudflare;
  /** The answers after those about zones, in order. */
  let next: DnsApiAnswer[] = [];
  const open = async (settings = {}): Promise<void> => {
    api = await openProviderApi(({ line }) => {
      if (!line.startsWith('GET /client/v4/zones?')) return next.shift() ?? ok([]);
      return ok(line.endsWith('name=example.com') ? [{ id: ZONE, name: 'example.com' }] : []);
    });
    provider = new Cloudflare(api.context(TOKEN, settings));
  };
  afterEach(async () => {
    next = [];
    await provider.close();
    api.close();
  });

  it('finds the zone from the longest name on, and adds a quoted value with the token', async () => {
    await open();
    next = [ok({ id: 'r1' })];
    await provider.add(record, NEVER);
    assert.deepEqual(
      api.requests.map(({ line }) => line),
      [
        'GET /client/v4/zones?name=_acme-challenge.share.example.com',
        'GET /client/v4/zones?name=share.example.com',
        'GET /client/v4/zones?name=example.com',
        `POST ${RECORDS}`,
      ],
    );
    const { headers, body } = api.requests.at(-1)!;
    assert.equal(headers.authorization, `Bearer ${TOKEN}`);
    assert.equal(headers['content-type'], 'application/json');
    assert.deepEqual(JSON.parse(body), { type: 'TXT', name: record.name, content: '"v1"', ttl: 60 });
  });

  it('removes its value, and no other of the name', async () => {
    await open({ 'zone-id': ZONE });
    next = [
      ok([
        { id: 'other', content: '"v2"' },
        { id: 'mine', content: '"v1"' },
      ]),
      ok({ id: 'mine' }),
    ];
    await provider.remove(record, NEVER);
    assert.deepEqual(
      api.requests.map(({ line }) => line),
      [
        `GET ${RECORDS}?type=TXT&name=_acme-challenge.share.example.com&per_page=100`,
        `DELETE ${RECORDS}/mine`,
      ],
    );
  });

  it('takes a record that exists as added, and one that is gone as removed', async () => {
    await open({ 'zone-id': ZONE });
    next = [failed(400, { code: 81_058, message: 'An identical record already exists.' })];
    await provider.add(record, NEVER);
    next = [
      ok([{ id: 'mine', content: 'v1' }]),
      failed(404, { code: 81_044, message: 'Record does not exist.' }),
    ];
    await provider.remove(record, NEVER);
  });

  it('names where a wrong token comes from and what it needs, and repeats no token', async () => {
    await open({ 'zone-id': ZONE });
    for (const answer of [
      failed(403, { code: 10_000, message: 'Authentication error' }),
      failed(400, {
        code: 6_003,
        message: 'Invalid request headers',
        error_chain: [{ code: 6_111, message: `Invalid format for Authorization header ${TOKEN}` }],
      }),
    ]) {
      next = [answer];
      await assert.rejects(provider.add(record, NEVER), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'dns-provider-failed');
        assert.match(error.message, /refuses what token-file=\/etc\/token holds: .* it needs the right R$/);
        assert.ok(!error.message.includes(TOKEN), error.message);
        return true;
      });
    }
  });

  it('that shows no zone of the name is an error with what the token needs', async () => {
    await open();
    await assert.rejects(provider.add(recordAt('_acme-challenge.example.org', 'v'), NEVER), {
      message: /shows no zone that contains _acme-challenge\.example\.org: the token needs the right R/,
    });
  });

  it('that is limited or fails is asked again after the time that it names, a few times', async () => {
    await open({ 'zone-id': ZONE });
    const limited = {
      ...failed(429, { code: 971, message: 'rate limited' }),
      headers: { 'retry-after': '7' },
    };
    next = [limited, failed(503), ok({ id: 'r' })];
    await provider.add(record, NEVER);
    assert.deepEqual(api.pauses, [7_000, 2_000]);
    next = Array.from({ length: 9 }, () => failed(500, { code: 1, message: 'internal' }));
    await assert.rejects(provider.add(record, NEVER), {
      message: /failed 4 times: internal \(1\) \(HTTP 500\)$/,
    });
    assert.equal(next.length, 5);
    next = [{ ...limited, headers: { 'retry-after': '300' } }];
    await assert.rejects(provider.add(record, NEVER), { message: /asks to wait 300 s/ });
  });
});
