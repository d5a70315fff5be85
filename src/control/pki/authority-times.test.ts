// Authorities that were made while the clock was wrong, and old ones: what they signed stays valid.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { checkPeerChain } from '#net';
import { makeKeyRequest } from '#sdk';
import './edge-api-key-fixture.ts';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { openEmbedded } from '../store/engine/migrated-copy-fixture.ts';
import { openPki, type Pki } from './pki.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 27);
const secrets = ephemeralSecrets();

/** Opens the same installation at one time after the other. */
async function atTimes(run: (at: (nowMs: number) => Promise<Pki>) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-pki-'));
  const store = await openEmbedded();
  try {
    await run(async (nowMs) => {
      const pki = await openPki({
        dataDir,
        db: store.db,
        secrets,
        trustDomain: 'test.frontdoor',
        hosts: ['edge.example'],
        clock: new ManualClock(nowMs),
        log: silentLog,
      });
      pki.close();
      return pki;
    });
  } finally {
    await store.close();
    rmSync(dataDir, { recursive: true });
  }
}

/** Whether a client with that bundle accepts the server's certificates. */
function problemOf({ edgeServer }: Pki, caPem: string, nowMs: number): string | undefined {
  const [leaf, ...chain] = edgeServer.certPem
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .map((pem) => new X509Certificate(pem));
  return checkPeerChain(leaf!, chain, caPem, nowMs);
}

async function clientOf(pki: Pki): Promise<X509Certificate> {
  const { csrPem } = await makeKeyRequest('env-1');
  const answer = await pki.issueClient(csrPem, { id: 'env-1', lifetimeDays: 365 });
  assert.ok('issued' in answer);
  return new X509Certificate(answer.issued.chainPem);
}

for (const [name, firstMs] of [
  ['a year ahead', NOW_MS + 365 * DAY_MS],
  ['in 1970', 0],
] as const)
  test(`an installation that was first started ${name} serves once the clock is right`, () =>
    atTimes(async (at) => {
      await at(firstMs);
      const pki = await at(NOW_MS);
      assert.equal(problemOf(pki, pki.caBundlePem, NOW_MS), undefined);
      assert.ok('leaf' in pki.proveLeaf(await clientOf(pki)));
      for (const { leafPem } of [pki.edgeServer, pki.controlServer])
        assert.ok(Date.parse(new X509Certificate(leafPem).validFrom) <= NOW_MS - DAY_MS, 'a day before now');
    }));

test('an old authority is renewed: former bundles and certificates stay valid, and new ones last', () =>
  atTimes(async (at) => {
    const young = await at(NOW_MS);
    const laterMs = NOW_MS + 9.8 * 365 * DAY_MS;
    const justBefore = await at(laterMs - 100 * DAY_MS);
    const client = await clientOf(justBefore);
    const old = await at(laterMs);
    assert.equal(problemOf(old, young.caBundlePem, laterMs), undefined, 'a bundle of the first day');
    assert.ok('leaf' in old.proveLeaf(client), 'a certificate of the former');
    const lifeMs = Date.parse(new X509Certificate(old.edgeServer.leafPem).validTo) - laterMs;
    assert.ok(lifeMs > 200 * DAY_MS, `${lifeMs / DAY_MS} days`);
    const muchLaterMs = NOW_MS + 30 * 365 * DAY_MS;
    const afterRoot = await at(muchLaterMs);
    assert.equal(problemOf(afterRoot, afterRoot.caBundlePem, muchLaterMs), undefined, 'after the first root');
  }));
