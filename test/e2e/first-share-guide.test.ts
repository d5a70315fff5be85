// docs/guide/first-share.md, as its reader types it: in a network namespace of its own, because the guide names ports.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until } from '../support/deadline.ts';
import { codeBlocks } from '../support/document-commands.ts';
import { NetworkNamespace, namespaceSkip } from '../support/network-namespace.ts';

const GUIDE = 'docs/guide/first-share.md';
/** A start of everything from sources, on a machine that is busy. */
const STARTED_MS = 120_000;
/** Blocks with one of these start a program that stays. */
const STAYS = /^(?:frontdoor up|python3 -m http\.server)/;

test(
  'the commands of the guide publish, protect and end shares',
  { skip: namespaceSkip('curl', 'python3') },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'first-share-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    const command = join(programs, 'frontdoor');
    writeFileSync(command, `#!/bin/sh\nexec node ${join(repositoryRoot, 'bin/frontdoor.js')} "$@"\n`);
    chmodSync(command, 0o755);
    const network = await NetworkNamespace.open(t);
    const env = [
      'env',
      '-C',
      folder,
      `PATH=${programs}:${process.env['PATH']}`,
      `XDG_CONFIG_HOME=${folder}/config`,
    ];
    const output: string[] = [];
    const blocks = codeBlocks(GUIDE, readFileSync(join(repositoryRoot, GUIDE), 'utf8'));
    for (const { lines } of blocks.filter(({ language }) => language === 'sh')) {
      const text = lines.join('\n');
      if (!STAYS.test(text)) {
        output.push(await network.run(env[0]!, ...env.slice(1), 'bash', '-euo', 'pipefail', '-c', text));
        continue;
      }
      const program = network.start(env[0]!, [...env.slice(1), 'sh', '-c', `exec ${text}`], output);
      const ended = once(program, 'exit');
      t.after(async () => {
        program.kill('SIGTERM');
        await ended;
      });
      const url = text.startsWith('frontdoor')
        ? 'http://hello.share.localhost:8080/'
        : 'http://127.0.0.1:3000/';
      const asked = (): Promise<string> =>
        network.run('curl', '-sS', '-o', '/dev/null', '-w', '%{http_code}', url);
      await until(
        'the program of the guide',
        () => asked().catch(() => ''),
        (status) => status === '200',
        STARTED_MS,
      );
    }
    const printed = output.join('');
    // Twice without a key: from the folder, and from the service; then with the key.
    assert.equal(printed.match(/^Hello from my laptop$/gm)?.length, 3, printed);
    assert.match(printed, /^HTTP\/1\.1 401 /m);
  },
);
