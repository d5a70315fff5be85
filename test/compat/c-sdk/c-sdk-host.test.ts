// OpenZiti's C SDK (the PyPI wheel) as the host of a share that the library dials, encrypted end to end.
// FRONTDOOR_TEST_OPENZITI_PYTHON names a Python that has `openziti==0.6.0`; without it the test is skipped, and under
// FRONTDOOR_TEST_STRICT=1 fails.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { enroll, openOverlay, type Overlay } from '#sdk/library';
import { until, within } from '../../support/deadline.ts';
import { countedExchange } from '../../support/echo-stream.ts';
import { openWorld, type World } from '../../support/world.ts';

const PYTHON = process.env['FRONTDOOR_TEST_OPENZITI_PYTHON'] ?? '';
const IS_STRICT = process.env['FRONTDOOR_TEST_STRICT'] === '1';
const skip = PYTHON === '' && !IS_STRICT ? 'FRONTDOOR_TEST_OPENZITI_PYTHON is not set' : false;
const BODY_BYTES = 100_000_000;
const TRANSFER_MS = 120_000;
const AT_ONCE = 20;

let world: World;
let dialer: Overlay;
let host: ChildProcess | undefined;
let output = '';

before(async () => {
  if (skip !== false) return;
  assert.notEqual(PYTHON, '', 'FRONTDOOR_TEST_OPENZITI_PYTHON must name a Python with openziti 0.6.0');
  world = await openWorld();
  const file = (name: string): string => join(world.dataDir, name);
  writeFileSync(file('host.jwt'), await world.enrollmentJwt(), { mode: 0o600 });
  const script = (name: string): string => join(import.meta.dirname, name);
  const known = await environmentIds();
  await promisify(execFile)(PYTHON, [script('enroll.py'), file('host.jwt'), file('host.json')]);
  const environmentId = (await environmentIds()).find((id) => !known.includes(id));
  const { id } = await enroll({ token: await world.enrollmentJwt(), identityFile: file('dialer.json') });
  const created = await world.call('POST', '/shares', {
    environmentId,
    name: 'hosted',
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:9',
    grants: [id],
  });
  assert.ok(created.status < 300, created.text);
  const started = spawn(PYTHON, [script('host.py'), file('host.json'), 'hosted'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  host = started;
  for (const stream of [started.stdout, started.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-10_000)));
  dialer = await openOverlay({ identityFile: file('dialer.json') });
});
after(async () => {
  host?.kill('SIGKILL');
  await dialer?.close();
  await world?.close();
});

async function environmentIds(): Promise<string[]> {
  const { json } = await world.call('GET', '/environments');
  return (json as { content: { id: string }[] }).content.map(({ id }) => id);
}

test(
  'the library dials a share that the C SDK hosts, encrypted: 100 MB both ways, 20 at once',
  { skip },
  async () => {
    const dial = () => dialer.dial('hosted', { encryption: 'required' });
    await until('the host', async () => (await dial()).destroy().destroyed, Boolean).catch(
      (error: unknown) => {
        throw new Error(output, { cause: error });
      },
    );
    await within('100 MB', countedExchange(await dial(), BODY_BYTES), TRANSFER_MS);
    const streams = await Promise.all(Array.from({ length: AT_ONCE }, dial));
    await within('20 at once', Promise.all(streams.map((stream) => countedExchange(stream, 100_000))));
  },
);
