/**
 * The machine of a router, and one that reaches the world through it, as network namespaces. The router is a program of a
 * test, which prints `ready` and ends in order when its standard input ends.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until } from './deadline.ts';
import { NetworkNamespace } from './network-namespace.ts';

const START_MS = 30_000;

const nodeArguments = (program: string): string[] => [
  '--disable-warning=ExperimentalWarning',
  join(repositoryRoot, 'test/support', program),
];

/** The machine of a router, whose interface `lan` leads to another one. */
export class RouterMachine {
  readonly machine: NetworkNamespace;
  readonly lan: NetworkNamespace;
  readonly #arguments: readonly string[];
  #child: ChildProcess | undefined;
  output: string[] = [];

  private constructor(machine: NetworkNamespace, lan: NetworkNamespace, args: readonly string[]) {
    this.machine = machine;
    this.lan = lan;
    this.#arguments = args;
  }

  /** `targets` and `upstreams` are those of `tproxy-program.ts`. */
  static async open(
    t: Pick<TestContext, 'after'>,
    targets: object = {},
    upstreams: readonly object[] = [],
  ): Promise<RouterMachine> {
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
    // As operators set it up. A look-up at a name server that cannot be reached would hold up the end of the router.
    const resolver = join(folder, 'resolv.conf');
    writeFileSync(resolver, 'nameserver 127.0.0.1\n');
    await machine.run('mount', '--bind', resolver, '/etc/resolv.conf');
    const texts = [targets, upstreams].map((each) => JSON.stringify(each));
    const router = new RouterMachine(machine, lan, [join(folder, 'names'), 'lan', ...texts]);
    t.after(() => router.#child?.kill('SIGKILL'));
    return router;
  }

  /** Starts a router in mode tproxy. `prefix` is a program that starts it. */
  start(...prefix: readonly string[]): Promise<void> {
    return this.#start('tproxy-program.ts', prefix);
  }

  /** Starts the same router in mode host. */
  startHost(...prefix: readonly string[]): Promise<void> {
    return this.#start('host-program.ts', prefix);
  }

  async #start(file: string, prefix: readonly string[]): Promise<void> {
    const [program = '', ...args] = [...prefix, process.execPath, ...nodeArguments(file)];
    this.output = [];
    const child = this.machine.start(program, [...args, ...this.#arguments], this.output);
    this.#child = child;
    let hasEnded = false;
    child.once('exit', () => (hasEnded = true));
    const isReady = (text: string): boolean => /^ready$/m.test(text);
    await until(
      'the router',
      () => this.text,
      (text) => hasEnded || isReady(text),
      START_MS,
    );
    if (!isReady(this.text)) throw new Error(this.text);
  }

  get text(): string {
    return this.output.join('');
  }

  /** Passes a line to the program, and resolves with the one that it prints then, which begins with the same text. */
  async ask(line: string): Promise<string> {
    this.#child!.stdin!.write(`${line}\n`);
    const answer = new RegExp(`^${line.replaceAll(/[.[\]]/g, '\\$&')} (.*)$`, 'm');
    const { value } = await until(
      `an answer to ${line}`,
      () => answer.exec(this.text),
      (match) => match !== null,
    );
    return value![1]!;
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

  /** Starts `load-client.ts`, which ends with the test. Its output is added to `output`. */
  startLoad(
    t: Pick<TestContext, 'after'>,
    count: number,
    output: string[],
    from = this.machine,
  ): ChildProcess {
    const args = [...nodeArguments('load-client.ts'), '10.9.3.4', '7000', String(count)];
    const client = from.start(process.execPath, args, output);
    t.after(() => client.kill('SIGKILL'));
    return client;
  }

  async flows(protocol: 'tcp' | 'udp', count: number, from = this.machine): Promise<number> {
    const args = [...nodeArguments('flow-client.ts'), protocol, '10.9.3.4', '7000', String(count)];
    return Number(await from.run(process.execPath, ...args));
  }
}
