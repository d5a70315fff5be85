// The JSON files that `frontdoor up` keeps for itself, missing, empty, cut or of another program: what a start does then.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { keepDemoCredentials, loadDemoCredentials } from '../../bin/demo.ts';
import { rememberedPorts, rememberPorts } from '../../bin/port-memory.ts';
import { recordingLog, type LogRecord } from '../support/recording-log.ts';
import { DAMAGED_STATES } from '../support/state-file-states.ts';

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-up-state-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function damage(path: string, contentOf: (whole: string) => string | undefined): string | undefined {
  const content = contentOf(readFileSync(path, 'utf8'));
  rmSync(path);
  if (content !== undefined) writeFileSync(path, content, { mode: 0o600 });
  return content;
}

describe('a start of up', () => {
  for (const [state, contentOf] of Object.entries(DAMAGED_STATES)) {
    it(`with ports.json ${state} takes other ports, and loses nothing in silence`, async () => {
      const path = join(folder, 'ports.json');
      const none = { http: 0, https: 0, api: 0, edgeApi: 0, ctrl: 0, edge: 0 };
      await rememberPorts(folder, { ...none, http: 1 });
      const content = damage(path, contentOf);
      const records: LogRecord[] = [];
      const log = recordingLog((record) => records.push(record));
      assert.deepEqual(await rememberedPorts(folder, '127.0.0.1', log), none);
      await rememberPorts(folder, none);
      if (content === undefined) return assert.deepEqual(records, []);
      assert.deepEqual([records[0]!.fields['file'], records.length], [path, 1]);
      assert.match(records[0]!.message, /the ports of the last start are not known/);
      assert.equal(readFileSync(`${path}.unreadable`, 'utf8'), content);
    });

    it(`with demo-credentials.json ${state} is refused with path and remedy, and changes nothing`, async () => {
      const path = join(folder, 'demo-credentials.json');
      const ids = { organizationId: 'o', frontdoorId: 'f', accountId: 'a', apiToken: 'secret-token' };
      await keepDemoCredentials(folder, { ...ids, clientId: 'c', clientSecret: 's' });
      const content = damage(path, contentOf);
      assert.throws(
        () => loadDemoCredentials(folder),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'demo-credentials');
          assert.ok(error.message.includes(path));
          assert.match(error.message, /--data-dir/);
          assert.ok(!error.message.includes('secret-token'));
          return true;
        },
      );
      if (content !== undefined) assert.equal(readFileSync(path, 'utf8'), content);
    });
  }
});
