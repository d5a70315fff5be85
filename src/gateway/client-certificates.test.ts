import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connect as connectPlain } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { connect, type ConnectionOptions } from 'node:tls';
import { silentLog } from '#base';
import { makeTestAuthority, type TestAuthority, type TestIdentity } from '../../test/support/certificates.ts';
import { within } from '../../test/support/deadline.ts';
import { ConnectionAdmission } from './exchange/connection-admission.ts';
import { CertificateStore } from './certificates/certificate-store.ts';
import { openListener, type Listener } from './gateway-listener.ts';
import type { ClientFacts } from './circuits/route-decision.ts';

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const;

/** Not a client hello, or the beginning of one. */
const JUNK = ['GET / HTTP/1.1\r\n\r\n', '\x16\x03\x01\x00\x00', '\x16\x03\x01\xff\xff', '\x00'];

let servers: TestAuthority;
let staff: TestAuthority;
let guests: TestAuthority;
let ann: TestIdentity;
let guest: TestIdentity;
/** By server name. */
let asked: Map<string, readonly string[]>;
let listener: Listener;
/** Does not wait long for a handshake. */
let impatient: Listener;
let arrived: ((facts: ClientFacts) => void)[];

before(async () => {
  [servers, staff, guests] = (await Promise.all(
    ['servers', 'staff', 'guests'].map((name) => makeTestAuthority(name)),
  )) as [TestAuthority, TestAuthority, TestAuthority];
  ann = await staff.issue('ann', { dns: ['ann.laptop'], emails: ['ann@example.com', 'a@example.org'] });
  guest = await guests.issue('guest');
  const served = await servers.issue('shares', { dns: ['*.share.example'] });
  const store = await CertificateStore.open({ default: served, log: silentLog });
  const open = (handshakeTimeoutMs: number): Promise<Listener> =>
    openListener({
      address: { host: '127.0.0.1', port: 0 },
      tls: {
        defaultCertificate: served,
        certificateFor: (name, authorities) => store.certificateFor(name, authorities),
        ticketSecret: randomBytes(32),
        clientAuthorities: (name) => asked.get(name),
        hasClientAuthorities: () => asked.size > 0,
      },
      admission: new ConnectionAdmission(1_000, 1_000, silentLog),
      handshakeTimeoutMs,
      proxyHeaderTimeoutMs: 5_000,
      onHandshakeFailed: () => {},
      highWaterMark: 65_536,
      nowMs: () => performance.now(),
      log: silentLog,
      onConnection: (socket, facts) => {
        socket.on('error', () => {});
        arrived.shift()?.(facts);
        // A ticket comes to a TLS 1.3 client with the first bytes at the latest.
        socket.end('welcome');
      },
    });
  [listener, impatient] = [await open(60_000), await open(3_000)];
});
after(() => {
  listener.stop();
  impatient.stop();
});
beforeEach(() => {
  arrived = [];
  asked = new Map([
    ['staff.share.example', [staff.ca]],
    ['guests.share.example', [guests.ca]],
  ]);
});

interface Entered {
  readonly facts: ClientFacts;
  readonly session: Buffer | undefined;
  readonly isReused: boolean;
}

async function enter(servername: string, options: ConnectionOptions = {}): Promise<Entered> {
  const facts = new Promise<ClientFacts>((resolve) => arrived.push(resolve));
  const socket = connect({
    port: listener.port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    servername,
    ...options,
  });
  let session: Buffer | undefined;
  let isReused = false;
  socket.on('session', (one: Buffer) => (session = one));
  socket.once('secureConnect', () => (isReused = socket.isSessionReused()));
  socket.resume();
  const ended = new Promise<void>((resolve, reject) => {
    socket.once('close', () => resolve());
    socket.once('error', reject);
  });
  await within('the connection to end', ended);
  return { facts: await within('it to arrive', facts), session, isReused };
}

