import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { silentLog } from '#base';
import { until } from '../../../../test/support/deadline.ts';
import { ConsoleApp } from './console-app.ts';
import { PACKAGE_ROOT } from './console-source.ts';

const PROGRAM = fileURLToPath(new URL('build-program.ts', import.meta.url));

test('what a watcher builds is served at once, with maps, and a page learns of the next one', async (context) => {
  const root = mkdtempSync(join(tmpdir(), 'frontdoor-watch-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  cpSync(join(PACKAGE_ROOT, 'src/console'), join(root, 'src/console'), { recursive: true });
  cpSync(join(PACKAGE_ROOT, 'package.json'), join(root, 'package.json'));
  symlinkSync(join(PACKAGE_ROOT, 'node_modules'), join(root, 'node_modules'));
  const folder = join(root, 'builds');
  const app = await ConsoleApp.open({ log: silentLog, folders: [folder] });
  assert.equal(await app.watched(), undefined);

  const watcher = execFile(process.execPath, [PROGRAM, '--watch', '--root', root, '--folder', folder]);
  const output: string[] = [];
  watcher.stdout!.on('data', (text: string) => output.push(text));
  watcher.stderr!.on('data', (text: string) => output.push(text));
  const ended = once(watcher, 'exit');
  context.after(() => watcher.kill('SIGKILL'));
  const { value: first } = await until(
    'a first build',
    () => app.watched(),
    (key) => key !== undefined,
  );
  assert.equal(app.current?.key, first);
  const names = [...app.current!.files.keys()];
  assert.ok(names.some((name) => name.endsWith('.js.map')));
  const [entry] = [...app.current!.files.values()].filter(({ role }) => role === 'entry');
  assert.match(Buffer.from(entry!.bytes).toString(), /\/assets\/watched/);

  const source = join(root, 'src/console/main.tsx');
  appendFileSync(source, 'const broken = ;\n');
  await until(
    'the mistake',
    () => output.join(''),
    (text) => /main\.tsx:\d+:\d+/.test(text),
  );
  assert.equal(await app.watched(), first);
  rmSync(source);
  cpSync(join(PACKAGE_ROOT, 'src/console/main.tsx'), source);
  appendFileSync(source, `document.title = 'another title';\n`);
  const { value: second } = await until(
    'a second build',
    () => app.watched(),
    (key) => key !== first,
  );
  assert.equal(app.current?.key, second);

  watcher.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.equal(await app.watched(), undefined);
  assert.equal(app.current?.key, second);
});
