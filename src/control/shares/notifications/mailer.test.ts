// Mail through a server that nobody here wrote: what it accepts, refuses, defers or leaves without an answer.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Secret } from '#base';
import { directDialer } from '#net';
import { lineOf, recordingLog } from '../../../../test/support/recording-log.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { startSmtpServer, withoutSmtp, type SmtpServer } from '../../../../test/support/smtp-server.ts';
import { until } from '../../../../test/support/deadline.ts';
import { Mailer, type Mail, type MailSettings } from './mailer.ts';

const never = new AbortController().signal;

describe('mail', { skip: withoutSmtp }, () => {
  let server: SmtpServer;
  const lines: string[] = [];
  const log = recordingLog((record) => void lines.push(lineOf(record)));

  before(async () => {
    server = await startSmtpServer();
  });
  after(() => server?.close());

  const mailer = (tls: MailSettings['tls'], more: Partial<MailSettings> = {}, timeoutMs?: number) => {
    const login = { user: 'frontdoor', password: new Secret(server.password) };
    const settings: MailSettings = {
      host: 'localhost',
      port: server.ports[tls],
      tls,
      login: tls === 'none' ? undefined : login,
      from: 'frontdoor@example.com',
      ca: server.ca,
      outward: directDialer,
      ...more,
    };
    return new Mailer(settings, log, timeoutMs);
  };
  const mailTo = (...to: string[]): Mail => ({
    id: `id-${to.join('-').replaceAll('@', '.')}`,
    to,
    subject: 'A share is failing: app',
    text: 'plain',
    html: '<p>markup</p>',
  });
  const last = () => server.received.at(-1)!;
  const arrived = (count: number) =>
    until(
      'the mail',
      () => server.received.length,
      (now) => now === count,
    );

  it('is sent with each mode of TLS, with the password behind TLS only', async () => {
    for (const tls of ['none', 'starttls', 'implicit'] as const) {
      const before = server.received.length;
      const { accepted, problem } = await mailer(tls).send(mailTo('ops@example.com'), never);
      assert.deepEqual([accepted, problem], [['ops@example.com'], undefined], tls);
      await arrived(before + 1);
      const { to, user, isTls, sender, text } = last();
      assert.deepEqual(
        [to, user, isTls, sender],
        [['ops@example.com'], tls === 'none' ? null : 'frontdoor', tls !== 'none', 'frontdoor@example.com'],
      );
      assert.match(text, /^Subject: A share is failing: app\r$/m);
      assert.match(text, /^Message-ID: <id-ops\.example\.com@example\.com>\r$/m);
      assert.match(text, /^Auto-Submitted: auto-generated\r$/m);
    }
  });

  it('is not sent to a server that offers no TLS where TLS is required', async () => {
    const { problem } = await mailer('starttls', { port: server.ports.none, login: undefined }).send(
      mailTo('ops@example.com'),
      never,
    );
    assert.match(problem!, /offers no TLS/);
  });

  it('is not sent with a wrong password, which appears nowhere', async () => {
    const login = { user: 'frontdoor', password: new Secret('a wrong password') };
    const { problem, status } = await mailer('implicit', { login }).send(mailTo('ops@example.com'), never);
    assert.match(problem!, /refused its user or password/);
    assert.equal(status, 535);
    const encoded = Buffer.from('a wrong password').toString('base64').slice(0, -4);
    for (const text of [problem!, ...lines])
      assert.ok(!text.includes('a wrong password') && !text.includes(encoded), text);
  });

  it('is not sent to a server whose certificate is not trusted, or is of another name', async () => {
    for (const tls of ['implicit', 'starttls'] as const) {
      const untrusted = await mailer(tls, { ca: undefined }).send(mailTo('ops@example.com'), never);
      assert.match(untrusted.problem!, /certificate that is not trusted/, tls);
    }
    const outward: MailSettings['outward'] = {
      connect: ({ port }, options) => directDialer.connect({ host: '127.0.0.1', port }, options),
    };
    const other = mailer('implicit', { host: 'mail.example.com', outward });
    assert.match((await other.send(mailTo('ops@example.com'), never)).problem!, /certificate/);
  });

  it('reaches some recipients while others are refused or deferred', async () => {
    const before = server.received.length;
    const to = ['ops@example.com', 'unknown@example.com', 'grey@example.com'];
    const { accepted, refused, problem } = await mailer('none').send(mailTo(...to), never);
    assert.equal(problem, undefined);
    assert.deepEqual(accepted, ['ops@example.com']);
    assert.deepEqual(
      refused.map(({ address, status }) => [address, status]),
      [
        ['unknown@example.com', 550],
        ['grey@example.com', 451],
      ],
    );
    assert.match(refused[0]!.answer, /No such user here/);
    await arrived(before + 1);
    assert.deepEqual(last().to, ['ops@example.com']);
  });

  it('names each recipient that was refused if none was accepted', async () => {
    const { accepted, refused, problem } = await mailer('none').send(mailTo('unknown@example.com'), never);
    assert.deepEqual([accepted, problem], [[], undefined]);
    assert.deepEqual(
      refused.map(({ address, status }) => [address, status]),
      [['unknown@example.com', 550]],
    );
  });

  it('ends at its deadline, and with its program, at a server that stops reading', async () => {
    const silent = mailTo('silent@example.com');
    const late = await mailer('none', {}, 200).send(silent, never);
    assert.match(late.problem!, /did not respond in time/);
    const ending = new AbortController();
    const sent = mailer('none').send(silent, ending.signal);
    ending.abort();
    assert.ok((await sent).problem !== undefined);
  });

  it('has a problem that names no address of the server if that is away', async () => {
    const port = await freePort();
    const { problem } = await mailer('none', { port }).send(mailTo('ops@example.com'), never);
    assert.match(problem!, /cannot be reached/);
    assert.ok(!problem!.includes(String(port)));
  });
});
