/** What an installation has before its user's first day: an agent with services, an account, and requests that were refused. */
import assert from 'node:assert/strict';
import type { ConsoleBrowser } from './console-browser.ts';
import { eventually } from './world.ts';

export interface FirstDay {
  /** The port of the service. */
  readonly port: number;
  /** The id on the page of a visitor who was refused. */
  readonly errorId: string;
  /** The beginning of the name of a person with the role reader. */
  readonly reader: string;
}

export async function fillFirstDay(
  { world }: ConsoleBrowser,
  port: number,
): Promise<Omit<FirstDay, 'reader'>> {
  const done = async (
    method: Parameters<typeof world.call>[0] | 'PUT',
    path: string,
    body?: unknown,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const { status, json, text } = await world.call(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return json as Readonly<Record<string, unknown>>;
  };
  const [agent] = await Promise.all([
    world.startAgent('laptop', ['127.0.0.1:*', '10.7.0.0/16:*']),
    world.startAgent('stolen notebook'),
  ]);
  const service = `http://127.0.0.1:${port}`;
  for (const [name, target, shareMode] of [
    ['wiki', service, 'public'],
    ['intranet', service, 'public'],
    ['billing', 'http://10.7.3.4:8443', 'public'],
    ['old-shop', service, 'public'],
    ['trial', service, 'public'],
    ['database', service, 'private'],
  ] as const)
    await done('POST', '/shares', {
      environmentId: agent.environmentId,
      backendMode: 'proxy',
      name,
      target,
      shareMode,
    });
  await done('POST', '/auth-providers', {
    name: 'company keys',
    type: 'API_KEY',
    data: { placement: 'header', name: 'x-key', keys: [{ name: 'ci' }] },
  });
  await done('DELETE', '/shares/old-shop');
  await done('PUT', '/shares/intranet/policy', { ipDeny: ['127.0.0.0/8'] });
  const { value } = await refusal();
  await eventually(
    () => done('GET', `/failures?shareToken=intranet`),
    ({ totalElements }) => Number(totalElements) > 0,
  );
  const { accountId, apiToken, organizationId } = world.credentials;
  const account = await fetch(`${world.up.control.baseUrl}/api-accounts`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${accountId}:${apiToken}`)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'deploy script', organizationId, scopes: ['frontdoor.read'] }),
  });
  assert.equal(account.status, 201, await account.text());
  return { port, errorId: value };

  async function refusal(): Promise<{ readonly value: string }> {
    const answer = await eventually(
      () => world.get('intranet.share.localhost', '/reports'),
      ({ status }) => status === 403,
    );
    const [value] = /\b[0-9a-f]{24}\b/.exec(String(answer.body)) ?? [];
    assert.ok(value !== undefined, String(answer.body));
    return { value };
  }
}
