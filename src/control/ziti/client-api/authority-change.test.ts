// Clients of the edge API while the authorities get new keys (ADR 0062).
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '#base';
import { certificatesOfPem } from '#net';
import { loadIdentityFile, saveIdentityFile } from '#net/files';
import { IdentityRenewal } from '#sdk';
import { until } from '../../../../test/support/deadline.ts';
import { beginRotation, endSoon, readAuthorities, rotationAt as rotationStepAt } from '../../pki/mod.ts';
import { cutOffByNextStep } from '../../overlay/records/mod.ts';
import { openEdgeFixture, rawRequest, type EdgeFixture, type Enrolled } from './edge-api-fixture.ts';

const SPREAD_MS = 120_000;
let fixture: EdgeFixture;
const renewals: IdentityRenewal[] = [];
before(async () => {
  fixture = await openEdgeFixture();
});
after(async () => {
  for (const renewal of renewals) renewal.close();
  await fixture.close();
});

interface Agent extends Enrolled {
  readonly path: string;
  readonly renewal: IdentityRenewal;
}

async function enrolled(): Promise<Agent> {
  const agent = await fixture.enroll('agent');
  const path = join(fixture.folder, `${agent.id}.json`);
  await saveIdentityFile(path, agent.identity);
  const { clock } = fixture;
  const random = (): number => 0;
  const renewal = new IdentityRenewal({ client: agent.client, path, log: silentLog, clock, random });
  renewals.push(renewal);
  return { ...agent, path, renewal };
}

async function begin(kind: 'root' | 'intermediate'): Promise<void> {
  const { store, secrets, clock, pki } = fixture;
  const parts = { secrets, trustDomain: 'test.frontdoor', nowMs: clock.nowMs() };
  await store.transaction((trx) => beginRotation(trx, parts, kind, SPREAD_MS));
  await pki.renewServers();
}

/** Lets the planned time of the next step pass. */
async function later(ms = SPREAD_MS): Promise<void> {
  fixture.clock.offsetMs += ms;
  await fixture.pki.renewServers();
}

async function end(): Promise<void> {
  const { store, clock, pki } = fixture;
  const rotation = rotationStepAt(await readAuthorities(store.db), clock.nowMs())!;
  assert.equal((await cutOffByNextStep(store.db, rotation, clock.nowMs(), 10)).count, 0, 'nobody is cut off');
  await store.transaction((trx) => endSoon(trx, rotation, clock.nowMs()));
  await pki.renewServers();
  await later();
}

async function requested(agent: Enrolled): Promise<unknown> {
  const { token } = await agent.client.session();
  const { certPem: cert, keyPem: key } = agent.client.identity;
  const path = '/edge/client/v1/current-api-session';
  const answer = await rawRequest(fixture, {
    method: 'GET',
    path,
    cert,
    key,
    headers: { 'zt-session': token },
  });
  const { isCertExtendable, isCertExtendRequested } = (answer.json as { data: Record<string, unknown> }).data;
  return [isCertExtendable, isCertExtendRequested];
}

test('clients of a former intermediate are asked for another certificate, get it and are refused nothing on the way', async () => {
  const agent = await enrolled();
  const issuerOf = (): string => new X509Certificate(agent.client.identity.certPem).issuer;
  const former = issuerOf();
  await begin('intermediate');
  assert.equal(await agent.renewal.check(), false);
  assert.deepEqual(await requested(agent), [true, false]);
  await later();
  assert.deepEqual(await requested(agent), [true, true]);
  await agent.client.services();
  assert.equal(await agent.renewal.check(), true);
  assert.notEqual(issuerOf(), former);
  assert.deepEqual(await requested(agent), [true, false]);
  assert.equal(await agent.renewal.check(), false);
  const fresh = await enrolled();
  await end();
  for (const one of [agent, fresh]) await one.client.services();
});

test('clients take over a new root before it issues, and drop the former one when it ended', async () => {
  const agent = await enrolled();
  const roots = (): number =>
    certificatesOfPem(agent.client.identity.caPem).filter((one) => one.checkIssued(one)).length;
  await begin('root');
  const { store, clock } = fixture;
  const waiting = async (): Promise<readonly string[]> => {
    const rotation = rotationStepAt(await readAuthorities(store.db), clock.nowMs())!;
    const { identities } = await cutOffByNextStep(store.db, rotation, clock.nowMs(), 100);
    return identities.map(({ id }) => id);
  };
  assert.ok((await waiting()).includes(agent.id), 'it was not given the new root');
  const [stranger] = await waiting();
  await agent.renewal.check();
  assert.equal(roots(), 2);
  assert.ok(!(await waiting()).includes(agent.id));
  assert.ok(stranger !== undefined);
  await later();
  assert.equal(await agent.renewal.check(), true);
  await agent.client.services();
  const rotation = rotationStepAt(await readAuthorities(store.db), clock.nowMs())!;
  await store.transaction((trx) => endSoon(trx, rotation, clock.nowMs()));
  await fixture.pki.renewServers();
  // The servers have certificates of the new root now, and the agent trusts both roots.
  agent.client.useIdentity(agent.client.identity);
  await agent.client.services();
  await later();
  await agent.renewal.check();
  assert.equal(roots(), 1);
  assert.equal((await loadIdentityFile(agent.path)).caPem, agent.client.identity.caPem);
  await agent.client.services();
});

test('a client notices in the next response that another authority issues, and renews by itself', async () => {
  const agent = await enrolled();
  const issuer = (): string => new X509Certificate(agent.client.identity.certPem).issuer;
  const former = issuer();
  await agent.client.services();
  await begin('intermediate');
  await later();
  await agent.client.services();
  await until('another issuer', issuer, (name) => name !== former);
});
