import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { connect, createSecureContext, type ConnectionOptions } from 'node:tls';
import { closeOf } from '../../test/support/socket-end.ts';
import { GatewayWorld, get, once, shareOf, statusOf } from './testing/gateway-world.ts';
import { within } from '../../test/support/deadline.ts';
import { ManualTime } from './testing/manual-time.ts';
import { RawClient } from './testing/raw-client.ts';
import type { TlsSettings } from './tls-front.ts';

function selfSigned(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ],
    { stdio: 'ignore' },
  );
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return pair;
}

const run = promisify(execFile);

describe('the TLS port', () => {
  const defaultCertificate = selfSigned('default.localhost');
  const ownCertificate = createSecureContext(selfSigned('own.share.localhost'));
  const tls: TlsSettings = {
    defaultCertificate,
    certificateFor: (name) => {
      if (name.startsWith('throw')) throw new Error('no such certificate');
      return name.toLowerCase() === 'own.share.localhost' ? ownCertificate : undefined;
    },
  };
  let world: GatewayWorld;

  before(async () => {
    world = await GatewayWorld.start({ secure: { host: '127.0.0.1', port: 0, tls } });
    for (const name of ['app', 'own', 'throw']) {
      await world.serve(name, (request, response) =>
        response.end([name, request.headers['x-forwarded-proto']].join(' ')),
      );
    }
    world.publish(
      shareOf('two', { hosts: ['two.share.localhost', 'two.example'] }),
      world.dialer.ports.get('id-app'),
    );
  });
  after(() => world.close());

  it('answers plain HTTP with a page that names the https address of the share', async () => {
    const port = world.gateway.securePort!;
    for (const [host, expected] of [
      ['app.share.localhost', /Use https:\/\/app\.share\.localhost\/ instead/],
      [`app.share.localhost:${port}`, new RegExp(`Use https://app\\.share\\.localhost:${port}/ instead`)],
      ['other.localhost', /plain HTTP\.\n/],
    ] as const) {
      const client = world.own(await RawClient.connect(port));
      client.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const answer = await client.ended();
      assert.equal(statusOf(answer), 400);
      assert.match(answer, expected);
      assert.match(answer, /This port speaks HTTPS/);
    }
    const page = await run('curl', ['-s', '-H', 'Host: app.share.localhost', `http://127.0.0.1:${port}/`]);
    assert.match(page.stdout, /Use https:\/\/app\.share\.localhost/);
  });

  async function open(options: ConnectionOptions): Promise<RawClient> {
    const socket = connect({
      port: world.gateway.securePort!,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      ...options,
    });
    await within(
      'a TLS connection',
      new Promise<void>((resolve, reject) => {
        socket.once('secureConnect', () => resolve());
        socket.once('error', reject);
      }),
    );
    return new RawClient(socket);
  }

  async function ask(servername: string, host: string, options: ConnectionOptions = {}): Promise<string> {
    const client = await open({ ...(servername === '' ? {} : { servername }), ...options });
    client.send(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    const answer = await client.ended();
    client.close();
    return answer;
  }

  it('serves a share whose server name and Host agree, in any case, with https in its headers', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const answer = await ask('APP.share.localhost', 'app.SHARE.localhost:8443', {
        minVersion: version,
        maxVersion: version,
      });
      assert.equal(statusOf(answer), 200);
      assert.match(answer, /app https/);
    }
  });

  it('answers 421 when the server name leads to another share, or is missing, and closes', async () => {
    for (const name of ['own.share.localhost', 'nobody.example', 'two.example', '']) {
      const answer = await ask(name, 'app.share.localhost');
      assert.equal(statusOf(answer), 421, `server name "${name}"`);
      assert.match(answer, /Connection: close/);
    }
    assert.equal(statusOf(await ask('app.share.localhost', 'nobody.share.localhost')), 404);
  });

  it('gives each name its certificate, and lives through names for which there is none', async () => {
    const subject = async (servername: string): Promise<unknown> => {
      const socket = connect({
        port: world.gateway.securePort!,
        host: '127.0.0.1',
        rejectUnauthorized: false,
        servername,
      });
      await once(socket, 'secureConnect');
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      return CN;
    };
    assert.equal(await subject('own.share.localhost'), 'own.share.localhost');
    assert.equal(await subject('other.example'), 'default.localhost');
    assert.equal(
      await subject(`${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}`),
      'default.localhost',
    );
    assert.match(await ask('throw.share.localhost', 'throw.share.localhost'), /throw https/);
  });

  it('keeps the name of the new handshake when a session is resumed', async () => {
    const first = connect({
      port: world.gateway.securePort!,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      servername: 'app.share.localhost',
    });
    const session = (await once(first, 'session')) as Buffer;
    first.destroy();
    assert.equal(statusOf(await ask('app.share.localhost', 'app.share.localhost', { session })), 200);
    const crossed = statusOf(await ask('own.share.localhost', 'app.share.localhost', { session }));
    assert.equal(crossed, 421);
  });

  it('speaks HTTP/2 and HTTP/1.1 only, and TLS 1.2 and newer only', async () => {
    await assert.rejects(open({ servername: 'app.share.localhost', ALPNProtocols: ['h3'] }));
    await assert.rejects(
      open({ servername: 'app.share.localhost', maxVersion: 'TLSv1.1', minVersion: 'TLSv1' }),
    );
    await assert.rejects(
      open({ servername: 'app.share.localhost', maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' }),
    );
    const client = await open({ servername: 'app.share.localhost', ALPNProtocols: ['http/1.1', 'h3'] });
    client.send(get('app'));
    assert.equal(statusOf(await client.ended()), 200);
  });

  it('cuts clients that never finish the handshake or never ask, counts none of them afterwards', async () => {
    const impatient = await GatewayWorld.start({
      secure: { host: '127.0.0.1', port: 0, tls },
      limits: { headTimeoutMs: 3_000 },
    });
    try {
      await impatient.serve('app', (_request, response) => response.end('app'));
      const port = impatient.gateway.securePort!;
      const raw = connectPlain(port, '127.0.0.1');
      raw.on('error', () => {});
      raw.write('\x16\x03\x01\x02\0');
      const silent = await open({ port, servername: 'app.share.localhost' });
      await Promise.all([closeOf(raw), silent.ended()]);
      silent.close();
      await impatient.eventually(() => impatient.gateway.stats().connections === 0, 'no connection is left');
      assert.equal(statusOf(await ask('app.share.localhost', 'app.share.localhost', { port })), 200);
    } finally {
      await impatient.close();
    }
  });

  it('notices at once that a client ends its connection in the handshake, and answers one that ends it after its request', async () => {
    const from = world.records.length;
    const leaving = connectPlain(world.gateway.securePort!, '127.0.0.1');
    leaving.on('error', () => {});
    leaving.end('\x16\x03\x01\x02\0');
    await closeOf(leaving);
    const failures = () =>
      world.records.slice(from).filter(({ message }) => message === 'TLS handshake failed');
    await world.eventually(() => failures().length > 0, 'it is logged');
    assert.match(String(failures()[0]?.['cause']), /socket hang up/);
    const halfOpen = { allowHalfOpen: true };
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const waiting = await open({
        servername: 'app.share.localhost',
        maxVersion: version,
        ...halfOpen,
      });
      waiting.socket.end(get('app'));
      assert.match(await waiting.ended(), /app https/);
      waiting.close();
    }
  });

  it('cuts what is neither TLS nor HTTP with one log line', async () => {
    const from = world.records.length;
    const client = await RawClient.connect(world.gateway.securePort!);
    client.send('\0'.repeat(100));
    await client.ended();
    client.close();
    await world.eventually(() => world.gateway.stats().connections === 0, 'no connection is left');
    const said = world.records.slice(from).map(({ message }) => message);
    assert.deepEqual(said, ['TLS handshake failed']);
  });
});

