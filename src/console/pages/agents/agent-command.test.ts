// Commands that enroll and start an agent: what was typed reaches the agent as it is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { shellWord } from '../../parts/first-command.ts';
import { allowTargetsOf, startCommand, wrongTarget } from './agent-command.ts';

const START = {
  apiUrl: 'https://api.example.com',
  code: 'AbC-123',
  name: '',
  allowTargets: [],
  version: '1.2.3',
};
const HOSTILE = `it's "a" $(id) \`id\` \\ %h <img src=x onerror=alert(1)>`;

describe('the command of an agent', () => {
  it('has the code, the address and the name of the agent, and what may be published', () => {
    const allowTargets = allowTargetsOf('machine', '');
    assert.equal(
      startCommand('clone', { ...START, name: 'build host', allowTargets }),
      [
        'FRONTDOOR_ENROLLMENT_TOKEN=AbC-123 \\',
        '  node bin/frontdoor.js agent start \\',
        '  --api https://api.example.com \\',
        "  --name 'build host' \\",
        "  --allow-target '127.0.0.1:*' \\",
        "  --allow-target '[::1]:*'",
      ].join('\n'),
    );
    assert.match(
      startCommand('installed', START),
      /^FRONTDOOR_ENROLLMENT_TOKEN=AbC-123 \\\n  frontdoor agent start/,
    );
    assert.ok(!startCommand('installed', START).includes('--name'));
  });

  it('of a shell passes a hostile name on as one word', () => {
    const printed = execFileSync('/bin/sh', ['-c', `printf '%s' ${shellWord(HOSTILE)}`], {
      encoding: 'utf8',
    });
    assert.equal(printed, HOSTILE);
  });

  it('of a service has the code as its input, because every user of a machine may read command lines', () => {
    const allowTargets = allowTargetsOf('machine', '');
    assert.equal(
      startCommand('systemd', { ...START, name: HOSTILE, allowTargets }),
      [
        'sudo frontdoor service install agent --enrollment-token-file - \\',
        '  --api https://api.example.com \\',
        `  --name ${shellWord(HOSTILE)} \\`,
        "  --allow-target '127.0.0.1:*' \\",
        "  --allow-target '[::1]:*' <<'CODE'",
        'AbC-123',
        'CODE',
      ].join('\n'),
    );
  });

  it('of a container reaches the services of its machine, and keeps its identity', () => {
    const allowTargets = allowTargetsOf('machine', '');
    assert.deepEqual(startCommand('docker', { ...START, name: HOSTILE, allowTargets }).split(' \\\n  '), [
      'FRONTDOOR_ENROLLMENT_TOKEN=AbC-123',
      'docker run --detach --restart unless-stopped --stop-timeout 45 --name frontdoor-agent',
      '--read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges',
      '--env FRONTDOOR_ENROLLMENT_TOKEN',
      '--network host',
      '--volume frontdoor-agent:/var/lib/frontdoor',
      'localhost/frontdoor:1.2.3 agent start',
      '--api https://api.example.com',
      `--name ${shellWord(HOSTILE)}`,
      "--allow-target '127.0.0.1:*'",
      "--allow-target '[::1]:*'",
      '--data-dir /var/lib/frontdoor',
    ]);
  });

  it('takes networks as the agent does, and names the first that is none', () => {
    assert.deepEqual(allowTargetsOf('other', ' 10.0.0.0/8:80,8080\n[fd00::]/8:* '), [
      '10.0.0.0/8:80,8080',
      '[fd00::]/8:*',
    ]);
    assert.deepEqual(allowTargetsOf('none', '10.0.0.0/8:80'), []);
    assert.equal(wrongTarget(['/srv/www', '10.0.0.0/8:80']), undefined);
    assert.equal(wrongTarget(['192.0.2.7:8000-8100', '10.0.0.0/8:*', '[::1]:*', '127.0.0.1:*']), undefined);
    assert.equal(wrongTarget(['10.0.0.0/8:80', 'example.com:80']), 'example.com:80');
    assert.equal(wrongTarget(['10.0.0.0/8']), '10.0.0.0/8');
  });
});
