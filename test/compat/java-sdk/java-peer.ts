/**
 * OpenZiti's Java SDK (`org.openziti:ziti`) as a program, which dials a service that the library hosts, and hosts one that
 * the library dials. The variable FRONTDOOR_TEST_OPENZITI_JARS names a folder with its jars and those that it needs, and
 * JAVA_HOME or PATH has a JDK.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CircuitStream, Overlay } from '#sdk/library';
import { until, within } from '../../support/deadline.ts';
import { countedExchange, returnCounted } from '../../support/echo-stream.ts';

const JARS = process.env['FRONTDOOR_TEST_OPENZITI_JARS'] ?? '';
export const javaSkip = JARS === '' ? 'FRONTDOOR_TEST_OPENZITI_JARS is not set' : false;
const JAVA_HOME = process.env['JAVA_HOME'];
/** The SDK calls methods of the platform that are closed since Java 16. */
const JAVA_OPTIONS = ['-Xmx512m', '--add-opens=java.base/java.net=ALL-UNNAMED'];
const BODY_BYTES = 100_000_000;
const SHORT_COUNT = 100;
const HOSTED_COUNT = 50;
const MAX_ATTEMPTS = 3;
/** After this time without an answer, a short exchange counts as lost. */
const LOST_MS = 10_000;
const TRANSFER_MS = 180_000;

export class JavaPeer {
  readonly #classPath: string;
  readonly #identityFile: string;
  readonly #processes: ChildProcess[] = [];
  #output = '';

  private constructor(classPath: string, identityFile: string) {
    this.#classPath = classPath;
    this.#identityFile = identityFile;
  }

  /** Compiles the program into `folder`. */
  static async compile(folder: string, identityFile: string): Promise<JavaPeer> {
    const classes = join(folder, 'classes');
    const classPath = [classes, join(JARS, '*')].join(':');
    const source = join(import.meta.dirname, 'EchoClient.java');
    await promisify(execFile)(jdk('javac'), ['-d', classes, '-cp', classPath, source]);
    return new JavaPeer(classPath, identityFile);
  }

  /** The last lines of its programs. */
  get output(): string {
    return this.#output;
  }

  stop(): void {
    for (const child of this.#processes) child.kill('SIGKILL');
  }

  /** It dials what the library hosts: 100 MB both ways, 100 short connections. */
  async proveDials(library: Overlay, service: string): Promise<void> {
    const server = await library.bind(service);
    server.on('connection', (stream) => returnCounted(stream));
    assertSame(await within('100 MB', this.#run('dial', service, String(BODY_BYTES)), TRANSFER_MS), 1);
    const short = this.#run('dial', service, '1000', String(SHORT_COUNT));
    assertSame(await within('short connections', short, TRANSFER_MS), SHORT_COUNT);
    server.close();
  }

  /** The library dials what it hosts: 100 MB both ways, 50 short connections. */
  async proveHosts(library: Overlay, service: string): Promise<void> {
    void this.#run('host', service).catch(() => {});
    const dial = () => library.dial(service, { encryption: 'required' });
    // A virtual machine that starts and logs in takes its time beside others.
    await until('the host', async () => (await dial()).destroy().destroyed, Boolean, TRANSFER_MS);
    await exchange(dial, BODY_BYTES, TRANSFER_MS);
    for (let count = 0; count < HOSTED_COUNT; count += 1) await exchange(dial, 1_000, LOST_MS);
  }

  /** Resolves to what it printed, at its end. */
  #run(mode: 'dial' | 'host', ...args: string[]): Promise<string> {
    const words = ['-cp', this.#classPath, 'EchoClient', mode, this.#identityFile, ...args];
    const child = spawn(jdk('java'), [...JAVA_OPTIONS, ...words]);
    this.#processes.push(child);
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: string) => (this.#output = (this.#output + text).slice(-10_000)));
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => (code === 0 ? resolve(printed) : reject(new Error(`java: ${code}`))));
    });
  }
}

function jdk(program: string): string {
  return JAVA_HOME === undefined ? program : join(JAVA_HOME, 'bin', program);
}

/** Each line: what was sent, and what came back. */
function assertSame(printed: string, count: number): void {
  const lines = printed
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  assert.equal(lines.length, count);
  for (const [sent, received] of lines) assert.equal(received, sent);
}

/**
 * As a host, version 0.22.8 of the SDK registers a circuit only after the router's answer to its DialSuccess, and loses what
 * comes before that: about one circuit in a hundred stays silent, or breaks. On a busy machine it has refused a dial, too. Each of
 * these is dialed again.
 */
async function exchange(
  dial: () => Promise<CircuitStream>,
  byteCount: number,
  timeoutMs: number,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    let stream: CircuitStream | undefined;
    let count = 0;
    try {
      stream = await dial();
      stream.on('data', (part: Buffer) => (count += part.length));
      await within('the exchange', countedExchange(stream, byteCount), timeoutMs);
      return;
    } catch (error) {
      stream?.destroy();
      // A circuit that has brought bytes must bring all of them.
      if (count > 0 || attempt === MAX_ATTEMPTS)
        throw new Error(`attempt ${attempt}: ${count} of ${byteCount} bytes came back`, { cause: error });
    }
  }
}
