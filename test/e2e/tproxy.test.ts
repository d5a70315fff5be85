// Mode tproxy on machines of their own: a router's, and one that reaches the world through it. The clients know nothing of the
// overlay, and the router's machine is afterwards as it was before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceSkip } from '../support/network-namespace.ts';
import { RouterMachine } from '../support/router-machine.ts';

const skip = namespaceSkip('nft', 'iptables-restore', 'curl', 'dig', 'setpriv');
const NFT = '/usr/sbin/nft';
const IPTABLES = '/usr/sbin/iptables-save';
const FLOWS = 1_000;
async function proveInterception(router: RouterMachine): Promise<void> {
  const dial = (host: string, port: number, name?: string): string =>
    JSON.stringify({
      dst_protocol: 'tcp',
      // Left out if it is undefined.
      dst_hostname: name,
      dst_ip: host,
      dst_port: String(port),
    });
  assert.equal(await router.curl('http://10.9.1.2/a'), `/a ${dial('10.9.1.2', 80)}\n`);
  assert.equal(await router.curl('http://10.9.200.3:88/b'), `/b ${dial('10.9.200.3', 88)}\n`);
  assert.equal(await router.curl('http://[fd09::5]:81/c'), `/c ${dial('fd09::5', 81)}\n`);
  assert.equal(await router.curl('http://10.9.1.7/lan', router.lan), `/lan ${dial('10.9.1.7', 80)}\n`);
  for (const name of ['web.example', 'one.apps.example']) {
    const address = (await router.machine.run('dig', '+short', '@127.0.0.1', name)).trim();
    assert.match(address, /^100\./);
    const url = `http://${name}:82/named`;
    const resolved = await router.machine.run(
      ...(['curl', '--silent', '--max-time', '10', '--resolve', `${name}:82:${address}`, url] as const),
    );
    assert.equal(resolved, `/named ${dial(address, 82, name)}\n`);
    // Other ports of its address are nobody's.
    await assert.rejects(router.curl(`http://${address}:22/`), /Couldn't connect|refused/i);
  }
  for (const protocol of ['tcp', 'udp'] as const)
    assert.equal(await router.flows(protocol, FLOWS), FLOWS, protocol);
}

for (const [backend, hidden] of [
  ['nft', undefined],
  ['iptables', NFT],
] as const) {
  test(
    `with ${backend}, clients on the machine and behind it reach services, and the machine is as before in the end`,
    { skip },
    async (t) => {
      const router = await RouterMachine.open(t);
      if (hidden !== undefined) await router.machine.hide(hidden);
      const before = await router.state();
      await router.start();
      assert.match(router.text, new RegExp(`"rules":"${backend}"`));
      await proveInterception(router);
      await router.stop();
      assert.equal(await router.state(), before, router.text);
    },
  );

  test(
    `with ${backend}, what a killed router left is found at the next start and removed in the end`,
    { skip },
    async (t) => {
      const router = await RouterMachine.open(t);
      if (hidden !== undefined) await router.machine.hide(hidden);
      const before = await router.state();
      await router.start();
      await router.stop('SIGKILL');
      assert.notEqual(await router.state(), before);
      await router.useMarkWithoutMask();
      await router.start();
      const running = await router.state();
      assert.match(await router.curl('http://10.9.1.2/a'), /^\/a /);
      assert.equal(await router.flows('tcp', FLOWS, router.lan), FLOWS);
      await router.stop('SIGKILL');
      await router.start();
      // Ports differ from start to start.
      const shapeOf = (text: string): string =>
        text.replaceAll(/(?<=127\.0\.0\.1|\[?::1\]?)([: ]|.*--on-port )\d+/g, '');
      assert.equal(shapeOf(await router.state()).length, shapeOf(running).length);
      await router.stop();
      assert.equal(await router.state(), before, router.text);
    },
  );
}

test('other programs keep their bits of the mark of intercepted packets', { skip }, async (t) => {
  const router = await RouterMachine.open(t);
  const others = `
    add table ip others
    add chain ip others output { type route hook output priority -160; }
    add chain ip others prerouting { type filter hook prerouting priority -140; }
    add rule ip others output ip daddr 10.9.0.0/16 meta mark set 0x00400002
    add rule ip others prerouting meta mark 0xfd400002 counter comment "kept"`;
  await router.machine.run('nft', others);
  await router.start();
  assert.match(await router.curl('http://10.9.1.2/a'), /^\/a /);
  const listed = await router.machine.run('nft', 'list', 'chain', 'ip', 'others', 'prerouting');
  assert.match(listed, /counter packets [1-9]\d* .*"kept"/);
  await router.stop();
});

test(
  'with nft, what a killed router left with iptables is removed at the next start',
  { skip },
  async (t) => {
    const router = await RouterMachine.open(t);
    // Both states are without nft, which shows the empty tables that iptables leaves.
    await router.machine.hide(NFT);
    const before = await router.state();
    await router.start();
    await router.stop('SIGKILL');
    assert.match(await router.machine.run('iptables-save'), /FRONTDOOR-/);
    await router.machine.run('umount', NFT);
    await router.start();
    assert.match(router.text, /"rules":"nft"/);
    assert.doesNotMatch(await router.machine.run('iptables-save'), /FRONTDOOR-/);
    assert.match(await router.curl('http://10.9.1.2/a'), /^\/a /);
    await router.stop();
    assert.doesNotMatch(await router.machine.run('nft', 'list', 'ruleset'), /frontdoor/i);
    await router.machine.hide(NFT);
    assert.equal(await router.state(), before, router.text);
  },
);

test('without CAP_NET_ADMIN the start names it, and changes nothing', { skip }, async (t) => {
  const router = await RouterMachine.open(t);
  const before = await router.state();
  await assert.rejects(
    router.start('setpriv', '--bounding-set', '-net_admin', '--inh-caps', '-net_admin'),
    /needs the capability CAP_NET_ADMIN/,
  );
  assert.equal(await router.state(), before);
});

test('without nft and iptables the start names both, and changes nothing', { skip }, async (t) => {
  const router = await RouterMachine.open(t);
  for (const path of [NFT, IPTABLES]) await router.machine.hide(path);
  await assert.rejects(router.start(), /needs nft or iptables/);
});
