// Agents in a network that lets out nothing but a proxy: squid, tinyproxy, microsocks, and squid behind TLS, each with a
// password. The name of the frontdoor exists beyond the proxy only.
import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, test } from 'node:test';
import { callAgent } from '#cli';
import { CustomerSite, PROXY_ADDRESS, SERVER_NAME, SITE_ADDRESS } from '../support/customer-site.ts';
import { until } from '../support/deadline.ts';
import { namespaceSkip } from '../support/network-namespace.ts';
import { PROXY_PASSWORD, PROXY_USER, REAL_PROXIES } from '../support/real-proxies.ts';

const skip = namespaceSkip('nft', 'ss', 'curl', 'squid', 'tinyproxy', 'microsocks', 'haproxy', 'openssl');
const SERVICE_PORT = 8000;
const SERVICE = `require('node:http').createServer((q, r) => r.end('from the site')).listen(${SERVICE_PORT}, '${SITE_ADDRESS}')`;
const WAIT_MS = 60_000;
/** A proxy that is back is used again within this time. */
const BACK_MS = 15_000;

describe('agents behind', { skip }, () => {
  for (const [name, open] of Object.entries(REAL_PROXIES))
    test(`${name} enroll, host shares, and come back after its restart`, async (t) => {
      const at = await CustomerSite.open(t);
      await at.startUp();
      const proxy = await open(at);
      await proxy.start();
      const code = await at.enrollmentCode('agent');
      await at.allowOnly(PROXY_ADDRESS, proxy.port);
      at.start(at.site, process.execPath, ['-e', SERVICE]);
      const [user, password] = [PROXY_USER, PROXY_PASSWORD].map(encodeURIComponent);
      const url = `${proxy.scheme}://${user}:${password}@proxy.example:${proxy.port}`;
      const env = { ...proxy.env, ALL_PROXY: url };
      const agent = at.startAgent('agent', env, ['--enrollment-token-file', code]);
      const show = () => `${agent.text()}\n${proxy.log()}`;
      const { value: status } = await until('the agent', () => at.status('agent'), Boolean, WAIT_MS).catch(
        (error: unknown) => {
          throw new Error(show(), { cause: error });
        },
      );
      assert.equal(status?.proxy, `${proxy.scheme}://proxy.example:${proxy.port} (ALL_PROXY)`);
      const target = `http://${SITE_ADDRESS}:${SERVICE_PORT}`;
      const request = { op: 'share', mode: 'public', target, grants: [], name: 'app' } as const;
      await callAgent(at.socketOf('agent'), request);
      const answer = () => at.answerOf('app');
      await until('the share', answer, (text) => text === 'from the site', WAIT_MS);

      const found = JSON.parse(
        await at
          .frontdoor(
            at.site,
            ['doctor', '--json', '--ca', at.file('api-ca.pem'), '--agent-dir', at.file('agent')],
            env,
          )
          .catch((error: unknown) => (error as { stdout: string }).stdout),
      ) as { findings: { check: string; state: string; message: string }[] };
      const findingOf = (check: string) => found.findings.find((one) => one.check === check);
      assert.match(
        findingOf('proxies')!.message,
        /proxy\.example:\d+ \(ALL_PROXY\) leads to Management API, edge API/,
      );
      assert.equal(findingOf('port of edge API')?.state, 'ok', JSON.stringify(found.findings));
      assert.equal(findingOf('TLS of edge API')?.state, 'ok');

      await proxy.stop();
      await until(
        'the loss',
        () => at.status('agent'),
        (one) => one?.controlPlane === 'away',
        WAIT_MS,
      );
      const lost = await at.status('agent');
      assert.match(
        lost!.problem!,
        /the proxy \w+:\/\/proxy\.example:\d+ of ALL_PROXY: it cannot be reached: .*ECONNREFUSED/,
      );
      await proxy.start();
      await until('the share again', answer, (text) => text === 'from the site', BACK_MS).catch(
        (error: unknown) => {
          throw new Error(show(), { cause: error });
        },
      );

      // The service beside the agent was never reached through the proxy, and nothing shows the password.
      assert.doesNotMatch(proxy.log(), new RegExp(SITE_ADDRESS.replaceAll('.', '\\.') + `:${SERVICE_PORT}`));
      assert.doesNotMatch(agent.text() + JSON.stringify([status, lost, found]), /canary/);
    });

  test('the log names what a proxy refuses: the password, no password, a name that it cannot resolve', async (t) => {
    const at = await CustomerSite.open(t);
    await at.startUp();
    const proxy = await REAL_PROXIES['squid']!(at);
    await proxy.start();
    const code = await at.enrollmentCode('agent');
    await at.allowOnly(PROXY_ADDRESS, proxy.port);
    const start = async (env: Record<string, string>, more: readonly string[] = []): Promise<string> => {
      const agent = at.startAgent('agent', env, ['--enrollment-token-file', code, ...more]);
      await until(
        'its end',
        () => agent.child.exitCode,
        (status) => status !== null,
        WAIT_MS,
      ).catch((error: unknown) => {
        throw new Error(agent.text(), { cause: error });
      });
      return agent.text();
    };
    const place = `proxy.example:${proxy.port}`;
    assert.match(
      await start({ HTTPS_PROXY: `http://site:wrong@${place}` }),
      /407 .*it does not accept the user and the password/,
    );
    assert.match(await start({ https_proxy: place }), /407 .*it requires a user and a password/);
    const known = `http://${PROXY_USER}:${encodeURIComponent(PROXY_PASSWORD)}@${place}`;
    const unresolved = await start({ HTTPS_PROXY: known }, ['--api', 'https://elsewhere.example:8081']);
    assert.match(unresolved, /it cannot resolve the name of elsewhere\.example:8081/);
    assert.doesNotMatch(unresolved, /canary/);
    assert.match(await start({ HTTPS_PROXY: known, NO_PROXY: SERVER_NAME }), /EAI_AGAIN|ENOTFOUND/);
  });
});
