// `frontdoor up` under a name that nothing resolves: its own parts reach each other all the same.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '#base';
import { startLocalUp } from '../support/local-up.ts';
import { httpGet } from '../support/world.ts';

test('up starts, the first time and later, while its own name does not resolve', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-nameless-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  for (const start of ['first', 'second']) {
    const up = await startLocalUp({ dataDir, log: silentLog, advertiseHost: 'frontdoor.invalid' });
    const { status } = await httpGet(up.httpPort, 'nobody.share.localhost', '/');
    await up.close(0);
    assert.equal(status, 404, `${start} start: the gateway has its list from the control plane`);
  }
});
