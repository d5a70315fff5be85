// Mode tproxy on machines of their own: a router's, and one that reaches the world through it. The clients know nothing of the
// overlay, and the router's machine is afterwards as it was before.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test, type TestContext } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until } from '../support/deadline.ts';
import { namespaceSkip, NetworkNamespace } from '../support/network-namespace.ts';

const skip = namespaceSkip('nft', 'iptables-restore', 'curl', 'dig', 'setpriv');
const NFT = '/usr/sbin/nft';
const IPTABLES = '/usr/sbin/iptables-save';
const FLOWS = 1_000;
const START_MS = 30_000;

const nodeArguments = (program: string): string[] => [
  '--disable-warning=ExperimentalWarning',
  join(repositoryRoot, 'test/support', program),
];

/** The machine of a router, whose interface `lan` leads to another one. */
class RouterMachine {
  readonly machine: NetworkNamespace;
  readonly lan: NetworkNamespace;
  readonly #namesFile: string;
  #child: ChildProcess | undefined;
  output: string[] = [];

  private constructor(machine: NetworkNamespace, lan: NetworkNamespace, namesFile: string) {
    this.machine = machine;
    this.lan = lan;
    this.#namesFile = namesFile;
  }

  static async open(t: TestContext): Promise<RouterMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-tproxy-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const machine = await NetworkNamespace.open(t);
    const lan = await NetworkNamespace.open(t);
    await machine.join(lan, '192.0.2.1/24', '192.0.2.9/24');
    // Routes into a world that is not there.
    await machine.run('ip', 'route', 'add', 'default', 'via', '192.0.2.254');
    await machine.run('ip', 'addr', 'add', 'fd00::1/64', 'dev', 'lan', 'nodad');
    await machine.run('ip', '-6', 'route', 'add', 'default', 'via', 'fd00::fe');
    await lan.run('ip', 'route', 'add', 'default', 'via', '192.0.2.1');
    return new RouterMachine(machine, lan, join(folder, 'names'));
  }

  async start(...prefix: readonly string[]): Promise<void> {
    const [program = '', ...args] = [...prefix, process.execPath, ...nodeArguments('tproxy-program.ts')];
    this.output = [];
    const child = this.machine.start(program, [...args, this.#namesFile, 'lan'], this.output);
    this.#child = child;
    const ended = once(child, 'exit');
    await Promise.race([
      until(
        'the router',
        () => this.text,
        (text) => /^ready$/m.test(text),
        START_MS,
      ),
      ended.then(() => {
        throw new Error(this.text);
      }),
    ]);
  }

  get text(): string {
    return this.output.join('');
  }

  /** Ends in order, or at once. */
  async stop(signal?: 'SIGKILL'): Promise<void> {
    const ended = once(this.#child!, 'exit');
    // The child is nsenter, which became the program.
    if (signal === undefined) this.#child!.stdin!.end();
    else this.#child!.kill(signal);
    await ended;
  }

  /** Everything that tproxy may change, without tables of iptables that have no rules. */
  async state(): Promise<string> {
    const { machine } = this;
    const addresses = await machine.run('ip', '-o', 'addr');
    const parts = [
      addresses.replaceAll(/ valid_lft.*/g, ''),
      await machine.run('ip', 'rule'),
      await machine.run('ip', '-6', 'rule'),
      await machine.run('ip', 'route', 'show', 'table', 'all'),
      await machine.run('ip', '-6', 'route', 'show', 'table', 'all'),
    ];
    for (const [program, ...args] of [
      ['nft', 'list', 'ruleset'],
      ['iptables-save'],
      ['ip6tables-save'],
    ] as const)
      parts.push(await machine.run(program, ...args).catch(() => 'hidden'));
    return parts
      .join('\n')
      .replaceAll(/^#.*\n/gm, '')
      .replaceAll(/^\*\w+\n(?::.*\n)*COMMIT\n/gm, '');
  }

  /** Makes the routing rule that a killed router left one of an earlier build. */
  async useMarkWithoutMask(): Promise<void> {
    const rules = await this.machine.run('ip', 'rule');
    const [, mark = '', table = ''] = /fwmark (\S+) lookup (\S+)/.exec(rules)!;
    await this.machine.run('ip', 'rule', 'del', 'fwmark', mark, 'lookup', table);
    await this.machine.run('ip', 'rule', 'add', 'fwmark', table, 'lookup', table);
  }

  curl(url: string, from = this.machine): Promise<string> {
    return from.run('curl', '--silent', '--show-error', '--globoff', '--max-time', '10', url);
  }

  async flows(protocol: 'tcp' | 'udp', from = this.machine): Promise<number> {
    const args = [...nodeArguments('flow-client.ts'), protocol, '10.9.3.4', '7000', String(FLOWS)];
    return Number(await from.run(process.execPath, ...args));
  }
}

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
  for (const protocol of ['tcp', 'udp'] as const) assert.equal(await router.flows(protocol), FLOWS, protocol);
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
      assert.equal(await router.flows('tcp', router.lan), FLOWS);
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
