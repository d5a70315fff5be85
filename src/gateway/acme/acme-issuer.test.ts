import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#base';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { within } from '../../../test/support/deadline.ts';
import { CertificateStore } from '../certificates/certificate-store.ts';
import type { KeyPair } from '../certificates/served-pair.ts';
import { logInto, type LogEntry } from '../testing/gateway-world.ts';
import { AcmeIssuer } from './acme-issuer.ts';
import type { NeededCertificate, IssueEvent } from './certificate-source.ts';
import { OrderFailure } from './order-failure.ts';

const DAY_MS = 86_400_000;
const authority = await makeTestAuthority();
const root = mkdtempSync(join(tmpdir(), 'gateway-issuer-'));
after(() => rmSync(root, { recursive: true }));

/** An order that the test ends. */
interface Order {
  readonly name: string;
  readonly signal: AbortSignal;
  readonly give: (pair: KeyPair) => void;
  readonly fail: (error: Error) => void;
}

let directoryUrl: string;
let folder: string;
let clock: ManualClock;
let records: LogEntry[];
let orders: Order[];
let events: IssueEvent[];
let store: CertificateStore;
let issuer: AcmeIssuer;
let onEvent: () => void;

async function open(): Promise<void> {
  const log = logInto(records);
  store = await CertificateStore.open({ log, clock });
  issuer = await AcmeIssuer.open({
    folder,
    store,
    obtain: (name, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<KeyPair>();
      orders.push({ name, signal, give: resolve, fail: reject });
      return promise;
    },
    directoryUrl,
    remedy: 'do this',
    log,
    clock,
    random: () => 0.5,
  });
  issuer.follow((event) => {
    events.push(event);
    onEvent();
  });
}

beforeEach(async () => {
  folder = mkdtempSync(join(root, 'acme-'));
  // Certificates begin at the full second of the system's clock, which may be the next one.
  clock = new ManualClock(Date.now() + 1_000);
  [records, orders, events] = [[], [], []];
  directoryUrl = 'https://ca.example/dir';
  onEvent = () => {};
  await open();
});
afterEach(() => issuer.close());

/** Wants names as the only organization, unless another owner is given. */
function want(names: readonly string[], owner: Partial<NeededCertificate> = {}): readonly string[] {
  const whole = { organizationId: 'one', isCustom: false, isAlone: true, ...owner };
  return issuer.want(names.map((name) => ({ ...whole, name })));
}

/** As after the end of the process and its start. */
async function restart(): Promise<void> {
  await issuer.close();
  orders = [];
  await open();
}

function issue(name: string, days = 90): Promise<KeyPair> {
  return authority.issue(name, { dns: [name], days, startsInDays: 0 });
}

/** Ends the oldest order, and waits for its event. */
async function end(act: (order: Order) => void | Promise<void>): Promise<IssueEvent> {
  const order = orders.shift()!;
  const happened = new Promise<void>((resolve) => {
    onEvent = resolve;
  });
  await act(order);
  await within(`an event for ${order.name}`, happened);
  await issuer.written;
  return events.at(-1)!;
}

const give = (days?: number) => end(async (order) => order.give(await issue(order.name, days)));
const fail = (error: Error = new Error('DNS problem: NXDOMAIN')) => end((order) => order.fail(error));
const errors = (): string[] => records.filter(({ level }) => level === 'error').map(({ message }) => message);