describe('a client certificate', () => {
  it('is requested only for server names with authorities, and forwarded with the data of its leaf', async () => {
    for (const version of VERSIONS) {
      const mine = { cert: ann.cert, key: ann.key, minVersion: version, maxVersion: version };
      const { facts } = await enter('STAFF.share.example', mine);
      const { clientCertificate, clientCertificateProblem } = facts;
      assert.equal(clientCertificateProblem, undefined, version);
      assert.equal(clientCertificate?.subject, 'CN=ann');
      assert.equal(clientCertificate.commonName, 'ann');
      assert.deepEqual(clientCertificate.emails, ['ann@example.com', 'a@example.org']);
      assert.deepEqual(clientCertificate.dnsNames, ['ann.laptop']);
      assert.match(clientCertificate.fingerprint256, /^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/);
      assert.deepEqual(clientCertificate.authorities, [staff.ca]);
      const open = await enter('open.share.example', mine);
      assert.deepEqual(
        [open.facts.clientCertificate, open.facts.clientCertificateProblem],
        [undefined, undefined],
      );
    }
  });

  it('that is missing, foreign, not in its dates or for servers ends no handshake, and proves nothing', async () => {
    const cases: readonly [string, TestIdentity | undefined, RegExp][] = [
      ['none', undefined, /no certificate was sent/],
      ['of another share', guest, /not accepted/],
      ['run out', await staff.issue('late', { days: -1, startsInDays: -3 }), /CERT_HAS_EXPIRED/],
      ['not valid yet', await staff.issue('early', { startsInDays: 2 }), /CERT_NOT_YET_VALID/],
      ['for servers', await staff.issue('server', { purposes: ['server'] }), /INVALID_PURPOSE|not accepted/],
    ];
    for (const [name, shown, problem] of cases) {
      for (const version of VERSIONS) {
        const mine = shown === undefined ? {} : { cert: shown.cert, key: shown.key };
        const { facts } = await enter('staff.share.example', {
          ...mine,
          minVersion: version,
          maxVersion: version,
        });
        assert.equal(facts.clientCertificate, undefined, name);
        assert.match(facts.clientCertificateProblem ?? '', problem, name);
      }
    }
  });

  it('is believed by its leaf: one of Frontdoor beside a foreign leaf changes nothing', async () => {
    const { facts } = await enter('staff.share.example', {
      cert: `${guest.cert}\n${ann.cert}`,
      key: guest.key,
    });
    assert.equal(facts.clientCertificate, undefined);
  });

  it('may lead over an intermediate, sent along or named as the authority itself', async () => {
    const team = await staff.intermediate('team');
    const bob = await team.issue('bob');
    const whole = await enter('staff.share.example', { cert: `${bob.cert}\n${team.ca}`, key: bob.key });
    assert.equal(whole.facts.clientCertificate?.commonName, 'bob');
    const alone = await enter('staff.share.example', { cert: bob.cert, key: bob.key });
    assert.equal(alone.facts.clientCertificate, undefined);
    asked.set('staff.share.example', [team.ca]);
    const narrow = await enter('staff.share.example', { cert: bob.cert, key: bob.key });
    assert.equal(
      narrow.facts.clientCertificate?.commonName,
      'bob',
      String(narrow.facts.clientCertificateProblem),
    );
    const above = await enter('staff.share.example', { cert: ann.cert, key: ann.key });
    assert.equal(above.facts.clientCertificate, undefined, 'the authority above is not named');
  });

  it('is shown and judged at every handshake: no ticket of any share stands in for it', async () => {
    for (const version of VERSIONS) {
      const only = { minVersion: version, maxVersion: version };
      const mine = { ...only, cert: ann.cert, key: ann.key };
      const open = await enter('open.share.example', mine);
      assert.ok(open.session, 'an open share gives tickets');
      assert.ok((await enter('open.share.example', { ...only, session: open.session })).isReused, version);
      const staffed = await enter('staff.share.example', mine);
      for (const session of [open.session, staffed.session]) {
        for (const name of ['staff.share.example', 'guests.share.example']) {
          const entered = await enter(name, { ...only, session });
          assert.ok(!entered.isReused, `${version} ${name}`);
          assert.equal(entered.facts.clientCertificate, undefined);
          assert.equal(entered.facts.clientCertificateProblem, 'no certificate was sent');
        }
        const crossed = await enter('guests.share.example', {
          ...mine,
          session,
        });
        assert.equal(
          crossed.facts.clientCertificate,
          undefined,
          'a certificate for one share is none for the other',
        );
      }
    }
  });

  it('is requested as soon as its share has authorities, also from clients with an older ticket', async () => {
    asked.clear();
    const before = await enter('staff.share.example');
    assert.equal(before.facts.clientCertificateProblem, undefined);
    asked.set('staff.share.example', [staff.ca]);
    const session = before.session === undefined ? {} : { session: before.session };
    const without = await enter('staff.share.example', session);
    assert.equal(without.facts.clientCertificateProblem, 'no certificate was sent');
    const shown = await enter('staff.share.example', { ...session, cert: ann.cert, key: ann.key });
    assert.equal(shown.facts.clientCertificate?.commonName, 'ann');
  });
});

describe('a client hello', () => {
  const hello = (name: Buffer): Buffer => {
    const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
    const entry = Buffer.concat([Buffer.of(0), u16(name.length), name]);
    const list = Buffer.concat([u16(entry.length), entry]);
    const extension = Buffer.concat([u16(0), u16(list.length), list]);
    const body = Buffer.concat([
      Buffer.of(3, 3),
      randomBytes(32),
      Buffer.of(0),
      Buffer.of(0, 4, 0xc0, 0x2b, 0xc0, 0x2f),
      Buffer.of(1, 0),
      u16(extension.length),
      extension,
    ]);
    const message = Buffer.concat([Buffer.of(1, 0), u16(body.length), body]);
    return Buffer.concat([Buffer.of(22, 3, 1), u16(message.length), message]);
  };

  async function sendRaw(bytes: Buffer, pieceBytes = bytes.length): Promise<void> {
    const socket = connectPlain({ port: impatient.port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => {});
    socket.resume();
    for (let at = 0; at < bytes.length; at += pieceBytes) socket.write(bytes.subarray(at, at + pieceBytes));
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
    });
    await within('the server to close it', closed);
  }

  it('with a name of 300 bytes, a NUL, UTF-8, or none at all costs its own connection alone', async () => {
    const names = [
      'a'.repeat(300),
      'staff.share.example\0',
      'stäff.share.example',
      '',
      '\xff'.repeat(64),
      '..',
      'a b',
    ];
    for (const has of [true, false]) {
      if (!has) asked.clear();
      await Promise.all([
        ...names.map((name) => sendRaw(hello(Buffer.from(name)))),
        ...JUNK.map((junk) => sendRaw(Buffer.from(junk, 'latin1'))),
      ]);
    }
    const { facts } = await enter('open.share.example', { port: impatient.port });
    assert.equal(facts.onlyHost, 'open.share.example');
  });

  it('in pieces of one byte, and one that never ends, are read to their end or cut off', async () => {
    await sendRaw(hello(Buffer.from('staff.share.example')), 1);
    await sendRaw(hello(Buffer.from('staff.share.example')).subarray(0, 40));
    const mine = { port: impatient.port, cert: ann.cert, key: ann.key };
    const { facts } = await enter('staff.share.example', mine);
    assert.equal(facts.clientCertificate?.commonName, 'ann');
  });
});