describe('a handshake for a name whose certificate is on order', () => {
  it('waits for it, has its whole time for a request afterwards, and ends without it', async () => {
    const time = new ManualTime();
    const { promise: certificate, resolve: give } = Promise.withResolvers<boolean>();
    const asked: string[] = [];
    const world = await GatewayWorld.start({
      time,
      secure: {
        host: '127.0.0.1',
        port: 0,
        tls: {
          defaultCertificate: selfSigned('default.localhost'),
          certificateFor: () => undefined,
          missing: (name) => {
            asked.push(name);
            if (name === 'late.share.localhost') return Promise.resolve(false);
            return name === 'app.share.localhost' ? certificate : undefined;
          },
        },
      },
    });
    try {
      await world.serve('app', (_request, response) => response.end('served'));
      const options = { port: world.gateway.securePort!, host: '127.0.0.1', rejectUnauthorized: false };
      const other = connect({ ...options, servername: 'other.example' });
      await once(other, 'secureConnect');
      other.destroy();
      const waiting = connect({ ...options, servername: 'APP.share.localhost' });
      let isSecure = false;
      waiting.once('secureConnect', () => (isSecure = true));
      await world.eventually(() => asked.includes('app.share.localhost'), 'it waits');
      time.advance(14_000);
      assert.equal(isSecure, false);
      const secured = once(waiting, 'secureConnect');
      give(true);
      await secured;
      time.advance(6_000);
      const client = new RawClient(waiting);
      client.send(get('app'));
      assert.match(await client.ended(), /served/);
      client.close();
      assert.deepEqual(asked, ['other.example', 'app.share.localhost']);
      const late = connect({ ...options, servername: 'late.share.localhost' });
      late.once('secureConnect', () => assert.fail('another certificate was shown'));
      late.on('error', () => {});
      await once(late, 'close');
    } finally {
      await world.close();
    }
  });
});