describe('the issuer', () => {
  it('obtains a certificate for a wanted name, serves it, and has it after a restart', async () => {
    assert.deepEqual(want(['app.zone.example']), []);
    const event = await give();
    assert.deepEqual([event.name, event.outcome], ['app.zone.example', 'obtained']);
    assert.equal(event.certificate?.isAutomatic, true);
    assert.ok(store.isProvided('app.zone.example'));
    await restart();
    assert.ok(store.isProvided('app.zone.example'));
    assert.deepEqual(want(['app.zone.example']), ['app.zone.example'], 'nothing is due');
    assert.deepEqual(orders, []);
  });

  it('joins equal requests, has two orders at once, and the others wait', async () => {
    assert.deepEqual(want(['a.zone.example', 'b.zone.example', 'c.zone.example', 'a.zone.example']), []);
    assert.deepEqual(want(['c.zone.example']), []);
    assert.deepEqual(
      orders.map(({ name }) => name),
      ['a.zone.example', 'b.zone.example'],
    );
    await give();
    assert.deepEqual(
      orders.map(({ name }) => name),
      ['b.zone.example', 'c.zone.example'],
    );
  });

  it('renews a certificate when that is due, before new names, and the old one is served until then', async () => {
    want(['a.zone.example']);
    await give(90);
    const before = store.obtainedFor('a.zone.example')!.fingerprint;
    clock.advance(60 * DAY_MS - 1_000);
    assert.deepEqual(want(['a.zone.example']), ['a.zone.example']);
    clock.advance(5 * DAY_MS);
    want(['new-1.zone.example', 'new-2.zone.example', 'new-3.zone.example']);
    assert.deepEqual(want(['a.zone.example']), []);
    assert.ok(store.isProvided('a.zone.example'));
    orders.push(...orders.splice(0, 1));
    await fail();
    assert.deepEqual(
      orders.map(({ name }) => name),
      ['new-1.zone.example', 'a.zone.example'],
    );
    orders.reverse();
    await end(async (order) =>
      order.give(await authority.issue(order.name, { dns: [order.name], days: 160, startsInDays: 65 })),
    );
    assert.notEqual(store.obtainedFor('a.zone.example')!.fingerprint, before);
  });

  it('pauses a name after each failure, longer each time, also over a restart, and logs the reason once', async () => {
    want(['a.zone.example']);
    const event = await fail();
    assert.equal(event.outcome, 'failed');
    const [record, ...others] = records.filter(({ level }) => level === 'error');
    assert.deepEqual(others, []);
    assert.deepEqual(
      [record!['certificate'], record!['cause'], record!['retryInMs'], record!['remedy']],
      ['a.zone.example', 'DNS problem: NXDOMAIN', 60_000, 'do this'],
    );
    assert.deepEqual(want(['a.zone.example', 'b.zone.example']), ['a.zone.example'], 'others continue');
    await restart();
    clock.advance(59_000);
    assert.deepEqual(want(['a.zone.example']), ['a.zone.example']);
    clock.advance(1_000);
    assert.deepEqual(want(['a.zone.example']), []);
    await fail();
    clock.advance(179_000);
    assert.deepEqual(want(['a.zone.example']), ['a.zone.example']);
    clock.advance(1_000);
    assert.deepEqual(want(['a.zone.example']), []);
    await give();
  });

  it('forgets pauses when it is asked to', async () => {
    want(['a.zone.example']);
    await fail();
    issuer.retry();
    await restart();
    assert.deepEqual(want(['a.zone.example']), []);
  });

  it('pauses as long as the authority says, at most a day', async () => {
    want(['a.zone.example']);
    await fail(new OrderFailure('too many certificates', { retryAfterMs: 7 * DAY_MS, isLimited: false }));
    clock.advance(DAY_MS - 1_000);
    assert.deepEqual(want(['a.zone.example']), ['a.zone.example']);
    clock.advance(1_000);
    assert.deepEqual(want(['a.zone.example']), []);
  });

  it('does not pause for years when the clock is set back', async () => {
    want(['a.zone.example']);
    await fail();
    clock.jump(-1_000 * DAY_MS);
    assert.deepEqual(want(['a.zone.example']), []);
  });

  it('orders fifty new certificates in a zone and seven days, and renewals nevertheless', async () => {
    const names = Array.from({ length: 51 }, (_, i) => `n${i}.zone.example`);
    const now = clock.nowMs();
    const issued = Array.from({ length: 49 }, () => ({ zone: 'zone.example', atMs: now - DAY_MS }));
    writeFileSync(join(folder, 'state.json'), JSON.stringify({ format: 1, pauses: [], issued }));
    await restart();
    assert.deepEqual(want(names.slice(0, 2)), ['n1.zone.example']);
    await give();
    assert.deepEqual(want(['n1.zone.example', 'a.other.example']), ['n1.zone.example']);
    await give();
    const said = records.filter(({ message }) => message.includes('its zone has had too many new ones'));
    assert.equal(said.length, 1, 'not for each handshake');
    await restart();
    assert.deepEqual(want(['n1.zone.example']), ['n1.zone.example']);
    clock.advance(65 * DAY_MS);
    assert.deepEqual(want(['n0.zone.example']), [], 'a renewal');
  });

  it('orders as many names at once as an authority grants an account, and refuses more', () => {
    const names = Array.from({ length: 304 }, (_, i) => `app.z${i}.example`);
    assert.deepEqual(want(names), names.slice(250));
  });

  it('refuses a certificate for another name, or with another key', async () => {
    want(['a.zone.example']);
    await end(async (order) => order.give(await issue('b.zone.example')));
    want(['c.zone.example']);
    const [one, other] = [await issue('c.zone.example'), await issue('c.zone.example')];
    await end((order) => order.give({ cert: one.cert, key: other.key }));
    assert.deepEqual(errors(), Array(2).fill('a certificate could not be obtained'));
    assert.match(String(records.at(-2)?.['cause']), /is not for a\.zone\.example/);
    assert.match(String(records.at(-1)?.['cause']), /is not the key of/);
    assert.deepEqual(store.obtained, []);
  });

  it('does not order again and again when this clock is wrong', async () => {
    clock.jump(400 * DAY_MS);
    want(['a.zone.example']);
    await give(90);
    assert.ok(errors().some((message) => message.includes("check this machine's clock")));
    assert.deepEqual(want(['a.zone.example']), ['a.zone.example']);
    clock.advance(3_600_000);
    assert.deepEqual(want(['a.zone.example']), []);
  });

  it('serves a certificate that the disk did not take, and reports that', async () => {
    rmSync(join(folder, 'certificates'), { recursive: true });
    writeFileSync(join(folder, 'certificates'), 'a file in the way');
    want(['a.zone.example']);
    assert.equal((await give()).outcome, 'obtained');
    assert.ok(store.isProvided('a.zone.example'));
    assert.deepEqual(errors(), [
      'an obtained certificate could not be written: it is in memory, and written later',
    ]);
  });

  it('begins again with a state that cannot be read, which is kept, and counts the certificates on disk', async () => {
    want(['a.zone.example']);
    await give();
    await issuer.close();
    writeFileSync(join(folder, 'state.json'), '{"issued": 7');
    await open();
    assert.deepEqual(errors(), [
      'the state of automatic certificates is lost: those on disk count as new ones',
    ]);
    assert.equal(readFileSync(join(folder, 'state.json.unreadable'), 'utf8'), '{"issued": 7');
    assert.ok(store.isProvided('a.zone.example'));
    assert.deepEqual(want(['b.zone.example']), []);
    await give();
    const state = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as { issued: unknown[] };
    assert.equal(state.issued.length, 2);
  });

  it('reports that certificates of a former authority stay in use, which are served and renewed as others', async () => {
    want(['a.zone.example']);
    await give(90);
    await restart();
    const warnings = () => records.filter(({ level }) => level === 'warn').map(({ former }) => former);
    assert.deepEqual(warnings(), []);
    directoryUrl = 'https://other.example/dir';
    await restart();
    assert.deepEqual(warnings(), ['https://ca.example/dir']);
    assert.ok(store.isProvided('a.zone.example'));
    clock.advance(65 * DAY_MS);
    assert.deepEqual(want(['a.zone.example']), []);
  });

  it('ends at once, also while an order continues, and wants nothing afterwards', async () => {
    want(['a.zone.example', 'b.zone.example', 'c.zone.example']);
    await within('its end', issuer.close());
    assert.ok(orders.every(({ signal }) => signal.aborted));
    assert.deepEqual(want(['d.zone.example']), ['d.zone.example']);
    assert.equal(orders.length, 2);
    assert.deepEqual([events, errors()], [[], []]);
    assert.ok(!existsSync(join(folder, 'state.json')));
  });
});

