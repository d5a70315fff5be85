// Hetzner's Cloud API as its documentation shows it.
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { Hetzner } from './hetzner.ts';
import {
  NEVER,
  openProviderApi,
  recordAt,
  type DnsApiAnswer,
  type ProviderApi,
} from './provider-api-fixture.ts';

const TOKEN = 'hcloud-token-0123456789';
const record = recordAt('_acme-challenge.share.example.com', 'v1');
const SET = '/v1/zones/example.com/rrsets/_acme-challenge.share/TXT';

const failed = (status: number, code: string, message: string): DnsApiAnswer => ({
  status,
  body: { error: { code, message, details: null } },
});
const action = (status: string, error: unknown = null): DnsApiAnswer => ({
  status: 201,
  body: { action: { id: 17, command: 'add_rrset_records', status, progress: 50, error } },
});

describe('the provider for Hetzner', () => {
  let api: ProviderApi;
  let provider: Hetzner;
  /** The answers after those about zones, in order. */
  let next: DnsApiAnswer[] = [];
  const open = async (): Promise<void> => {
    api = await openProviderApi(({ line }) => {
      if (!line.startsWith('GET /v1/zones/')) return next.shift() ?? action('success');
      if (line === 'GET /v1/zones/example.com')
        return { body: { zone: { id: 42, name: 'example.com', mode: 'primary' } } };
      return failed(404, 'not_found', 'zone not found');
    });
    provider = new Hetzner(api.context(TOKEN));
  };
  afterEach(async () => {
    next = [];
    await provider.close();
    api.close();
  });

  it('finds the zone by its names, adds a quoted value to the set, and waits for the action', async () => {
    await open();
    next = [action('running'), action('running'), action('success')];
    await provider.add(record, NEVER);
    assert.deepEqual(
      api.requests.map(({ line }) => line),
      [
        'GET /v1/zones/_acme-challenge.share.example.com',
        'GET /v1/zones/share.example.com',
        'GET /v1/zones/example.com',
        `POST ${SET}/actions/add_records`,
        'GET /v1/actions/17',
        'GET /v1/actions/17',
      ],
    );
    assert.equal(api.requests[3]!.headers.authorization, `Bearer ${TOKEN}`);
    assert.deepEqual(JSON.parse(api.requests[3]!.body), { ttl: 60, records: [{ value: '"v1"' }] });
  });

  it('removes its value from the set, and a set that is gone is no error', async () => {
    await open();
    await provider.remove(record, NEVER);
    assert.equal(api.requests.at(-1)!.line, `POST ${SET}/actions/remove_records`);
    assert.deepEqual(JSON.parse(api.requests.at(-1)!.body), { records: [{ value: '"v1"' }] });
    next = [failed(404, 'not_found', 'rrset not found')];
    await provider.remove(record, NEVER);
  });

  it('tries again while another change locks the zone, and reports an action that fails', async () => {
    await open();
    next = [failed(423, 'locked', 'zone is locked'), action('success')];
    await provider.add(record, NEVER);
    assert.deepEqual(api.pauses, [1_000]);
    next = [action('running'), action('error', { code: 'action_failed', message: 'Action failed' })];
    await assert.rejects(provider.add(record, NEVER), {
      code: 'dns-provider-failed',
      message:
        /did not add a TXT record at _acme-challenge\.share\.example\.com: Action failed \(action_failed\)/,
    });
  });

  it('names where a wrong or read-only token comes from and what it needs', async () => {
    await open();
    for (const answer of [
      failed(401, 'unauthorized', 'unable to authenticate'),
      failed(403, 'token_readonly', 'insufficient permissions for this request'),
    ]) {
      next = [answer];
      await assert.rejects(provider.add(record, NEVER), {
        message: /^Hetzner refuses what token-file=\/etc\/token holds: .* it needs the right R$/,
      });
    }
  });
});
