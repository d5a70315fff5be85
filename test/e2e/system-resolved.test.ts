// Mode tproxy on a machine with systemd-resolved: before the name server, behind it, and both, which is a loop.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { test, type TestContext } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until } from '../support/deadline.ts';
import { RouterMachine } from '../support/router-machine.ts';
import { resolvedSkip, startResolved } from '../support/system-resolved.ts';

const skip = resolvedSkip('nft', 'dig');
const WORLD_PORT = 5_300;
const WORLD_ADDRESS = '198.51.100.7';
const STUB = { protocol: 'udp', host: '127.0.0.53', port: 53 };
const WORLD = { protocol: 'udp', host: '127.0.0.1', port: WORLD_PORT };
const OWN_ADDRESS = /^100\./;

/** Name servers of the world beyond the machine. */
async function startWorld(t: TestContext, { machine }: RouterMachine): Promise<void> {
  const program = join(repositoryRoot, 'test/support/dns-program.ts');
  const args = ['--disable-warning=ExperimentalWarning', program, String(WORLD_PORT), WORLD_ADDRESS];
  const child = machine.start(process.execPath, args, []);
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout!, 'data');
}

const address = async ({ machine }: RouterMachine, server: string, name: string): Promise<string> =>
  (await machine.run('dig', '+short', '+tries=1', '+time=5', `@${server}`, name)).trim();

test('systemd-resolved as the upstream answers names of others', { skip }, async (t) => {
  const router = await RouterMachine.open(t, {}, [STUB]);
  await startWorld(t, router);
  await startResolved(t, router.machine, `127.0.0.1:${WORLD_PORT}`);
  await router.start();
  assert.equal(await address(router, '127.0.0.1', 'other.test'), WORLD_ADDRESS);
  assert.match(await address(router, '127.0.0.1', 'web.example'), OWN_ADDRESS);
  // The programs of the machine ask systemd-resolved, which knows nothing of services.
  await until(
    'the warning',
    () => router.text,
    (text) => text.includes('programs of this machine do not ask the name server'),
  );
  assert.doesNotMatch(router.text, /so it is not used/);
  await router.stop();
});

test(
  'programs that ask systemd-resolved reach names of services, and its cache is emptied',
  { skip },
  async (t) => {
    const router = await RouterMachine.open(t, {}, [WORLD]);
    await startWorld(t, router);
    await startResolved(t, router.machine, '127.0.0.1');
    await router.start();
    await until(
      'an empty cache',
      () => router.text,
      (text) => text.includes('the cache of systemd-resolved is empty'),
    );
    assert.equal(await address(router, '127.0.0.53', 'other.test'), WORLD_ADDRESS);
    assert.match(await address(router, '127.0.0.53', 'web.example'), OWN_ADDRESS);
    assert.match(await router.machine.run('getent', 'ahostsv4', 'one.apps.example'), OWN_ADDRESS);
    assert.equal(await router.curl('http://web.example:82/named').then((text) => text.slice(0, 6)), '/named');
    assert.doesNotMatch(router.text, /programs of this machine do not ask|so it is not used/);
    await router.stop();
  },
);

test(
  'systemd-resolved that asks the name server whose upstream it is, is noticed and not used',
  { skip },
  async (t) => {
    const router = await RouterMachine.open(t, {}, [STUB]);
    await startResolved(t, router.machine, '127.0.0.1');
    await router.start();
    await until(
      'the loop',
      () => router.text,
      (text) => text.includes('an upstream forwards queries to this name server, so it is not used'),
    );
    for (const server of ['127.0.0.1', '127.0.0.53']) {
      const answer = await router.machine.run('dig', '+tries=1', '+time=2', `@${server}`, 'other.test');
      assert.match(answer, /status: (?:REFUSED|SERVFAIL)/);
      assert.match(await address(router, server, 'web.example'), OWN_ADDRESS);
    }
    await router.stop();
  },
);
