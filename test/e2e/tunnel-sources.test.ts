// Mode host on a machine of its own: far ends see the source addresses that the config of a service allows, which the machine
// has while the router hosts, and what a killed router left is removed by a start in whichever mode.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import process from 'node:process';
import { test, type TestContext } from 'node:test';
import { namespaceSkip } from '../support/network-namespace.ts';
import { RouterMachine } from '../support/router-machine.ts';

const skip = namespaceSkip('nft', 'iptables-restore', 'setpriv');
/** A program that sends its clients their addresses. */
const FAR_END = `require('net').createServer((socket) => socket.end(socket.remoteAddress.replace(/^::ffff:/, '')))
  .listen(7000, '::', () => console.log('listening'))`;

/** A machine whose neighbour `lan` has the service. */
async function open(t: TestContext): Promise<RouterMachine> {
  const router = await RouterMachine.open(t);
  await router.lan.run('ip', 'addr', 'add', 'fd00::9/64', 'dev', 'lan', 'nodad');
  await router.lan.run('ip', '-6', 'route', 'add', 'default', 'via', 'fd00::1');
  const farEnd = router.lan.start(process.execPath, ['-e', FAR_END], []);
  t.after(async () => {
    const ended = once(farEnd, 'exit');
    farEnd.kill();
    await ended;
  });
  await once(farEnd.stdout!, 'data');
  return router;
}

test(
  'connections to far ends come from allowed source addresses, which the machine has while the router runs',
  { skip },
  async (t) => {
    const router = await open(t);
    const before = await router.state();
    await router.startHost();
    for (const source of ['172.20.5.6', '172.20.0.0', '198.51.100.7', 'fd00:5::7'])
      assert.equal(await router.ask(source), source);
    assert.equal(await router.ask('192.0.2.1'), '192.0.2.1', 'an address that the machine has');
    // The network of the interface is not taken from it.
    assert.match(await router.ask('192.0.2.77'), /not an address of the hosting machine/);
    assert.match(router.text, /192\.0\.0\.0\/16.*cut the machine off from the network of lan/);
    await router.stop();
    assert.equal(await router.state(), before, router.text);

    await router.startHost();
    await router.stop('SIGKILL');
    assert.notEqual(await router.state(), before);
    await router.startHost();
    assert.equal(await router.ask('172.20.5.6'), '172.20.5.6');
    await router.stop();
    assert.equal(await router.state(), before, router.text);
  },
);

test(
  'what a killed router left in mode tproxy is removed by a start in mode host, and the reverse',
  { skip },
  async (t) => {
    const router = await open(t);
    const before = await router.state();
    await router.start();
    await router.stop('SIGKILL');
    assert.match(await router.machine.run('nft', 'list', 'ruleset'), /frontdoor_/);
    await router.startHost();
    assert.doesNotMatch(await router.machine.run('nft', 'list', 'ruleset'), /frontdoor_/);
    assert.doesNotMatch(await router.state(), /100\.64\.0\.1|fwmark/);
    await router.stop('SIGKILL');
    assert.match(await router.state(), /172\.20\.0\.0\/16/);
    await router.start();
    assert.doesNotMatch(await router.state(), /172\.20\.0\.0\/16/);
    await router.stop();
    assert.equal(await router.state(), before, router.text);
  },
);

test(
  'without CAP_NET_ADMIN the log names it, and sources that are the machine’s already work',
  { skip },
  async (t) => {
    const router = await open(t);
    const before = await router.state();
    await router.startHost('setpriv', '--bounding-set', '-net_admin', '--inh-caps', '-net_admin');
    assert.match(router.text, /needs the capability CAP_NET_ADMIN/);
    assert.equal(await router.ask('192.0.2.1'), '192.0.2.1');
    assert.match(await router.ask('172.20.5.6'), /not an address of the hosting machine/);
    await router.stop();
    assert.equal(await router.state(), before);
  },
);
