/**
 * Network namespaces of a test: machines with interfaces, routes and packet filters of their own. They need root on Linux.
 * Each is held by a process, and ends with it.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { until } from './deadline.ts';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 64 << 20;

/** Why tests with namespaces are skipped, or false. Under FRONTDOOR_TEST_STRICT=1 they are not. */
export function namespaceSkip(...programs: readonly string[]): string | false {
  if (process.env['FRONTDOOR_TEST_STRICT'] === '1') return false;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux has namespaces';
  const missing = ['unshare', 'nsenter', 'ip', ...programs].find(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
  );
  if (missing !== undefined) return `${missing} is not installed`;
  const tried = spawnSync('unshare', ['--net', '--mount', 'true'], { encoding: 'utf8' });
  return tried.status === 0 ? false : `no namespaces: ${tried.stderr.trim().slice(0, 200)}`;
}

export class NetworkNamespace {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  /** Its loopback interface is up. It ends with the test. */
  static async open(t: Pick<TestContext, 'after'>): Promise<NetworkNamespace> {
    const holder = spawn('unshare', ['--net', '--mount', 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.after(async () => {
      const ended = once(holder, 'exit');
      holder.kill('SIGKILL');
      await ended;
    });
    // It answers from inside the namespace.
    holder.stdin.write('\n');
    await once(holder.stdout, 'data');
    const namespace = new NetworkNamespace(holder);
    await namespace.run('ip', 'link', 'set', 'lo', 'up');
    return namespace;
  }

  get pid(): number {
    return this.#holder.pid!;
  }

  /** Resolves with the standard output. Rejects if the program fails. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const options = { maxBuffer: MAX_OUTPUT_BYTES };
    return (await run('nsenter', [...this.#enter, program, ...args], options)).stdout;
  }

  /** Its standard input is a pipe; the rest of its output is added to `output`. */
  start(program: string, args: readonly string[], output: string[]): ChildProcess {
    const child = spawn('nsenter', [...this.#enter, program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void output.push(text));
    return child;
  }

  /** Makes a pair of interfaces, one here and one in the other namespace, with addresses in CIDR notation. */
  async join(other: NetworkNamespace, here: string, there: string): Promise<void> {
    const peer = ['peer', 'name', 'lan', 'netns', String(other.pid)];
    await this.run('ip', 'link', 'add', 'lan', 'type', 'veth', ...peer);
    for (const [namespace, address] of [
      [this, here],
      [other, there],
    ] as const) {
      await namespace.run('ip', 'addr', 'add', address, 'dev', 'lan');
      await namespace.run('ip', 'link', 'set', 'lan', 'up');
    }
    // An interface gets its own address of IPv6 a while later.
    await until(
      'the addresses of the interface',
      () => this.run('ip', '-6', 'addr', 'show', 'dev', 'lan'),
      (text) => !text.includes('tentative'),
    );
  }

  /** Hides a program from those that run in the namespace. */
  async hide(path: string): Promise<void> {
    await this.run('mount', '--bind', '/dev/null', path);
  }

  get #enter(): string[] {
    return ['--target', String(this.pid), '--net', '--mount'];
  }
}
