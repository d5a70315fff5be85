/**
 * OpenZiti's C SDK itself (the PyPI wheel `openziti`) enrolls and logs in. Runs where FRONTDOOR_TEST_OPENZITI_PYTHON names a
 * Python that has the wheel; `recorded-c-sdk.test.ts` stands in for it elsewhere.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openEdgeFixture } from './edge-api-fixture.ts';

const python = process.env['FRONTDOOR_TEST_OPENZITI_PYTHON'];
const script = (name: string): string =>
  fileURLToPath(new URL(`../../../../test/compat/c-sdk/${name}`, import.meta.url));

test(
  'the C SDK enrolls, logs in and asks for a session',
  { skip: python === undefined && 'no C SDK' },
  async () => {
    const fixture = await openEdgeFixture();
    try {
      const host = await fixture.enroll('host');
      const { jwt, id } = await fixture.enrollment();
      const tokenFile = join(fixture.folder, 'token.jwt');
      const identityFile = join(fixture.folder, 'c-sdk.json');
      writeFileSync(tokenFile, jwt);
      const run = promisify(execFile);
      const { stdout } = await run(python!, [script('enroll.py'), tokenFile, identityFile], {
        timeout: 30_000,
      });
      assert.match(stdout, /enrolled with C SDK/);
      const { id: parts } = JSON.parse(readFileSync(identityFile, 'utf8')) as { id: Record<string, string> };
      assert.match(parts['cert']!, /BEGIN CERTIFICATE/);
      assert.equal(fixture.model.identity(id)?.fingerprints.length, 1);
      await fixture.share({ environmentId: host.id, name: 'private-one', grants: [id] });
      // No router: the dial gets as far as its session, then times out.
      fixture.routers.pop();
      const dial = run(python!, [script('dial.py'), identityFile, 'private-one'], { timeout: 60_000 });
      await assert.rejects(dial, /dial failed/);
      const asked = fixture.logged
        .filter((line) => line.includes('"message":"edge API: request"'))
        .join('\n');
      assert.match(asked, /"POST","route":"\/edge\/client\/v1\/authenticate","status":200/);
      assert.match(asked, /"POST","route":"\/edge\/client\/v1\/sessions","status":201/);
    } finally {
      await fixture.close();
    }
  },
);
