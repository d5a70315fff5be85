// Another token issuer, from the operator's file to a call: its keys are fetched where the operator opened the network.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exportJWK, SignJWT } from 'jose';
import { silentLog } from '#base';
import { loadTrustedIssuers, startControlPlane, type ControlPlane } from '#control';
import { parseAllowedNetworks } from '#domain';
import { JsonClient } from '#net/http';

const ISSUER = 'https://login.example/realm';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

let folder: string;
let keyServer: Server;
let port: number;
let fetches = 0;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-issuer-'));
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  keyServer = createServer((_request, response) => {
    fetches += 1;
    response.setHeader('cache-control', 'max-age=600').end(JSON.stringify({ keys: [jwk] }));
  }).listen(0, '127.0.0.1');
  await once(keyServer, 'listening');
  ({ port } = keyServer.address() as AddressInfo);
});
after(() => {
  keyServer.close();
  rmSync(folder, { recursive: true });
});

async function start(dataDir: string, file: string, allowEgress: readonly string[]): Promise<ControlPlane> {
  return startControlPlane({
    dataDir: join(folder, dataDir),
    listenHost: '127.0.0.1',
    advertiseHost: 'localhost',
    apiPort: 0,
    edgeApiPort: 0,
    ctrlPort: 0,
    zone: 'share.localhost',
    frontendUrls: () => [],
    trustedIssuers: await loadTrustedIssuers(file),
    allowEgress: parseAllowedNetworks('--allow-egress', allowEgress),
    log: silentLog,
  });
}

/** The answer to a call with a token of the issuer, for the first organization of a control plane. */
async function callAs(control: ControlPlane, tenant: string) {
  const token = await new SignJWT({ tenant, permissions: ['frontdoor.read', 'frontdoor.admin'] })
    .setProtectedHeader({ alg: 'RS256', kid: 'k1', typ: 'JWT' })
    .setIssuer(ISSUER)
    .setAudience('frontdoor')
    .setSubject('ada')
    .setExpirationTime('10m')
    .sign(privateKey);
  const client = new JsonClient({ origin: control.apiUrl });
  const headers = { authorization: `Bearer ${token}` };
  const answer = await client.request({ method: 'GET', path: '/caller', headers });
  await client.close();
  return answer;
}

function writeFile(organizations: Readonly<Record<string, string>> = {}): string {
  const file = join(folder, 'issuers.yaml');
  const text = `
- issuer: ${ISSUER}
  audience: frontdoor
  jwksUri: http://127.0.0.1:${port}/keys
  organizationClaim: tenant
  scopeClaim: permissions
  organizations: ${JSON.stringify(organizations)}
`;
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

describe('an issuer that the operator’s file names', () => {
  it('admits its callers, as members of the organization that the file gives them', async () => {
    const seed = await start('open', writeFile(), []);
    const { organizationId } = seed.firstStart!;
    await seed.close();
    assert.equal(fetches, 0, 'nothing inside is fetched unless it was opened');
    const control = await start('open', writeFile({ acme: organizationId }), [`127.0.0.1:${port}`]);
    const answer = await callAs(control, 'acme');
    assert.deepEqual(answer.json, {
      kind: 'issuer',
      id: `${ISSUER}#ada`,
      name: null,
      organizationId,
      scopes: ['frontdoor.read'],
    });
    assert.equal((await callAs(control, 'other')).status, 401);
    assert.equal(fetches, 1);
    await control.close();
  });

  it('cannot be verified while its keys are in a closed network', async () => {
    const before = fetches;
    const control = await start('closed', writeFile(), ['127.0.0.1:1']);
    const answer = await callAs(control, 'acme');
    assert.deepEqual([answer.status, (answer.json as { error: string }).error], [503, 'unavailable']);
    assert.equal(fetches, before);
    await control.close();
  });
});
