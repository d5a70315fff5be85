// OpenZiti's Java SDK (`org.openziti:ziti`) dials a share that the library hosts, and hosts one that the library dials. The
// variable FRONTDOOR_TEST_OPENZITI_JARS names a folder with its jars and those that it needs, and JAVA_HOME or PATH has a JDK;
// without the variable the tests are skipped.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { enroll, openOverlay, type CircuitStream, type Overlay } from '#sdk/library';
import { until, within } from '../../support/deadline.ts';
import { countedExchange, returnCounted } from '../../support/echo-stream.ts';
import { openWorld, type World } from '../../support/world.ts';

const JARS = process.env['FRONTDOOR_TEST_OPENZITI_JARS'] ?? '';
const skip = JARS === '' ? 'FRONTDOOR_TEST_OPENZITI_JARS is not set' : false;
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

let world: World;
let library: Overlay;
let classPath: string;
let javaFile: string;
const processes: ChildProcess[] = [];
let output = '';

before(async () => {
  if (skip !== false) return;
  world = await openWorld();
  const classes = join(world.dataDir, 'classes');
  classPath = [classes, join(JARS, '*')].join(':');
  const source = join(import.meta.dirname, 'EchoClient.java');
  await promisify(execFile)(jdk('javac'), ['-d', classes, '-cp', classPath, source]);
  javaFile = join(world.dataDir, 'java.json');
  const java = await enroll({ token: await world.enrollmentJwt(), identityFile: javaFile });
  const identityFile = join(world.dataDir, 'library.json');
  const own = await enroll({ token: await world.enrollmentJwt(), identityFile });
  await share('by-library', own.id, java.id);
  await share('by-java', java.id, own.id);
  library = await openOverlay({ identityFile });
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(output);
});
after(async () => {
  for (const child of processes) child.kill('SIGKILL');
  await library?.close();
  await world?.close();
});

function jdk(program: string): string {
  return JAVA_HOME === undefined ? program : join(JAVA_HOME, 'bin', program);
}

async function share(name: string, environmentId: string, guestId: string): Promise<void> {
  const created = await world.call('POST', '/shares', {
    environmentId,
    ...{ name, shareMode: 'private', backendMode: 'proxy', target: 'http://127.0.0.1:9' },
    grants: [guestId],
  });
  assert.ok(created.status < 300, created.text);
}

/** Resolves to what it printed, at its end. */
function java(...args: string[]): Promise<string> {
  const child = spawn(jdk('java'), [...JAVA_OPTIONS, '-cp', classPath, 'EchoClient', ...args]);
  processes.push(child);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: string) => (output = (output + text).slice(-10_000)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve(printed) : reject(new Error(`java: ${code}`))));
  });
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

test(
  'the Java SDK dials what the library hosts: 100 MB both ways, 100 short connections',
  { skip },
  async () => {
    const server = await library.bind('by-library');
    server.on('connection', (stream) => returnCounted(stream));
    assertSame(
      await within('100 MB', java('dial', javaFile, 'by-library', String(BODY_BYTES)), TRANSFER_MS),
      1,
    );
    const short = java('dial', javaFile, 'by-library', '1000', String(SHORT_COUNT));
    assertSame(await within('short connections', short, TRANSFER_MS), SHORT_COUNT);
    server.close();
  },
);

test(
  'the library dials what the Java SDK hosts: 100 MB both ways, 50 short connections',
  { skip },
  async () => {
    void java('host', javaFile, 'by-java').catch(() => {});
    const dial = () => library.dial('by-java', { encryption: 'required' });
    await until('the host', async () => (await dial()).destroy().destroyed, Boolean);
    await exchange(dial, BODY_BYTES, TRANSFER_MS);
    for (let count = 0; count < HOSTED_COUNT; count += 1) await exchange(dial, 1_000, LOST_MS);
  },
);

/**
 * As a host, version 0.22.8 of the SDK registers a circuit only after the router's answer to its DialSuccess, and loses what
 * comes before that: about one circuit in a hundred stays silent, or breaks. Such a one is dialed again.
 */
async function exchange(
  dial: () => Promise<CircuitStream>,
  byteCount: number,
  timeoutMs: number,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const stream = await dial();
    let count = 0;
    stream.on('data', (part: Buffer) => (count += part.length));
    try {
      await within('the exchange', countedExchange(stream, byteCount), timeoutMs);
      return;
    } catch (error) {
      stream.destroy();
      // A circuit that has brought bytes must bring all of them.
      if (count > 0 || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
