// A gateway as a program redirects plain HTTP once a certificate covers the name of a share, unless its option or the policy says no.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeTestAuthority } from '../support/certificates.ts';
import { until } from '../support/deadline.ts';
import type { SecureReady } from '../support/identity-world.ts';
import type { PartProcess } from '../support/part-process.ts';
import type { GatewayReady, Separate } from '../support/separate.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';

const HOST = 'redirected.share.localhost';

describe('the redirect to HTTPS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-redirect-'));
  const service = createServer((_request, response) => response.end('served'));
  const gateways: PartProcess<GatewayReady>[] = [];
  let parts: Separate;
  before(async () => {
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { cert, key } = await (await makeTestAuthority()).issue('zone', { dns: ['*.share.localhost'] });
    mkdirSync(join(folder, 'tls'));
    writeFileSync(join(folder, 'tls', 'zone.crt'), cert);
    writeFileSync(join(folder, 'tls', 'zone.key'), key, { mode: 0o600 });
    parts = await sharedSeparate();
    await parts.share('public', `http://127.0.0.1:${(service.address() as AddressInfo).port}`, 'redirected');
  });
  after(async () => {
    for (const gateway of gateways) await gateway.stop();
    await releaseWorld();
    service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(name: string, ...options: readonly string[]): Promise<SecureReady> {
    const secure = ['--https-port', '0', '--tls-dir', join(folder, 'tls')];
    const gateway = await parts.addGateway(name, [...secure, ...options]);
    gateways.push(gateway);
    return gateway.ready as SecureReady;
  }

  async function ask({ gatewayUrl }: GatewayReady): Promise<IncomingMessage> {
    const sent = get(`${gatewayUrl}/page?a=1`, { agent: false, headers: { host: HOST } });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.resume();
  }
  const becomes = (ready: GatewayReady, status: number) =>
    until(
      `answer ${status}`,
      () => ask(ready),
      ({ statusCode }) => statusCode === status,
    );

  it('leads to the same address, and ends with the policy of the share', async () => {
    const ready = await start('redirecting');
    const { value } = await becomes(ready, 308);
    assert.equal(value.headers.location, `https://${HOST}:${ready.securePort}/page?a=1`);
    assert.equal(value.headers['strict-transport-security'], undefined);
    await parts.call('PUT', '/shares/redirected/policy', { httpsRedirect: 'never' });
    await becomes(ready, 200);
  });

  it('is off for a gateway with --https-redirect off', async () => {
    await parts.call('PUT', '/shares/redirected/policy', { httpsRedirect: 'always' });
    await becomes(await start('plain', '--https-redirect', 'off'), 200);
  });
});
