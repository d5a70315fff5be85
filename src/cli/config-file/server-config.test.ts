import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { noteRunningProgram } from '#net/files';
import { runCli, type Ran } from '../cli-fixture.ts';
import type { ProgramRunners } from '../program.ts';

const folder = mkdtempSync(join(tmpdir(), 'server-config-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'frontdoor.yaml');

type Options = Readonly<Record<string, unknown>>;

/** Runs a command on the data of a program with a file; `options` are those that the command was run with. */
async function run(
  text: string,
  words: readonly string[],
): Promise<Ran & { readonly options: Options | undefined }> {
  writeFileSync(file, text, { mode: 0o600 });
  const taken: { options?: Options } = {};
  const take = async (options: object): Promise<void> => void (taken.options = options as Options);
  const runners: Partial<ProgramRunners> = {
    resetAdmin: take,
    adminsCreate: take,
    consoleLink: async (options) => (await take(options), `${options.consoleUrl}/welcome#code`),
    restore: async (_, options) => (await take(options), assert.fail('not wanted')),
  };
  return { ...(await runCli(words, {}, {}, runners)), options: taken.options };
}

const UP = 'up: { dataDir: data, databaseFile: database.url, zone: share.example }';

test('commands on the data of a program take its directory and database from its configuration file', async () => {
  for (const words of [
    ['control', 'reset-admin'],
    ['admins', 'create'],
    ['console', 'link'],
    ['restore', 'a.backup', '--check'],
  ]) {
    const { options } = await run(UP, [...words, '--config', file]);
    const { dataDir, databaseFile, zone } = options!;
    assert.deepEqual(
      [dataDir, databaseFile, zone],
      [join(folder, 'data'), join(folder, 'database.url'), undefined],
      words.join(' '),
    );
  }
  const control = await run('control: { dataDir: other }', ['admins', 'create', '--config', file]);
  assert.equal(control.options?.['dataDir'], join(folder, 'other'));
  const words = ['admins', 'create', '--config', file, '--data-dir', 'here', '--database', 'postgres://h/d'];
  const given = await run(UP, words);
  assert.deepEqual([given.options?.['dataDir'], given.options?.['databaseFile']], ['here', undefined]);
});

test('a file with a problem is refused by them, as by the programs, and nothing is done', async () => {
  const { options, err, code } = await run('up: { zon: share.example }', [
    'control',
    'reset-admin',
    '--config',
    file,
  ]);
  assert.match(err, /up\.zon: is not known here; the nearest known name is zone/);
  assert.deepEqual([options, code], [undefined, 2]);
});

test('the status of a machine is that of the directory in its configuration file', async () => {
  const { out } = await run(UP, ['status', '--json', '--config', file]);
  assert.equal((JSON.parse(out) as Options)['dataDir'], join(folder, 'data'));
});

test('a link of the console leads to the name in the configuration file, or to the program that runs', async () => {
  const linkOf = async (text: string, ...words: readonly string[]) =>
    (await run(text, ['console', 'link', '--config', file, ...words])).out.trim();
  const names = 'up: { dataDir: data, apiName: api.share.example, onePort: true, httpsPort: 443 }';
  assert.equal(await linkOf(names), 'https://api.share.example/console/welcome#code');
  assert.equal(await linkOf(names, '--console-url', 'https://a/console'), 'https://a/console/welcome#code');
  assert.equal(
    await linkOf('up: { apiName: api.share.example }'),
    'https://api.share.example:8081/console/welcome#code',
  );
  assert.equal(
    await linkOf('control: { publicApiUrl: "https://front.example/" }'),
    'https://front.example/console/welcome#code',
  );
  assert.equal(await linkOf('up: {}'), 'http://localhost:8081/console/welcome#code');
  mkdirSync(join(folder, 'data'), { recursive: true });
  const consoleUrl = 'https://running.example/console';
  const about = { program: 'control', version: '1', gatewayUrl: null, edgeApiUrl: '', baseUrl: '' };
  const note = await noteRunningProgram(join(folder, 'data'), { ...about, apiUrl: 'http://a', consoleUrl });
  assert.equal(await linkOf(names), `${consoleUrl}/welcome#code`);
  note.remove();
});
