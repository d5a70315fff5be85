// The first client that nobody here wrote: OpenZiti's C SDK, in the PyPI wheel. FRONTDOOR_TEST_OPENZITI_PYTHON names a
// Python that has `openziti==0.6.0`; without it the tests are skipped, and under FRONTDOOR_TEST_STRICT=1 fail.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startPrivateService, digestOf, type PrivateService } from '../../support/private-service.ts';
import { openWorld, type World } from '../../support/world.ts';

const PYTHON = process.env['FRONTDOOR_TEST_OPENZITI_PYTHON'] ?? '';
const IS_STRICT = process.env['FRONTDOOR_TEST_STRICT'] === '1';
const skip = PYTHON === '' && !IS_STRICT ? 'FRONTDOOR_TEST_OPENZITI_PYTHON is not set' : false;
const SCRIPT_MS = 60_000;
const BODY_BYTES = 300_000;

interface ScriptResult {
  readonly status: number;
  readonly out: Buffer;
  readonly err: string;
}

let world: World;
let service: PrivateService;
let identityFile: string;
/** The id of the identity that the C SDK enrolled. */
let environmentId: string;

/** Runs a script of this folder under the wheel's Python. */
function python(script: string, ...args: string[]): Promise<ScriptResult> {
  const path = join(import.meta.dirname, script);
  const options = { encoding: 'buffer', timeout: SCRIPT_MS, maxBuffer: 64 << 20 } as const;
  return new Promise((resolve, reject) => {
    execFile(PYTHON, [path, ...args], options, (error, out, err) => {
      const status = error === null ? 0 : error.code;
      if (typeof status === 'number') resolve({ status, out, err: String(err) });
      else reject(new Error(`${script} did not run to its end: ${String(error?.message)}${String(err)}`));
    });
  });
}

async function environmentIds(): Promise<string[]> {
  const { json } = await world.call('GET', '/environments');
  return (json as { content: { id: string }[] }).content.map(({ id }) => id);
}

before(async () => {
  if (skip !== false) return;
  assert.notEqual(PYTHON, '', 'FRONTDOOR_TEST_OPENZITI_PYTHON must name a Python with openziti 0.6.0');
  world = await openWorld();
  service = await startPrivateService();
  identityFile = join(world.dataDir, 'c-sdk.json');
});
after(async () => {
  await world?.close();
  await service?.close();
});

test('the C SDK enrolls with the token of our bootstrap operation, once', { skip }, async () => {
  const known = await environmentIds();
  const tokenFile = join(world.dataDir, 'c-sdk.jwt');
  writeFileSync(tokenFile, await world.enrollmentJwt(), { mode: 0o600 });
  const enrolled = await python('enroll.py', tokenFile, identityFile);
  assert.equal(enrolled.status, 0, enrolled.err);
  const added = (await environmentIds()).filter((id) => !known.includes(id));
  assert.equal(added.length, 1);
  environmentId = added[0]!;
  const again = await python('enroll.py', tokenFile, join(world.dataDir, 'second.json'));
  assert.equal(again.status, 1);
  assert.match(again.err, /enrollment failed/);
});

test('it dials a private share that is granted to it, through router and agent', { skip }, async () => {
  const agent = await world.startAgent('host');
  const shared = await agent.share(`http://127.0.0.1:${service.port}`, {
    name: 'granted',
    mode: 'private',
    grants: [environmentId],
  });
  assert.equal(shared.readiness.ready, true);
  const small = await python('dial.py', identityFile, 'granted', '/');
  assert.equal(small.status, 0, small.err);
  assert.equal(String(small.out), 'private');
  const large = await python('dial.py', identityFile, 'granted', `/bytes/${BODY_BYTES}`);
  assert.equal(large.status, 0, large.err);
  assert.equal(large.out.length, BODY_BYTES);
  assert.equal(digestOf([large.out]), digestOf(service.bytes(BODY_BYTES)));
});

test('it finds a private share by the address that the share has', { skip }, async () => {
  const found = await python('dial.py', identityFile, 'granted.ziti:80', '/');
  assert.equal(found.status, 0, found.err);
  assert.equal(String(found.out), 'private');
});

test('it cannot dial a private share that is not granted to it', { skip }, async () => {
  const agent = await world.startAgent('other-host');
  await agent.share(`http://127.0.0.1:${service.port}`, { name: 'withheld', mode: 'private' });
  const before = service.requestCount;
  const refused = await python('dial.py', identityFile, 'withheld', '/');
  assert.equal(refused.status, 1);
  assert.match(refused.err, /dial failed/);
  assert.equal(refused.out.length, 0);
  assert.equal(service.requestCount, before);
  // The identity is as good as before: it is this share that it may not have.
  assert.equal((await python('dial.py', identityFile, 'granted', '/')).status, 0);
});