describe('the issuer with several organizations', () => {
  const [one, two, three] = ['one', 'two', 'three'].map((organizationId) => ({
    organizationId,
    isAlone: false,
  }));
  const custom = { ...one, isCustom: true };
  const namesOf = (zone: string, count: number) => Array.from({ length: count }, (_, i) => `n${i}.${zone}`);
  const running = (): string[] => orders.map(({ name }) => name);
  const giveAll = async (): Promise<void> => {
    while (orders.length > 0) await give();
  };

  it('leaves certificates of a zone to others when one has used up its part', async () => {
    const names = namesOf('zone.example', 60);
    assert.deepEqual(want(names, one), names.slice(25));
    await giveAll();
    assert.deepEqual(want(names.slice(25), one), names.slice(25));
    const others = namesOf('zone.example', 20).map((name) => `two-${name}`);
    assert.deepEqual(want(others, two), others.slice(15), 'ten are kept free');
    await giveAll();
    await restart();
    assert.deepEqual(want(others.slice(15), two), others.slice(15));
    assert.deepEqual(want(['first.zone.example', 'second.zone.example'], three), ['second.zone.example']);
    await give();
    assert.ok(records.some(({ message }) => message.includes('organizations without one')));
    assert.deepEqual(want(namesOf('other.example', 3), one), [], 'another zone has its own');
  });

  it('lets the names of one wait behind each other, and those of another begin at once', async () => {
    const names = namesOf('tarpit.example', 420);
    assert.deepEqual(want(names, custom), names.slice(30));
    assert.deepEqual(running(), ['n0.tarpit.example']);
    assert.deepEqual(want(['app.zone.example'], two), []);
    assert.deepEqual(running(), ['n0.tarpit.example', 'app.zone.example']);
    const [tarpit, other] = orders.splice(0, 2);
    orders.push(other!);
    await give();
    assert.ok(store.isProvided('app.zone.example'));
    assert.deepEqual(running(), [], 'and no second one of the first');
    orders.push(tarpit!);
    const refused = new Set<string>();
    issuer.follow(({ name, outcome }) => void (outcome === 'refused' && refused.add(name)));
    await fail();
    assert.deepEqual([refused.size, running()], [29, []], 'those that wait are not ordered after a failure');
  });

  it('takes turns between them', async () => {
    for (const [owner, zone] of [
      [one, 'a.example'],
      [two, 'b.example'],
      [three, 'c.example'],
    ] as const)
      want(namesOf(zone, 3), owner);
    assert.deepEqual(running(), ['n0.a.example', 'n0.b.example', 'n0.c.example']);
    want(['d.example.org'], { organizationId: 'four', isAlone: false });
    want(['e.example.org'], { organizationId: 'five', isAlone: false });
    assert.equal(orders.length, 4);
    await give();
    assert.equal(running().at(-1), 'e.example.org', 'whose turn never was');
  });

  it('pauses a custom frontend as a whole after a failure, and counts failures for its organization', async () => {
    want(['a.shop.example'], custom);
    await fail();
    assert.deepEqual(want(['b.shop.example'], custom), ['b.shop.example']);
    assert.deepEqual(want(['b.shop.example'], two), [], 'of a shared zone, the name alone');
    await give();
    for (let at = 0; at < 49; at += 1) {
      assert.deepEqual(want([`a.z${at}.example`], custom), [], String(at));
      await fail();
    }
    await restart();
    assert.deepEqual(want(['a.last.example'], custom), ['a.last.example']);
    assert.deepEqual(want(['a.other.example'], two), []);
    await give();
    clock.advance(3 * 3_600_000);
    assert.deepEqual(want(['a.last.example'], custom), []);
  });

  it('pauses a domain of a share by itself, and not the names that share its suffix', async () => {
    const owned = (domain: string) => ({ ...two, domain });
    want(['shop.test'], owned('shop.test'));
    await fail();
    assert.deepEqual(want(['shop.test'], owned('shop.test')), ['shop.test']);
    assert.deepEqual(want(['www.shop.test'], owned('shop.test')), []);
    await give();
    assert.deepEqual(want(['other.test'], owned('other.test')), []);
    await give();
  });

  it('pauses new names of all when the authority limits the account, and of one when it limits that', async () => {
    const limited = (retryAfterMs: number) => new OrderFailure('too many', { retryAfterMs, isLimited: true });
    want(['a.zone.example'], one);
    await fail(limited(DAY_MS));
    assert.deepEqual(want(['b.zone.example'], two), ['b.zone.example']);
    clock.advance(60_000);
    assert.deepEqual(want(['c.zone.example'], one), ['c.zone.example'], 'one pauses');
    assert.deepEqual(want(['b.zone.example'], two), [], 'others continue after a minute');
    await fail(limited(DAY_MS));
    clock.advance(3_599_000);
    assert.deepEqual(want(['d.zone.example'], three), ['d.zone.example'], 'it was the account');
    clock.advance(1_000);
    assert.deepEqual(want(['d.zone.example'], three), []);
    await give();
    issuer.retry();
    assert.deepEqual(want(['c.zone.example'], one), []);
  });
});
