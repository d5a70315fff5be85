/** "From an archive" of docs/guide/installing.md: its commands as they are, on a machine without Node.js. */
import assert from 'node:assert/strict';
import { copyFileSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { codeBlocks, shellLines } from '../../support/document-commands.ts';
import { API, publish, startService, writeCode } from '../answering-share.ts';
import { DebianMachine, SHARED } from '../debian-machine.ts';
import type { Install, Transcript } from '../scenario.ts';

const GUIDE = 'docs/guide/installing.md';
const RELEASE = join(repositoryRoot, 'dist/release');
const FOLDER = '/root/release';
const PORT = 8080;
/** Machines with the whole product refuse the agent in the same place. */
const AGENT_PREFIX = '/opt/agent';
const AGENT = `${AGENT_PREFIX}/bin/frontdoor-agent`;
const SERVER_DATA = '/root/server';
const AGENT_DATA = '/root/agent';
const CODE = '/root/code.txt';

export const install: Install = {
  name: 'archive',
  shows: 'the commands of the guide install the programs on a bare Debian 12, and a share answers',
  needs: { debootstrap: 'debootstrap', unshare: 'util-linux', ip: 'iproute2' },
  run: runArchive,
};

async function runArchive(transcript: Transcript): Promise<void> {
  const archives = globSync(join(RELEASE, 'frontdoor*-linux-x64.tar.gz'));
  if (archives.length < 2) throw new Error('dist/release/ has no archives: run "npm run dist -- archives"');
  const machine = await transcript.step('systemd runs', () => DebianMachine.boot());
  try {
    for (const file of [...archives, join(RELEASE, 'SHA256SUMS'), join(RELEASE, 'install.sh')])
      copyFileSync(file, join(machine.shared, basename(file)));
    machine.shell(`cp -r ${SHARED} ${FOLDER}`);
    for (const line of guideLines())
      await transcript.step(
        line.replace(/ +#.*/, ''),
        () =>
          transcript.note(
            machine.shell(`cd ${FOLDER} && ${line.replace('--agent', `--agent --prefix ${AGENT_PREFIX}`)}`),
          ),
        () => statSync(archives.find((file) => file.includes('agent') === line.includes('--agent'))!).size,
      );
    for (const program of ['/usr/local/bin/frontdoor', '/opt/frontdoor/bin/frontdoor', AGENT])
      assert.match(machine.run(program, '--version'), /^\d+\.\d+\.\d+/);
    await transcript.step('frontdoor up: ready', () =>
      machine.shell(`systemd-run --quiet --unit=server /usr/local/bin/frontdoor up --data-dir ${SERVER_DATA} --ready-file /run/ready.json
        until test -e /run/ready.json; do sleep 0.1; done`),
    );
    writeCode(machine, '/usr/local/bin/frontdoor', SERVER_DATA, CODE);
    const words = `--api ${API} --enrollment-token-file ${CODE} --data-dir ${AGENT_DATA}`;
    machine.shell(`systemd-run --quiet --unit=agent ${AGENT} start ${words}
      until ${AGENT} status --data-dir ${AGENT_DATA} >/dev/null 2>&1; do sleep 0.1; done`);
    const node = machine.shell('ls /usr/local/lib/frontdoor/*/lib/frontdoor/node_modules/*/bin/node').trim();
    startService(machine, node);
    await transcript.step('a share answers', () =>
      publish(machine, { agent: AGENT, node, port: PORT, dataDir: AGENT_DATA }),
    );
  } catch (error) {
    transcript.note(machine.try('journalctl', '--no-pager', '--lines=40').output);
    throw error;
  } finally {
    await machine.close();
  }
}

/** The lines of the first block: those of the section on archives. */
function guideLines(): string[] {
  const text = readFileSync(join(repositoryRoot, GUIDE), 'utf8');
  const section = text.slice(text.indexOf('## From an archive'));
  const block = codeBlocks(GUIDE, section).find(({ language }) => language === 'sh');
  if (block === undefined) throw new Error(`${GUIDE} has no commands for archives`);
  return shellLines(block).map(([, line]) => line);
}
