// Notifications by mail from the queue to a real server: what is gathered, who gets it once, how much an organization may send.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import type { NotificationEventType } from '#contract';
import { directDialer } from '#net';
import { until } from '../../../../test/support/deadline.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { startSmtpServer, withoutSmtp, type SmtpServer } from '../../../../test/support/smtp-server.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { Mailer, NotificationSender, type MailSettings } from '../notifications/mod.ts';
import { findDestination } from '../notifications/destination-store.ts';
import { publishEvent, takeDueDeliveries } from '../notifications/delivery-store.ts';
import { MAX_RECIPIENTS_AN_HOUR } from '../notifications/mail-usage-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

interface Delivery {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly problem: string | null;
}

describeEachStore('notifications by mail', (open) => {
  describe('through a mail server', { skip: withoutSmtp }, () => {
    let server: SmtpServer;
    let world: ApiWorld;
    let senders: NotificationSender[];

    before(async () => {
      server = await startSmtpServer();
      world = await openApiWorld({
        open,
        notifications: { attempt: (...args) => senders[0]!.attempt(...args), hasMail: true },
      });
      const { store, secrets, clock } = world;
      const mailer = new Mailer(settings(), silentLog);
      const egress = { allowed: [] };
      const consoleUrl = () => 'https://console.example.com/console';
      const log = silentLog;
      senders = [1, 2].map(
        () =>
          new NotificationSender({
            store,
            secrets,
            clock,
            log,
            egress,
            mailer,
            consoleUrl,
            random: () => 0.5,
          }),
      );
    });
    after(async () => {
      await Promise.all((senders ?? []).map((each) => each.close()));
      await world?.close();
      await server?.close();
    });
    afterEach(async () => {
      const listed = await world.call('GET', '/notification-destinations');
      for (const { id } of (listed.body as { content: { id: string }[] }).content)
        await world.call('DELETE', `/notification-destinations/${id}`);
      await world.store.db.deleteFrom('mail_usage').execute();
      server.received.length = 0;
    });

    const settings = (): MailSettings => ({
      host: '127.0.0.1',
      port: server.ports.none,
      tls: 'none',
      login: undefined,
      from: 'frontdoor@example.com',
      ca: undefined,
      outward: directDialer,
    });
    const create = async (...addresses: string[]): Promise<string> => {
      const body = { name: 'team', type: 'email', addresses };
      const made = await world.call('POST', '/notification-destinations', { body });
      assert.equal(made.status, 201, made.text);
      return (made.body as { id: string }).id;
    };
    const publish = (type: NotificationEventType, data: object) =>
      world.store.transaction((trx, touch) =>
        publishEvent(
          trx,
          touch,
          { organizationId: world.first.organizationId, type, data },
          world.clock.nowMs(),
        ),
      );
    const later = async (ms: number) => {
      world.clock.advance(ms);
      await Promise.all(senders.map((each) => each.pass()));
      await Promise.all(senders.map((each) => each.settled()));
    };
    const share = (id: string) => ({
      kind: 'share',
      id,
      frontdoorId: world.first.frontdoorId,
      target: 'http://127.0.0.1:3000',
      reason: 'connection refused',
    });
    const deliveries = async (id: string): Promise<readonly Delivery[]> => {
      const listed = await world.call('GET', `/notification-destinations/${id}/deliveries`);
      return (listed.body as { content: Delivery[] }).content;
    };
    const received = (count: number) =>
      until(
        'mail',
        () => server.received.length,
        (now) => now === count,
      );

    it('gather what happens within a minute, also of many shares, in one mail with links to the console', async () => {
      await create('ops@example.com', 'ann@example.com');
      const resources = Array.from({ length: 50 }, (_, n) => share(`share-${n}`));
      await publish('share.failing', { total: 1_000, resources });
      await later(30_000);
      await publish('agent.away', {
        total: 1,
        resources: [{ kind: 'agent', id: 'a', name: 'edge', shares: 1 }],
      });
      await later(29_000);
      assert.equal(server.received.length, 0);
      await later(2_000);
      await received(1);
      await later(120_000);
      const [{ text, to }] = server.received as [SmtpServer['received'][number]];
      assert.equal(server.received.length, 1);
      assert.deepEqual(to, ['ops@example.com', 'ann@example.com']);
      assert.match(text, /^Subject: \[Frontdoor\] 1000 shares are failing, An agent is away\r$/m);
      const plain = text.replaceAll('=\r\n', '').replaceAll('=3D', '=');
      const page = `https://console.example.com/console/frontdoors/${world.first.frontdoorId}/shares/share-7`;
      assert.ok(plain.includes(page));
      assert.match(plain, /and 950 more/);
    });

    it('are taken whole by one of two control planes', async () => {
      const { store, clock } = world;
      await create('ops@example.com');
      await publish('share.failing', { total: 1, resources: [share('app')] });
      await publish('share.healthy', { total: 1, resources: [share('app')] });
      clock.advance(61_000);
      const nowMs = clock.nowMs();
      const due = { nowMs, leaseUntilMs: nowMs + 60_000, most: 16, except: [] };
      const taken = await Promise.all([1, 2].map(() => takeDueDeliveries(store.db, due)));
      assert.deepEqual(
        taken.flat().map((batch) => batch.length),
        [2],
      );
    });

    it('have no header and no markup of what tenants named', async () => {
      await create('ops@example.com');
      const name = 'x\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script>';
      const agent = { kind: 'agent', id: 'a', name, frontdoorId: world.first.frontdoorId, shares: 0 };
      await publish('agent.away', { total: 1, resources: [agent] });
      await later(61_000);
      await received(1);
      const [{ text, to }] = server.received as [SmtpServer['received'][number]];
      assert.deepEqual(to, ['ops@example.com']);
      assert.doesNotMatch(text.slice(0, text.indexOf('\r\n\r\n')), /^Bcc:/m);
      const markup = text.slice(text.indexOf('text/html')).replaceAll('=\r\n', '');
      assert.ok(markup.includes('&lt;script&gt;') && !markup.includes('<script'));
    });

    it('reach a recipient that is greylisted later, and no other one twice', async () => {
      const id = await create('ops@example.com', `grey-${world.clock.nowMs()}@example.com`);
      await publish('share.failing', { total: 1, resources: [share('app')] });
      await later(61_000);
      await received(1);
      assert.deepEqual(server.received[0]!.to, ['ops@example.com']);
      const [waiting] = await deliveries(id);
      assert.match(waiting!.problem!, /^grey-.* was refused: 451/);
      assert.equal(waiting!.state, 'PENDING');
      await later(6_000);
      await received(2);
      assert.match(server.received[1]!.to.join(), /^grey-[^,]*$/);
      assert.deepEqual(
        (await deliveries(id)).map(({ state }) => state),
        ['DELIVERED'],
      );
    });

    it('end at once for a recipient that does not exist, and are sent again to a corrected one alone', async () => {
      const id = await create('ops@example.com', 'unknown@example.com');
      await publish('share.failing', { total: 1, resources: [share('app')] });
      await later(61_000);
      await received(1);
      const [failed] = await deliveries(id);
      assert.deepEqual([failed!.state, failed!.attempts], ['FAILED', 1]);
      assert.match(failed!.problem!, /^unknown@example\.com was refused: 550/);
      const path = `/notification-destinations/${id}`;
      const body = { addresses: ['ops@example.com', 'ann@example.com'] };
      assert.equal((await world.call('PATCH', path, { body })).status, 200);
      assert.equal((await world.call('POST', `${path}/deliveries/${failed!.id}/retry`)).status, 200);
      await later(1_000);
      await received(2);
      assert.deepEqual(server.received[1]!.to, ['ann@example.com']);
    });

    it('wait for the next hour when the organization has sent too much, and are one mail then', async () => {
      const id = await create('ops@example.com');
      const hour = Math.floor(world.clock.nowMs() / 3_600_000);
      const { organizationId } = world.first;
      const usage = { organization_id: organizationId, hour, recipients: MAX_RECIPIENTS_AN_HOUR };
      await world.store.db
        .insertInto('mail_usage')
        .values({ ...usage, hour: hour + 1 })
        .execute();
      world.clock.advance((hour + 1) * 3_600_000 - world.clock.nowMs());
      await publish('share.failing', { total: 1, resources: [share('app')] });
      await later(61_000);
      await publish('share.healthy', { total: 1, resources: [share('app')] });
      await later(61_000);
      assert.equal(server.received.length, 0);
      const tested = await world.call('POST', `/notification-destinations/${id}/test`);
      assert.match((tested.body as { problem: string }).problem, /recipients in this hour/);
      assert.deepEqual(
        (await deliveries(id)).map(({ state, attempts }) => [state, attempts]),
        [
          ['PENDING', 0],
          ['PENDING', 0],
        ],
      );
      await later(3_600_000);
      await received(1);
      assert.match(server.received[0]!.text, /^Subject: .*A share is failing, A share is healthy again\r$/m);
    });

    it('use up nothing of the hour when the mail server reaches nobody', async () => {
      const { store, secrets, clock, first } = world;
      const port = await freePort();
      const away = new Mailer({ ...settings(), port }, silentLog);
      const options = { store, secrets, clock, log: silentLog, egress: { allowed: [] }, mailer: away };
      const sender = new NotificationSender(options);
      const id = await create('ops@example.com');
      const found = await findDestination(store.db, secrets, id);
      const message = { id, type: 'test', atMs: clock.nowMs(), data: '{}' };
      const { problem } = await sender.attempt(found!, message);
      assert.match(problem!, /cannot be reached/);
      const usage = await store.db.selectFrom('mail_usage').selectAll().execute();
      assert.deepEqual(
        usage.map((row) => [row.organization_id, row.recipients]),
        [[first.organizationId, 0]],
      );
      await sender.close();
    });

    it('are set up with addresses where the operator has a mail server, and are not signed', async () => {
      const refusedBodies = [
        { type: 'email' },
        { type: 'email', addresses: [] },
        { type: 'email', addresses: ['a@example.com\r\nBcc: b@example.com'] },
        { type: 'email', addresses: ['Ann <ann@example.com>'] },
        { type: 'email', addresses: Array.from({ length: 11 }, (_, n) => `a${n}@example.com`) },
        { type: 'email', addresses: ['a@example.com'], url: 'https://hooks.example.com/' },
        { addresses: ['a@example.com'], url: 'https://hooks.example.com/' },
        {},
      ];
      for (const more of refusedBodies) {
        const body = { name: 'team', ...more };
        const made = await world.call('POST', '/notification-destinations', { body });
        assert.equal(made.status, 400, JSON.stringify(more));
      }
      const id = await create('ops@example.com');
      const path = `/notification-destinations/${id}`;
      const got = (await world.call('GET', path)).body as Record<string, unknown>;
      assert.deepEqual(
        [got['type'], got['addresses'], got['url']],
        ['email', ['ops@example.com'], undefined],
      );
      assert.equal((await world.call('POST', `${path}/rotate`)).status, 409);
      const tested = await world.call('POST', `${path}/test`);
      assert.deepEqual(tested.body, { delivered: true, status: 250, problem: null });
      await received(1);
      assert.match(server.received[0]!.text, /^Subject: \[Frontdoor\] Test message\r$/m);
      const rows = await world.store.db.selectFrom('notification_destination').selectAll().execute();
      assert.ok(!JSON.stringify(rows).includes('ops@example.com'));
    });
  });
});
