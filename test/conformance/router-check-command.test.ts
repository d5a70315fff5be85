// `frontdoor router check` and `schema` as processes: exit status, streams, and what they load.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { within } from '../support/deadline.ts';

const folder = mkdtempSync(join(tmpdir(), 'router-check-'));
after(() => rmSync(folder, { recursive: true }));

const ENTRY = join(repositoryRoot, 'bin/frontdoor.ts');
const EXAMPLE = join(repositoryRoot, 'docs/reference/router.example.yml');
/** A command that runs from the sources, with the compile cache that the launcher provides. */
const PROCESS_ENV = {
  PATH: process.env['PATH'],
  FRONTDOOR_FROM_SOURCES: '1',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
/** Prints each file that is loaded. */
const TRACE =
  'data:text/javascript,import{registerHooks}from"node:module";' +
  'registerHooks({load(url,context,next){process._rawDebug(url);return next(url,context)}})';

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

async function run(
  args: readonly string[],
  env: Record<string, string> = {},
  nodeArgs: readonly string[] = [],
): Promise<Ran> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...nodeArgs, ENTRY, 'router', ...args],
    {
      env: { ...PROCESS_ENV, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  const [status] = (await within('the end', once(child, 'close'))) as [number | null];
  return { status, out, err };
}

function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test('the exit status is 0 for a valid file, 1 for one that is not, 2 for one that cannot be read', async () => {
  const broken = fileOf('broken.yml', 'v: [\n');
  const wrong = fileOf('wrong.yml', 'v: 2\n');
  const [valid, invalid, syntax, missing] = await Promise.all(
    [EXAMPLE, wrong, broken, join(folder, 'none.yml')].map((file) => run(['check', file, '--json'])),
  );
  assert.deepEqual(
    [valid, invalid, syntax, missing].map((ran) => [
      ran?.status,
      (JSON.parse(ran!.out) as { valid: boolean }).valid,
    ]),
    [
      [0, true],
      [1, false],
      [1, false],
      [2, false],
    ],
  );
  for (const ran of [valid, invalid, syntax, missing]) assert.equal(ran?.err, '');
});

test('variables of the process are put in', async () => {
  const file = fileOf(
    'variables.yml',
    'v: 3\nctrl: { endpoint: "tls:$HOST:1" }\nidentity: { cert: a, key: b, ca: c }\n',
  );
  const { out } = await run(['check', file, '--effective', '--json'], { HOST: 'a.example' });
  assert.equal((JSON.parse(out) as { ctrl: { endpoint: string } }).ctrl.endpoint, 'tls:a.example:1');
});

test('schema prints the JSON Schema', async () => {
  const { status, out } = await run(['schema']);
  assert.equal(status, 0);
  assert.equal(
    (JSON.parse(out) as Record<string, unknown>)['$schema'],
    'https://json-schema.org/draft/2020-12/schema',
  );
});

test('check loads neither the router nor the network nor a protobuf', async () => {
  const { status, err } = await run(['check', EXAMPLE], {}, ['--import', TRACE]);
  assert.equal(status, 0);
  assert.match(err, /src\/router\/config\/mod\.ts/);
  assert.doesNotMatch(
    err,
    /src\/router\/(?!config\/)|src\/(?:net|sdk|contract|control|gateway|agent)\b|src\/wire\/gen\//,
  );
});
