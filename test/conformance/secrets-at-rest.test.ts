// Secrets planted in every field that may hold one stand in no file of the control plane, no log, no refusal and no
// event of the audit trail: only as HMACs, or sealed with a key that the database does not hold.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { JsonClient, type JsonAnswer } from '#net/http';
import { contentOf } from '../support/file-content.ts';
import { openWorld } from '../support/world.ts';

const LEAST_PLANTED = 40;

test('planted secrets are in no file, log, refusal or audit event', async () => {
  const world = await openWorld();
  const client = new JsonClient({ origin: world.up.control.apiUrl });
  try {
    const { credentials } = world;
    const own = `Basic ${credentials.accountId}:${credentials.apiToken}`;
    const base = `/frontdoor/${credentials.frontdoorId}`;
    const secrets = new Set<string>([credentials.apiToken, credentials.clientSecret]);
    const refusals: string[] = [];
    const noted = (secret: unknown): string => {
      assert.ok(typeof secret === 'string' && secret.length >= 16, 'a secret that can be searched for');
      secrets.add(secret);
      return secret;
    };
    const planted = (): string => noted(`planted-${randomBytes(12).toString('hex')}`);
    const call = async (
      method: 'GET' | 'POST' | 'PUT' | 'PATCH',
      path: string,
      body?: unknown,
      authorization: string | null = own,
    ) => {
      // The answer is kept for a repeated creation: sealed with the key of that request.
      const key = method === 'POST' && authorization !== null ? { 'idempotency-key': planted() } : {};
      const headers: Record<string, string> = {
        ...(authorization === null ? {} : { authorization }),
        ...key,
      };
      const answer = await client.request({ method, path, headers, body });
      if (answer.status >= 400) refusals.push(answer.text);
      return answer;
    };
    const done = async (...args: Parameters<typeof call>): Promise<Record<string, unknown>> => {
      const answer = await call(...args);
      assert.ok(answer.status < 300, answer.text);
      return answer.json as Record<string, unknown>;
    };
    const refused = async (asked: Promise<JsonAnswer>): Promise<void> => {
      const { status } = await asked;
      assert.ok(status >= 400 && status < 500, String(status));
    };

    const providers = `${base}/auth-providers`;
    const oidc = () => ({ issuer: 'https://id.example', client_id: 'a', client_secret: planted() });
    const login = () => ({ client_id: 'a', client_secret: planted() });
    const keys = () => ({
      placement: 'header',
      name: 'X-Api-Key',
      keys: [{ name: 'a', key: planted() }, { name: 'b', key: planted() }, { name: 'made' }],
    });
    const definitions = [
      () => ({ name: 'x', type: 'OIDC', data: oidc() }),
      () => ({ name: 'x', type: 'GOOGLE', data: login() }),
      () => ({ name: 'x', type: 'GITHUB', data: login() }),
      () => ({ name: 'x', type: 'API_KEY', data: keys() }),
    ];
    for (const definition of definitions) {
      const made = await done('POST', providers, definition());
      const path = `${providers}/${String(made['id'])}`;
      const put = await done('PUT', path, definition());
      const isKeyed = put['type'] === 'API_KEY';
      const data = isKeyed ? { keys: keys().keys } : { client_secret: planted() };
      const patched = await done('PATCH', path, { data });
      for (const answer of [made, put, patched]) {
        const shown = (answer['data'] as { keys?: { key: string }[] }).keys ?? [];
        for (const { key } of shown) noted(key);
      }
      await refused(call('PATCH', path, { data: { client_secret: planted(), keys: planted() } }));
      await refused(call('PUT', path, { name: planted(), type: planted(), data: planted() }));
      await refused(call('POST', providers, { ...definition(), enabled: true, secret: planted() }));
    }

    const { environmentId } = await world.startAgent('planted host');
    const share = { name: 'planted', environmentId, shareMode: 'public', backendMode: 'proxy' };
    await done('POST', `${base}/shares`, { ...share, target: 'http://127.0.0.1:9' });
    const policy = `${base}/shares/planted/policy`;
    const user = () => ({ name: 'ann', password: planted() });
    await done('PUT', policy, { basicAuth: [user()] });
    await done('PUT', policy, { basicAuth: [user(), { name: 'bob', password: planted() }] });
    await refused(call('PUT', policy, { basicAuth: [{ ...user(), secret: planted() }] }));

    const caller = { name: 'planted', organizationId: credentials.organizationId };
    const account = await done('POST', '/api-accounts', caller);
    noted(account['token']);
    noted((await done('POST', `/api-accounts/${String(account['id'])}/rotate`))['token']);
    const oauthClient = await done('POST', '/oauth-clients', caller);
    noted(oauthClient['secret']);
    noted((await done('POST', `/oauth-clients/${String(oauthClient['id'])}/rotate`))['secret']);
    await refused(call('GET', base, undefined, `Basic ${credentials.accountId}:${planted()}`));
    await refused(call('GET', base, undefined, `Bearer ${planted()}`));

    const grant = {
      grant_type: 'client_credentials',
      client_id: credentials.clientId,
      audience: `${world.up.control.apiUrl}/frontdoor`,
    };
    const token = await done(
      'POST',
      '/oauth/token',
      { ...grant, client_secret: credentials.clientSecret },
      null,
    );
    noted(token['access_token']);
    await refused(call('POST', '/oauth/token', { ...grant, client_secret: planted() }, null));
    const code = noted(await world.enrollmentCode());
    const bootstrap = await done('GET', `/frontdoor/agents/bootstrap-token/${code}`);
    noted(bootstrap['token']);
    await refused(call('GET', `/frontdoor/agents/bootstrap-token/${planted()}`));
    noted((await world.enrollEnvironment('planted')).sessionToken);
    const router = await done('POST', '/fabric/routers', { name: 'planted' });
    noted(router['token']);

    assert.ok(secrets.size >= LEAST_PLANTED, `${secrets.size} were planted`);
    const search = (where: string, bytes: Buffer | string): void => {
      const found = [...secrets].filter((secret) => bytes.includes(secret));
      assert.deepEqual(found, [], `${found.length} secrets stand in ${where}`);
    };
    for (const refusal of refusals) search('a refusal', refusal);
    search('the log', JSON.stringify(world.records));
    const files = readdirSync(world.dataDir, { recursive: true, withFileTypes: true });
    const searched = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
    assert.ok(searched.some((path) => path.endsWith('control.db')));
    assert.ok(searched.some((path) => path.endsWith('control.db-wal')));
    for (const path of searched) search(path, contentOf(path));
    const database = Buffer.concat(searched.filter((path) => /control\.db/.test(path)).map(contentOf));
    assert.ok(database.includes('createAuthProvider'), 'the audit trail is among what was searched');
    assert.ok(refusals.length > 10);
  } finally {
    await client.close();
    await world.close();
  }
});
