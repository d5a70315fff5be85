import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runClient } from '../client-run.ts';
import type { PublicApp } from '../row.ts';

const BACKEND = '/usr/lib/git-core/git-http-backend';
/** More than git sends without a chunked body. */
const FILE_BYTES = 30_000_000;

export const app: PublicApp = {
  name: 'git',
  shows: 'push and clone of 30 MB over smart HTTP, and a fetch of what was pushed since',
  needs: { git: 'git', lighttpd: 'lighttpd' },
  program: async ({ folder, port }) => {
    const root = join(folder, 'repositories');
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root, { recursive: true });
    await runClient('git', ['init', '--quiet', '--bare', join(root, 'app.git')]);
    await runClient('git', ['-C', join(root, 'app.git'), 'config', 'http.receivepack', 'true']);
    const settings = join(folder, 'lighttpd.conf');
    const lines = [
      'server.modules = ("mod_setenv", "mod_alias", "mod_cgi")',
      `server.document-root = "${root}"`,
      'server.bind = "127.0.0.1"',
      `server.port = ${port}`,
      `alias.url = ("/git" => "${BACKEND}")`,
      'cgi.assign = ("" => "")',
      `setenv.set-environment = ("GIT_PROJECT_ROOT" => "${root}", "GIT_HTTP_EXPORT_ALL" => "")`,
    ];
    writeFileSync(settings, `${lines.join('\n')}\n`);
    return { command: 'lighttpd', args: ['-D', '-f', settings] };
  },
  check: async (share, { folder }) => {
    const url = `${share.origin}/git/app.git`;
    const [work, copy] = [join(folder, 'work'), join(folder, 'copy')];
    for (const each of [work, copy]) rmSync(each, { recursive: true, force: true });
    const person = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
    await runClient('git', ['init', '--quiet', '--initial-branch=main', work]);
    const commit = async (name: string, bytes: number): Promise<void> => {
      writeFileSync(join(work, name), randomBytes(bytes));
      await runClient('git', ['-C', work, 'add', '.']);
      await runClient('git', ['-C', work, ...person, 'commit', '--quiet', '-m', name]);
      await share.run('git', ['-C', work, 'push', '--quiet', url, 'main']);
    };
    await commit('large', FILE_BYTES);
    await share.run('git', ['clone', '--quiet', '--branch', 'main', url, copy]);
    await commit('small', 100);
    await share.run('git', ['-C', copy, 'pull', '--quiet']);
    const headOf = (where: string): Promise<string> => runClient('git', ['-C', where, 'rev-parse', 'main']);
    assert.equal(await headOf(copy), await headOf(work));
  },
};
