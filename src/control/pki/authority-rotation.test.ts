// Rotations of the authorities (ADR 0062) with two control planes over one database.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { checkPeerChain } from '#net';
import { makeKeyRequest } from '#sdk';
import './edge-api-key-fixture.ts';
import { ephemeralSecrets } from '../secrets/key-file.ts';
import { openEmbedded } from '../store/engine/migrated-copy-fixture.ts';
import { insertCertificate } from '../overlay/records/mod.ts';
import type { Store } from '../store/mod.ts';
import { beginRotation, endSoon, issueSoon, readGenerations } from './authority-rotation.ts';
import { rotationAt, SPREAD_MS } from './generation-policy.ts';
import { openPki, type Pki } from './pki.ts';
import {
  cutOffByNextStep,
  dropFormerCertificates,
  noteRootReceipt,
} from '../overlay/records/root-receipt-store.ts';

const DAY_MS = 86_400_000;
const secrets = ephemeralSecrets();
const trustDomain = 'test.frontdoor';
let folders: string[];
let clock: ManualClock;
let store: Store;
let a: Pki;
let b: Pki;

async function open(): Promise<Pki> {
  const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-pki-'));
  folders.push(dataDir);
  const pki = await openPki({
    dataDir,
    db: store.db,
    secrets,
    trustDomain,
    hosts: ['edge.example'],
    clock,
    log: silentLog,
  });
  return pki;
}

