// The files of `frontdoor service`: the unit of the package with another program, and what launchd reads. `npm run installs -- service`
// installs one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { configurationText, plistText, serviceProgram, unitText } from '../../bin/service-files.ts';
import { root } from '../../tools/source-tree.ts';

describe('the service of an agent', () => {
  it('has the unit of the package, with the program of this installation', () => {
    const unit = readFileSync(join(root, 'deploy/systemd/frontdoor-agent@.service'), 'utf8');
    const text = unitText('/opt/frontdoor/bin/frontdoor-agent');
    assert.equal(text, unit.replaceAll('/usr/bin/frontdoor-agent', '/opt/frontdoor/bin/frontdoor-agent'));
    assert.match(text, /^ExecStart=\/opt\/frontdoor\/bin\/frontdoor-agent start /m);
  });

  it('has a configuration with the options that were given', () => {
    const text = configurationText({
      instance: 'main',
      api: 'https://a.example',
      name: 'it: "x"',
      allowTarget: ['10.0.0.0/8:80'],
    });
    assert.match(text, /^agent:\n {2}api: https:\/\/a\.example\n {2}name: .*it: /m);
  });

  it('is a property list in which nothing of the template is left and no text becomes markup', () => {
    const words = ['/usr/local/bin/frontdoor-agent', 'start', '--name=a<b>&c'];
    const text = plistText({ label: 'dev.frontdoor.agent.main', words, user: 'me', log: '/var/log/a.log' });
    const parsed = execFileSync(
      'python3',
      ['-c', 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'],
      { input: text, encoding: 'utf8' },
    );
    const list = JSON.parse(parsed) as Record<string, unknown>;
    assert.deepEqual(list['ProgramArguments'], words);
    assert.equal(list['UserName'], 'me');
    assert.doesNotMatch(text, /@[A-Z]+@/);
  });

  it('starts the command of its own installation, and none in a folder that services cannot read', () => {
    const folder = mkdtempSync('/tmp/frontdoor-program-');
    try {
      const top = join(folder, 'lib/frontdoor-1');
      const [bin, links, others] = [join(top, 'bin'), join(folder, 'bin'), join(folder, 'other')];
      for (const path of [bin, links, others]) mkdirSync(path, { recursive: true });
      for (const path of [bin, others]) {
        writeFileSync(join(path, 'frontdoor-agent'), '');
        chmodSync(join(path, 'frontdoor-agent'), 0o755);
      }
      symlinkSync(join(bin, 'frontdoor-agent'), join(links, 'frontdoor-agent'));
      const programs = join(top, 'lib/frontdoor/dist/programs');
      assert.throws(() => serviceProgram(undefined, others, programs), { code: 'service-program' });
      // The link was found, and is below a folder of temporary files.
      assert.throws(() => serviceProgram(undefined, `${others}:${links}`, programs), {
        code: 'service-program-place',
        message: new RegExp(`^${join(links, 'frontdoor-agent')} `),
      });
      assert.throws(() => serviceProgram('/nonexistent', '', programs), { code: 'service-program' });
      assert.equal(serviceProgram('/bin/sh', '', programs), '/bin/sh');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
