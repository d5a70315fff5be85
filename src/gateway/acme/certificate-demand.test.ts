import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#base';
import { metricsText } from '#net/metrics';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { within } from '../../../test/support/deadline.ts';
import { CertificateStore } from '../certificates/certificate-store.ts';
import { logInto } from '../testing/gateway-world.ts';
import { CertificateDemand } from './certificate-demand.ts';
import type { CertificateSource, NeededCertificate, IssueEvent, IssueOutcome } from './certificate-source.ts';

const DAY_MS = 86_400_000;
const authority = await makeTestAuthority();

class Source implements CertificateSource {
  readonly wanted: string[][] = [];
  refuses = false;
  retries = 0;
  listener: ((event: IssueEvent) => void) | undefined;

  want(needed: readonly NeededCertificate[]): readonly string[] {
    const names = needed.map(({ name }) => name);
    this.wanted.push(names);
    return this.refuses ? names : [];
  }

  follow(listener: (event: IssueEvent) => void): () => void {
    this.listener = listener;
    return () => (this.listener = undefined);
  }

  retry(): void {
    this.retries += 1;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const OWNER = { organizationId: 'one', isCustom: false, isAlone: true };
const DOMAIN = 'app.shop.test';
const ownerOf = (host: string) => (host === DOMAIN ? { ...OWNER, domain: 'shop.test' } : OWNER);

let clock: ManualClock;
let source: Source;
let store: CertificateStore;
let demand: CertificateDemand;
let served: Set<string>;
let zones: string[];

interface Opening {
  readonly hasWildcards?: boolean;
  readonly waitMs?: number;
  readonly isDefaultStandIn?: boolean;
  readonly ownHosts?: readonly string[];
}

async function open({
  hasWildcards = false,
  waitMs = 30_000,
  isDefaultStandIn = false,
  ownHosts,
}: Opening = {}): Promise<void> {
  demand?.close();
  const standIn = await authority.issue('own', { dns: ['*.zone.example'], days: 3_000 });
  store = await CertificateStore.open({
    default: isDefaultStandIn ? standIn : undefined,
    isDefaultStandIn,
    log: logInto([]),
    clock,
  });
  source = new Source();
  demand = new CertificateDemand({
    store,
    source,
    hasWildcards,
    clock,
    waitMs,
    ownerOf: (host) => (served.has(host) ? ownerOf(host) : undefined),
    zones: () => zones,
    ownHosts,
  });
}

beforeEach(async () => {
  // Certificates that are issued during a test are valid from the present second of the system.
  clock = new ManualClock(Date.now() + 60_000);
  served = new Set(['app.zone.example', 'oauth.zone.example']);
  zones = ['zone.example', 'shop.example'];
  await open();
});
afterEach(() => demand.close());

async function settle(name: string, outcome: IssueOutcome): Promise<void> {
  if (outcome === 'obtained') {
    const pair = await authority.issue(name, { dns: [name], days: 90, startsInDays: 0 });
    store.take([{ name, ...pair, isAutomatic: true }]);
  }
  source.listener?.({ name, outcome, certificate: undefined });
}

describe('the demand for certificates of single names', () => {
  it('orders one for the first handshake of a served name, for which handshakes wait', async () => {
    const [first, second] = [demand.missing('app.zone.example'), demand.missing('app.zone.example')];
    assert.ok(first !== undefined && second !== undefined);
    assert.deepEqual(source.wanted, [['app.zone.example']]);
    await settle('app.zone.example', 'obtained');
    assert.deepEqual(await within('both handshakes', Promise.all([first, second])), [true, true]);
    assert.equal(demand.missing('app.zone.example'), undefined);
  });

  it('orders those of own hosts before a client asks, and not again once they are there', async () => {
    await open({ ownHosts: ['app.zone.example'] });
    demand.check();
    assert.deepEqual(source.wanted, [['app.zone.example']]);
    await settle('app.zone.example', 'obtained');
    demand.check();
    assert.equal(source.wanted.length, 1);
  });

  it('orders none for a name that is not served', () => {
    for (const name of ['nobody.zone.example', 'other.example', 'x.app.zone.example'])
      assert.equal(demand.missing(name), undefined, name);
    assert.deepEqual(source.wanted, []);
  });

  it('does not let handshakes wait for a name that was refused or failed, for ten seconds', async () => {
    source.refuses = true;
    assert.equal(demand.missing('app.zone.example'), undefined);
    source.refuses = false;
    assert.equal(demand.missing('app.zone.example'), undefined);
    assert.equal(source.wanted.length, 1);
    clock.advance(10_000);
    const waiting = demand.missing('app.zone.example');
    assert.ok(waiting !== undefined);
    await settle('app.zone.example', 'failed');
    assert.equal(await within('its end', waiting), false, 'no other certificate is shown');
    assert.equal(demand.missing('app.zone.example'), undefined);
  });

  it('tries refused names again when it is asked to', () => {
    source.refuses = true;
    assert.equal(demand.missing('app.zone.example'), undefined);
    source.refuses = false;
    demand.retry();
    assert.equal(source.retries, 1);
    assert.ok(demand.missing('app.zone.example') !== undefined);
  });

  it('lets a handshake wait for a bounded time, and a bounded number of them', async () => {
    await open({ waitMs: 1 });
    assert.equal(await within('the end of the wait', demand.missing('app.zone.example')!), false);
    await open();
    for (let i = 0; i < 1_000; i += 1) assert.ok(demand.missing('app.zone.example') !== undefined);
    for (const name of served)
      assert.equal(await demand.missing(name), false, 'it ends: the certificate is on order');
    const last = settle('app.zone.example', 'obtained');
    await last;
    assert.ok(demand.missing('oauth.zone.example') !== undefined, 'room again');
  });

  it('counts a stand-in of an unknown authority as none', async () => {
    await open({ isDefaultStandIn: true });
    assert.ok(store.covers('app.zone.example'));
    assert.ok(demand.missing('app.zone.example') !== undefined);
  });

  it('renews what is due and still served, and nothing that is not', async () => {
    for (const name of served) await settle(name, 'obtained');
    demand.check();
    clock.advance(59 * DAY_MS);
    demand.check();
    assert.deepEqual(source.wanted, []);
    clock.advance(6 * DAY_MS);
    served.delete('oauth.zone.example');
    demand.check();
    demand.check();
    assert.deepEqual(source.wanted, [['app.zone.example'], ['app.zone.example']]);
  });

  it('ends handshakes when it closes', async () => {
    const waiting = demand.missing('app.zone.example')!;
    demand.close();
    assert.equal(await within('the handshake', waiting), false);
  });

  it('shows what was obtained and failed, and the next renewal and expiry of served names', async () => {
    const read = (): Promise<string> => metricsText([(to) => demand.write(to)]);
    assert.doesNotMatch(await read(), /timestamp/);
    for (const name of served) await settle(name, 'obtained');
    await settle('gone.zone.example', 'obtained');
    await settle('app.zone.example', 'failed');
    const text = await read();
    assert.match(text, /^frontdoor_gateway_certificates_obtained_total 3$/m);
    assert.match(text, /^frontdoor_gateway_certificates_failed_total 1$/m);
    assert.match(text, /^frontdoor_gateway_certificates_automatic 2$/m);
    const expiry = Number(/^frontdoor_gateway_certificates_expiry_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
    const renewal = Number(
      /^frontdoor_gateway_certificates_renewal_timestamp_seconds (\S+)$/m.exec(text)?.[1],
    );
    const days = (seconds: number): number => (seconds * 1_000 - clock.nowMs()) / DAY_MS;
    assert.ok(days(expiry) > 89 && days(expiry) < 91, text);
    assert.ok(days(renewal) > 59 && days(renewal) < 65, text);
  });
});

describe('the demand for certificates of zones', () => {
  beforeEach(() => open({ hasWildcards: true }));

  it('is for each zone without one, or with one that is due, and a handshake waits for it', async () => {
    served.add('oauth.shop.example');
    demand.check();
    assert.deepEqual(source.wanted.at(-1), ['*.zone.example', '*.shop.example']);
    const waiting = demand.missing('app.zone.example');
    await settle('*.zone.example', 'obtained');
    assert.equal(await within('the handshake', waiting!), true);
    assert.equal(demand.missing('app.zone.example'), undefined);
    assert.ok(store.isProvided('app.zone.example') && store.isCertified('zone.example'));
    demand.check();
    assert.deepEqual(source.wanted.at(-1), ['*.shop.example']);
    await settle('*.shop.example', 'obtained');
    zones = ['zone.example'];
    clock.advance(65 * DAY_MS);
    demand.check();
    assert.deepEqual(source.wanted.at(-1), ['*.zone.example']);
  });

  it('is for a single name where a share has a domain of its own, at its first handshake, and renews it', async () => {
    zones = ['zone.example'];
    demand.check();
    await settle('*.zone.example', 'obtained');
    assert.equal(demand.missing(DOMAIN), undefined, 'before it is proven');
    served.add(DOMAIN);
    const waiting = demand.missing(DOMAIN);
    assert.deepEqual(source.wanted.at(-1), [DOMAIN]);
    await settle(DOMAIN, 'obtained');
    assert.equal(await within('the handshake', waiting!), true);
    const { length } = source.wanted;
    demand.check();
    assert.equal(source.wanted.length, length);
    clock.advance(65 * DAY_MS);
    demand.check();
    const zoneNames = ['*.zone.example'];
    assert.deepEqual(source.wanted.at(-1)?.toSorted(), [...zoneNames, DOMAIN]);
    served.delete(DOMAIN);
    demand.check();
    assert.deepEqual(source.wanted.at(-1)?.toSorted(), zoneNames);
  });
});
