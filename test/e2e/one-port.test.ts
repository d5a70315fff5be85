// Agents in a network that lets out port 443 only: of `up --one-port`, directly and through a proxy.
import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, test } from 'node:test';
import { callAgent } from '#cli';
import { apiNamesOf } from '../../bin/api-certificate.ts';
import { partOf, sharedNamesOf } from '../../bin/shared-port.ts';
import { makeTestAuthority } from '../support/certificates.ts';
import { CustomerSite, PROXY_ADDRESS, SERVER_ADDRESS, SERVER_NAME } from '../support/customer-site.ts';
import { until } from '../support/deadline.ts';
import { namespaceSkip } from '../support/network-namespace.ts';
import { PROXY_PASSWORD, PROXY_USER, REAL_PROXIES } from '../support/real-proxies.ts';

const skip = namespaceSkip('nft', 'ss', 'curl', 'squid', 'openssl');
const API_NAME = 'api.frontdoor.example';
const WAIT_MS = 60_000;
const SERVICE = `require('node:http').createServer((q, r) => r.end('from the site')).listen(8000, '127.0.0.1')`;

const FRONT = ['--listen', PROXY_ADDRESS, '--https-port', '443'];
const certificateOf = (at: CustomerSite) => [
  '--tls-cert',
  at.file('api.pem'),
  '--tls-key',
  at.file('api.key'),
];

describe('one port for everything', () => {
  test(
    'serves an agent, the Management API and shares, directly and through a proxy',
    { skip },
    async (t) => {
      const at = await CustomerSite.open(t);
      await at.setNames(at.world, [`${SERVER_ADDRESS} ${SERVER_NAME} ${API_NAME}`]);
      await at.setNames(at.site, [`${SERVER_ADDRESS} ${SERVER_NAME} ${API_NAME}`, '192.0.2.3 proxy.example']);
      const apiUrl = `https://${API_NAME}`;
      const own = ['--one-port', '--https-port', '443', '--listen', SERVER_ADDRESS];
      await at.startUp({ args: own, apiName: API_NAME, apiUrl });
      const proxy = await REAL_PROXIES['squid']!(at);
      await proxy.start();
      at.start(at.site, process.execPath, ['-e', SERVICE]);
      const codes = [await at.enrollmentCode('near'), await at.enrollmentCode('behind')];
      const proxyUrl = `http://${PROXY_USER}:${PROXY_PASSWORD}@proxy.example:${proxy.port}`;

      await at.allowOnly(SERVER_ADDRESS, 443);
      const near = at.startAgent('near', {}, ['--enrollment-token-file', codes[0]!]);
      const text = () => `${near.text()}`;
      const { value: status } = await until('the agent', () => at.status('near'), Boolean, WAIT_MS).catch(
        (error: unknown) => {
          throw new Error(text(), { cause: error });
        },
      );
      assert.equal(status?.apiUrl, `https://${SERVER_NAME}:443`.replace(':443', ''));
      const share = (agent: string, name: string) =>
        callAgent(at.socketOf(agent), {
          op: 'share',
          mode: 'public',
          target: 'http://127.0.0.1:8000',
          grants: [],
          name,
        });
      await share('near', 'near');
      const answer = (name: string) => () => at.answerOf(name, 443);
      await until('the share', answer('near'), (body) => body === 'from the site', WAIT_MS);
      assert.match(await at.frontdoor(at.site, ['shares', 'list', '--ca', at.file('api-ca.pem')]), /near/);

      await at.allowOnly('192.0.2.3', proxy.port);
      at.startAgent('behind', { HTTPS_PROXY: proxyUrl }, ['--enrollment-token-file', codes[1]!]);
      await until('the agent behind', () => at.status('behind'), Boolean, WAIT_MS);
      await share('behind', 'behind');
      await until('its share', answer('behind'), (body) => body === 'from the site', WAIT_MS);
      const ports = new Set(Array.from(proxy.log().matchAll(/CONNECT [^ ]*?:(\d+)/g), ([, port]) => port));
      assert.deepEqual([...ports], ['443']);

      // A gateway on another machine passes on what is not for shares.
      const jwt = at.file('gateway.jwt');
      const made = ['fabric', 'gateway', 'create', 'front', '--out', jwt, '--ca', at.file('api-ca.pem')];
      await at.frontdoor(at.world, made);
      const rules = [SERVER_NAME, API_NAME, '/ziti-edge'].flatMap((what) => [
        '--pass-tls',
        `${what}=${SERVER_ADDRESS}:443`,
      ]);
      at.startGateway(0, jwt, { side: at.world, args: [...FRONT, ...certificateOf(at), ...rules] });
      await at.setNames(at.site, [`${PROXY_ADDRESS} ${SERVER_NAME} ${API_NAME}`]);
      await at.allowOnly(PROXY_ADDRESS, 443);
      const args = ['agents', 'enroll', '--json', '--ca', at.file('api-ca.pem')];
      await until('the Management API', () => at.frontdoor(at.site, args).catch(() => ''), Boolean, WAIT_MS);
      at.startAgent('through', {}, ['--enrollment-token-file', await at.enrollmentCode('through')]);
      await until('the agent through', () => at.status('through'), Boolean, WAIT_MS);
      await share('through', 'through');
      const front = () => at.answerOf('through', 443, PROXY_ADDRESS);
      await until('its share', front, (body) => body === 'from the site', WAIT_MS);
    },
  );

  test('leads by the name of the hello: to the edge API, the Management API, or else the gateway', () => {
    const names = { edge: ['frontdoor.example'], api: ['api.example'] };
    const of = (serverName: string | undefined, edge = names.edge) =>
      partOf({ protocols: ['h2'], serverName }, { ...names, edge });
    assert.equal(of('Frontdoor.Example.'), 'edge');
    assert.equal(of('api.example'), 'api');
    assert.equal(of('app.share.example'), 'gateway');
    assert.equal(of(undefined), 'gateway');
    assert.equal(of(undefined, ['192.0.2.1']), 'edge');
    assert.equal(partOf(undefined, names), 'gateway');
  });

  test('takes the names of the Management API from its certificate, but for wildcards and those of the edge API', async () => {
    const authority = await makeTestAuthority();
    const certOf = async (...dns: string[]) => apiNamesOf({ apiTls: await authority.issue('api', { dns }) });
    assert.deepEqual(sharedNamesOf(['a.example'], await certOf('A.example', 'api.example', '*.example')), {
      edge: ['a.example'],
      api: ['api.example'],
    });
    assert.deepEqual(sharedNamesOf(['a.example'], apiNamesOf({})).api, []);
    const same = await certOf('a.example', '*.example');
    assert.throws(() => sharedNamesOf(['a.example'], same), { code: 'one-port-names' });
  });
});
