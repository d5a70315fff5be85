/** Log-ins for the rows about sessions: an OpenID provider on loopback, and a user who logs in at a share with it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllowedNetworks } from '#domain';
import type { UpOptions } from '../../bin/up.ts';
import { makeTestAuthority } from '../support/certificates.ts';
import { until } from '../support/deadline.ts';
import { DEFAULT_CLIENT, startIdentityProvider } from '../support/identity-provider.ts';
import { Visitor } from '../support/visitor.ts';
import type { World } from '../support/world.ts';

export interface RowLogins {
  /** The options with which the product reaches the provider. */
  readonly options: Pick<UpOptions, 'access' | 'gatewayTls' | 'redirectsToHttps'>;
  /** A provider, with whom someone logged in at a share of this name: its id, and the session's. */
  logIn(world: World, environmentId: string, share: string): Promise<LoggedIn>;
  close(): Promise<void>;
}

export interface LoggedIn {
  readonly providerId: string;
  readonly sessionId: string;
}

const ZONE = 'share.localhost';

export async function openRowLogins(): Promise<RowLogins> {
  const idp = await startIdentityProvider({ users: [{ sub: 'ann', email: 'ann@example.com', name: 'Ann' }] });
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-row-logins-'));
  const authority = await makeTestAuthority();
  const { cert, key } = await authority.issue(ZONE, { dns: [ZONE, `*.${ZONE}`] });
  const gatewayTls = { certFile: join(folder, 'zone.crt'), keyFile: join(folder, 'zone.key') };
  writeFileSync(gatewayTls.certFile, cert);
  writeFileSync(gatewayTls.keyFile, key, { mode: 0o600 });
  const networks = [`127.0.0.1:${idp.port}`, `[::1]:${idp.port}`];
  return {
    options: {
      access: { allowEgress: parseAllowedNetworks('--allow-egress', networks) },
      gatewayTls,
      redirectsToHttps: false,
    },
    logIn: async (world, environmentId, share) => {
      const create = async (path: string, body: object): Promise<string> => {
        const answer = await world.call('POST', path, body);
        assert.equal(answer.status, 201, answer.text);
        return (answer.json as { id?: string }).id ?? '';
      };
      const { id: client_id, secret: client_secret } = DEFAULT_CLIENT;
      const data = { issuer: idp.issuer, client_id, client_secret };
      const providerId = await create('/auth-providers', { name: 'People', type: 'OIDC', data });
      await create('/shares', {
        name: share,
        environmentId,
        shareMode: 'public',
        backendMode: 'proxy',
        target: 'http://127.0.0.1:9',
        authProviderIds: [providerId],
      });
      const { httpPort, httpsPort } = world.up;
      const visitor = new Visitor({ ca: authority.ca, plainPort: httpPort, securePort: httpsPort });
      const host = `${share}.${ZONE}`;
      // The gateway receives the share a moment later.
      const begins = async (): Promise<number> => (await visitor.ask(host, '/')).status;
      await until(`${host} asks who it is`, begins, (status) => status === 302);
      await visitor.logIn(host, '/', 'ann');
      const { json } = await world.call('GET', `/auth-providers/${providerId}/sessions`);
      const [session] = (json as { content: { id: string }[] }).content;
      return { providerId, sessionId: session!.id };
    },
    close: async () => {
      await idp.close();
      rmSync(folder, { recursive: true });
    },
  };
}