beforeEach(async () => {
  folders = [];
  clock = new ManualClock(Date.UTC(2026, 10, 28));
  store = await openEmbedded();
  [a, b] = [await open(), await open()];
});
afterEach(async () => {
  for (const pki of [a, b]) pki.close();
  await store.close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const parts = () => ({ secrets, trustDomain, nowMs: clock.nowMs() });
const begin = (kind: 'root' | 'intermediate', afterMs?: number) =>
  store.transaction((trx) => beginRotation(trx, parts(), kind, afterMs));
const rotation = async () => rotationAt(await readGenerations(store.db), clock.nowMs());
const readBoth = (): Promise<unknown> => Promise.all([a.renewServers(), b.renewServers()]);

interface Client {
  readonly id: string;
  readonly chainPem: string;
  readonly leaf: X509Certificate;
  readonly issuer: string;
  readonly ca: string;
}

async function enrolled(id: string, pki: Pki, more: { isStored?: boolean } = {}): Promise<Client> {
  const { csrPem } = await makeKeyRequest(id);
  const answer = await pki.issueClient(csrPem, { id, lifetimeDays: 365 });
  assert.ok('issued' in answer);
  const { chainPem, issuer } = answer.issued;
  if (more.isStored === true)
    await store.transaction(async (trx) => {
      const row = {
        id,
        kind: 'gateway' as const,
        frontdoor_id: null,
        name: id,
        agent_version: null,
        created_at: 1,
      };
      await trx.insertInto('identity').values(row).execute();
      await insertCertificate(trx, id, answer.issued, clock.nowMs());
      await noteRootReceipt(trx, pki.authorities, id, clock.nowMs());
    });
  return { id, chainPem, issuer, leaf: new X509Certificate(chainPem), ca: pki.caBundlePem };
}

/** Why a client with that bundle refuses the servers of a control plane. */
function refusalOf(pki: Pki, ca: string): string | undefined {
  for (const { certPem } of [pki.edgeServer, pki.controlServer]) {
    const [leaf, ...chain] = chainOf(certPem);
    const problem = checkPeerChain(leaf!, chain, ca, clock.nowMs());
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function chainOf(pem: string): X509Certificate[] {
  return pem
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((text) => text.includes('BEGIN'))
    .map((text) => new X509Certificate(text));
}

/** Both control planes and all clients accept each other's certificates. */
function assertAllWork(clients: readonly Client[]): void {
  for (const pki of [a, b])
    for (const { leaf, chainPem, ca, id } of clients) {
      assert.ok('leaf' in pki.proveLeaf(leaf), `${id} is proven`);
      assert.equal(refusalOf(pki, ca), undefined, `${id} accepts the servers`);
      const [own, ...chain] = chainOf(chainPem);
      for (const other of clients)
        assert.equal(
          checkPeerChain(own!, chain, other.ca, clock.nowMs()),
          undefined,
          `${other.id} accepts ${id}`,
        );
    }
}

describe('a rotation of the intermediate', () => {
  it('issues by the new key once every control plane trusts it, and refuses nobody on the way', async () => {
    const first = await enrolled('first', a);
    await begin('intermediate');
    await a.renewServers();
    const early = await enrolled('early', a);
    assert.equal(early.issuer, 'intermediate-ca', 'the other control plane does not know the new one yet');
    assertAllWork([first, early]);
    await b.renewServers();
    clock.advance(SPREAD_MS);
    // One of them reads the time before the other.
    await a.renewServers();
    const late = await enrolled('late', a);
    const atB = await enrolled('at-b', b);
    assert.deepEqual([late.issuer, atB.issuer], ['intermediate-ca-2', 'intermediate-ca']);
    assertAllWork([first, early, late, atB]);
    await readBoth();
    assert.deepEqual([a.isReplaced('intermediate-ca'), a.isReplaced('intermediate-ca-2')], [true, false]);
    assert.notEqual(late.leaf.issuer, first.leaf.issuer);
    assertAllWork([first, early, late, atB]);
  });

  it('is refused while another one is not done, and of two at once one happens', async () => {
    const both = await Promise.allSettled([begin('intermediate'), begin('root')]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    await assert.rejects(begin('intermediate'), { kind: 'conflict' });
    const names = (await readGenerations(store.db)).map(({ name }) => name);
    assert.equal(names.filter((name) => name.startsWith('intermediate')).length, 2);
  });

  it('ends when nobody uses a former certificate, and then refuses them with the reason', async () => {
    const former = await enrolled('former', a, { isStored: true });
    await begin('intermediate');
    clock.advance(SPREAD_MS);
    await readBoth();
    const renewed = await enrolled('renewed', a, { isStored: true });
    const at = (await rotation())!;
    const cutOff = await cutOffByNextStep(store.db, at, clock.nowMs(), 10);
    assert.deepEqual([cutOff.count, cutOff.identities.map(({ id }) => id)], [1, ['former']]);
    await store.transaction(async (trx) => {
      assert.deepEqual(await dropFormerCertificates(trx, at, 10), ['former']);
      await endSoon(trx, at, clock.nowMs());
    });
    assert.equal((await cutOffByNextStep(store.db, at, clock.nowMs(), 10)).count, 0);
    await readBoth();
    assert.ok('leaf' in b.proveLeaf(former.leaf), 'until every control plane knows that it ends');
    clock.advance(SPREAD_MS);
    await readBoth();
    const proof = b.proveLeaf(former.leaf);
    assert.match('problem' in proof ? proof.problem : '', /was replaced and has ended: enroll again/);
    assertAllWork([renewed]);
    assert.equal(await rotation(), undefined);
    const { key_sealed: sealed } = await store.db
      .selectFrom('authority')
      .select('key_sealed')
      .where('name', '=', 'intermediate-ca')
      .executeTakeFirstOrThrow();
    assert.equal(sealed, '', 'its key is deleted');
    await begin('intermediate');
    assert.equal((await rotation())?.next[0]?.name, 'intermediate-ca-3');
  });
});

describe('a rotation of the root', () => {
  it('distributes the new root before it issues, and the servers change last', async () => {
    const [away, present] = [
      await enrolled('away', a, { isStored: true }),
      await enrolled('present', a, { isStored: true }),
    ];
    await begin('root');
    await readBoth();
    assert.equal(chainOf(a.caBundlePem).length, 4, 'both intermediates and both roots');
    assertAllWork([away, present]);
    await noteRootReceipt(store.db, a.authorities, 'present', clock.nowMs());
    const cutOff = await cutOffByNextStep(store.db, (await rotation())!, clock.nowMs(), 10);
    assert.deepEqual(
      cutOff.identities.map(({ id }) => id),
      ['away'],
    );
    const informed = { ...present, ca: b.caBundlePem };
    clock.advance(30 * DAY_MS);
    await readBoth();
    const renewed = { ...(await enrolled('renewed', b, { isStored: true })), ca: b.caBundlePem };
    assert.equal(renewed.issuer, 'intermediate-ca-2');
    assertAllWork([informed, renewed]);
    assert.equal(refusalOf(a, away.ca), undefined, 'who returns late can still fetch the bundle');
    const ending = (await rotation())!;
    await store.transaction((trx) => endSoon(trx, ending, clock.nowMs()));
    // Only one of them has read that the root ends.
    await a.renewServers();
    assertAllWork([informed, renewed]);
    assert.match(refusalOf(a, away.ca)!, /does not chain/);
    clock.advance(SPREAD_MS);
    await readBoth();
    assert.equal(chainOf(a.caBundlePem).length, 2);
    assertAllWork([{ ...renewed, ca: a.caBundlePem }]);
  });

  it('can be brought forward, and continues after a start of the control planes at any step', async () => {
    const restart = async (): Promise<void> => {
      for (const pki of [a, b]) pki.close();
      [a, b] = [await open(), await open()];
    };
    const client = await enrolled('client', a);
    await begin('root');
    await restart();
    const informed = { ...client, ca: a.caBundlePem };
    assertAllWork([client, informed]);
    const planned = (await rotation())!;
    await store.transaction((trx) => issueSoon(trx, planned, clock.nowMs()));
    await restart();
    clock.advance(SPREAD_MS);
    await restart();
    assert.equal((await rotation())?.step, 'issuing');
    const renewed = { ...(await enrolled('renewed', a)), ca: a.caBundlePem };
    assert.equal(renewed.issuer, 'intermediate-ca-2');
    assertAllWork([informed, renewed]);
    // Nobody ends it by hand: it ends by itself after the longest life of a certificate.
    clock.advance(366 * DAY_MS);
    await restart();
    assert.equal(await rotation(), undefined);
    const late = { ...(await enrolled('late', a)), ca: a.caBundlePem };
    assertAllWork([late]);
  });
});
