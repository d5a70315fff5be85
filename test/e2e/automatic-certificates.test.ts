// Certificates that gateways obtain from a certificate authority, by HTTP-01 for single names and by DNS-01 for zones:
// `pebble`, which issues them for a few seconds only, and rejects half of the good nonces.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import type { ShareDomainAnswer } from '#contract/schemas';
import { acmeSettingsOf } from '../../bin/automatic-certificates.ts';
import { until, within } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { PartProcess } from '../support/part-process.ts';
import { Pebble, withoutPebble } from '../support/pebble.ts';
import { closeOf } from '../support/socket-end.ts';
import type { GatewayReady, Separate } from '../support/separate.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';

/** In seconds: of certificates that are renewed while the test looks on, and of others. */
const SHORT_LIFETIME = 15;
const LONG_LIFETIME = 86_400;
const CHALLENGE = '/.well-known/acme-challenge/LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0';

/** Processes of orders that this process has started. */
function ordersOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children
    .map(Number)
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('certificate-order'));
}

type SecureReady = GatewayReady & { readonly securePort: number };

describe('automatic certificates', { skip: withoutPebble }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-acme-'));
  const asked: string[] = [];
  const service = createServer((request: IncomingMessage, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('private');
  });
  let pebble: Pebble;
  let parts: Separate;
  /** The gateway at whose port the authority asks. */
  let first: PartProcess<GatewayReady>;
  let httpPort: number;
  let acmeArgs: string[];
  /** The port of the first gateway. */
  let securePort: number;

  before(async () => {
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    httpPort = await freePort();
    pebble = await Pebble.start({ folder, httpPort, lifetime: SHORT_LIFETIME });
    acmeArgs = [
      '--acme-email',
      'ops@example.com',
      '--acme-directory',
      pebble.directoryUrl,
      '--acme-ca',
      pebble.caFile,
      '--acme-eab-kid',
      'kid',
      '--acme-eab-key',
      pebble.bindingKeyFile,
    ];
    parts = await sharedSeparate();
    // The last of two options of the same name counts.
    const ports = ['--http-port', String(httpPort), '--https-port', '0', '--https-redirect', 'off'];
    first = await parts.addGateway('acme-names', [...ports, ...acmeArgs]);
    ({ securePort } = first.ready as SecureReady);
    const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    for (const name of ['app', 'guarded', 'other']) await parts.share('public', target, name);
  });
  after(async () => {
    service.close();
    service.closeAllConnections();
    await first?.stop();
    await releaseWorld();
    pebble?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A connection that trusts what the authority issues now, and nothing else. */
  async function open(host: string, port = securePort): Promise<TLSSocket> {
    const ca = await pebble.rootPem();
    const socket = connect({ port, host: '127.0.0.1', servername: host, ca });
    socket.on('error', () => {});
    const failed = once(socket, 'close').then(() => {
      throw new Error(`no connection to ${host}: ${socket.authorizationError?.message ?? 'closed'}`);
    });
    failed.catch(() => {});
    await within(`a connection to ${host}`, Promise.race([once(socket, 'secureConnect'), failed]));
    return socket;
  }

  async function ask(socket: TLSSocket, host: string): Promise<string> {
    const answered = once(socket, 'data') as Promise<[Buffer]>;
    socket.write(`GET /asked HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const [bytes] = await within('an answer', answered);
    return bytes.toString();
  }

  async function serialOf(host: string, port = securePort): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1', servername: host, rejectUnauthorized: false });
    await within('a handshake', once(socket, 'secureConnect'));
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  }

  /** The fields of the next such line in the log of the first gateway. */
  async function said(message: string): Promise<Readonly<Record<string, unknown>>> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const stop = first.watch((line) => {
      if (line.includes(`"msg":"${message}"`)) resolve(line);
    });
    try {
      return JSON.parse(await within(message, promise, 60_000)) as Readonly<Record<string, unknown>>;
    } finally {
      stop();
    }
  }

  async function plain(path: string, method: string, host: string, port = httpPort) {
    const sent = request({ host: '127.0.0.1', port, path, method, headers: { host }, agent: false }).end();
    const [response] = (await within('an answer', once(sent, 'response'))) as [IncomingMessage];
    const body = (await response.toArray()).join('');
    return { status: response.statusCode, body };
  }

  const files = (...path: string[]): string => join(parts.folder, 'acme-names', 'acme', ...path);

  it('are there at the first handshake for a share, which waits, and are kept for its owner alone', async () => {
    const host = 'app.share.localhost';
    const socket = await open(host);
    assert.match(await ask(socket, host), /^HTTP\/1\.1 200 .*private$/s);
    socket.destroy();
    for (const file of [['account.key'], ['certificates', host, 'privkey.pem'], ['state.json']])
      assert.equal(statSync(files(...file)).mode & 0o777, 0o600, file.join('/'));
  });

  it('are renewed, and connections that are open continue', async () => {
    const host = 'app.share.localhost';
    const [old, serial] = [await open(host), await serialOf(host)];
    await ask(old, host);
    await said('certificate obtained');
    assert.notEqual(await serialOf(host), serial);
    (await open(host)).destroy();
    assert.match(await ask(old, host), /^HTTP\/1\.1 200 /);
    old.destroy();
  });

  it('stay when the authority is away, and are renewed when it is back and SIGHUP asks for that', async () => {
    const host = 'app.share.localhost';
    const serial = await serialOf(host);
    await pebble.away();
    const { cause, remedy } = await said('a certificate could not be obtained');
    assert.match(String(cause), /ECONNREFUSED/);
    assert.match(String(remedy), /port 80/);
    assert.equal(await serialOf(host), serial);
    await pebble.begin(LONG_LIFETIME);
    const obtained = said('certificate obtained');
    process.kill(first.pid, 'SIGHUP');
    await obtained;
    assert.notEqual(await serialOf(host), serial);
    (await open(host)).destroy();
  });

  it('are there for the log-in host, and for no name that is not served', async () => {
    (await open('oauth.share.localhost')).destroy();
    for (const name of ['nobody.share.localhost', 'example.com'])
      await assert.rejects(open(name), /no connection|alert handshake failure/, name);
    const obtained = JSON.parse(readFileSync(files('state.json'), 'utf8')) as { issued: unknown[] };
    assert.equal(obtained.issued.length, 2, 'app and oauth');
  });

  it('open no share: a challenge is answered by the gateway alone, and anything else is judged', async () => {
    const host = 'guarded.share.localhost';
    const data = { placement: 'header', name: 'X-Api-Key', keys: [{ name: 'ci' }] };
    const provider = await parts.call('POST', '/auth-providers', { name: 'keys', type: 'API_KEY', data });
    const { id } = provider.json as { id: string };
    assert.equal((await parts.call('PATCH', '/shares/guarded', { authProviderIds: [id] })).status, 200);
    await until(
      'it is guarded',
      () => plain('/', 'GET', host),
      ({ status }) => status === 401,
    );
    asked.length = 0;
    const answer = await plain(CHALLENGE, 'GET', host);
    assert.match(answer.body, /^LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0\.[\w-]{43}$/);
    for (const [method, path] of [
      ['POST', CHALLENGE],
      ['HEAD', CHALLENGE],
      ['GET', `${CHALLENGE}/x`],
      ['GET', '/.well-known/acme-challenge/x'],
    ] as const)
      assert.equal((await plain(path, method, host)).status, 401, `${method} ${path}`);
    assert.deepEqual(asked, []);
  });

  it('are wildcards of zones with a DNS hook, and then a challenge path is a request like others', async () => {
    const hook = join(folder, 'hook');
    const calls = join(folder, 'calls');
    const delegated = 'delegated.example.org';
    const body = `"{\\"host\\":\\"$name\\",\\"value\\":\\"$3\\"}"`;
    writeFileSync(
      hook,
      `#!/bin/sh\necho "$1 $2" >> ${calls}\n` +
        `case $2 in _acme-challenge.${delegated}.) name=of-hook.example.net.;; *) name=$2;; esac\n` +
        `case $1 in present) to=set-txt;; *) to=clear-txt;; esac\n` +
        `exec curl --silent --show-error --fail --data ${body} ${pebble.namesUrl}/$to\n`,
      { mode: 0o700 },
    );
    const dnsArgs = ['--acme-dns-hook', hook, '--acme-dns-server', pebble.nameServer];
    // With the account of the first gateway, which the authority asks for challenges.
    const acme = join(parts.folder, 'acme-zones', 'acme');
    mkdirSync(acme, { recursive: true, mode: 0o700 });
    copyFileSync(files('account.key'), join(acme, 'account.key'));
    const gateway = await parts.addGateway('acme-zones', ['--https-port', '0', ...acmeArgs, ...dnsArgs]);
    const { gatewayUrl, securePort: port } = gateway.ready as SecureReady;
    const host = 'guarded.share.localhost';
    const isObtained = (zone: string) => (): boolean => gateway.output.includes(`"certificate":"*.${zone}"`);
    await until('a wildcard', isObtained('share.localhost'), Boolean);
    const socket = await open(host, port);
    assert.equal(socket.getPeerCertificate().subjectaltname, 'DNS:*.share.localhost');
    socket.destroy();
    const [frontend] = (await parts.call('GET', '/frontends')).json as { id: string }[];
    const custom = { hostname: 'apps.example.com', frontendId: frontend!.id, authProviderIds: [] };
    const made = (await parts.call('POST', '/custom-frontends', custom)).json as { id: string };
    await parts.grantHostname(made.id);
    await until('its wildcard', isObtained('apps.example.com'), Boolean);
    (await open('guarded.apps.example.com', port)).destroy();
    await until(
      'the record is removed',
      () => readFileSync(calls, 'utf8').split('\n'),
      (lines) => lines.length > 2,
    );
    const record = '_acme-challenge.share.localhost.';
    assert.deepEqual(readFileSync(calls, 'utf8').split('\n').slice(0, 2), [
      `present ${record}`,
      `cleanup ${record}`,
    ]);
    asked.length = 0;
    assert.equal((await plain(CHALLENGE, 'GET', host, Number(new URL(gatewayUrl).port))).status, 401);
    assert.deepEqual(asked, []);
    await until(
      'it is active',
      async () => (await parts.call('GET', `/custom-frontends/${made.id}`)).json as { status: string },
      ({ status }) => status === 'ACTIVE',
    );
    // Domains of shares are in no zone of the hook. One proves itself by HTTP-01, and the owner of the other delegated its record.
    await pebble.alias(`_acme-challenge.${delegated}`, 'of-hook.example.net');
    for (const hostname of ['direct.example.org', delegated]) {
      assert.equal((await parts.call('POST', '/shares/guarded/domains', { hostname })).status, 201);
      await assert.rejects(open(hostname, port), 'nobody has proven it');
      await parts.grantHostname(hostname);
      const { value: domainSocket } = await until(
        `a certificate of ${hostname}`,
        () => open(hostname, port).catch(() => undefined),
        (opened) => opened !== undefined,
      );
      assert.equal(domainSocket!.getPeerCertificate().subjectaltname, `DNS:${hostname}`);
      domainSocket!.destroy();
    }
    // The owner reads what the authority says of a domain that it cannot look up.
    const lost = 'lost.example.org';
    await fetch(`${pebble.namesUrl}/set-servfail`, { method: 'POST', body: JSON.stringify({ host: lost }) });
    assert.equal((await parts.call('POST', '/shares/guarded/domains', { hostname: lost })).status, 201);
    await parts.grantHostname(lost);
    const { value: seen } = await until(
      'the certificates of the domains',
      async () => {
        await open(lost, port).catch(() => undefined);
        const { json } = await parts.call('GET', '/shares/guarded/domains');
        const domains = json as readonly Pick<ShareDomainAnswer, 'hostname' | 'certificate'>[];
        return Object.fromEntries(domains.map(({ hostname, certificate }) => [hostname, certificate]));
      },
      (certificates) =>
        certificates[lost]?.state === 'FAILED' &&
        ['direct.example.org', delegated].every((hostname) => certificates[hostname]?.state === 'VALID'),
    );
    assert.match(seen[lost]!.problem!, /lost\.example\.org/);
    assert.ok(Date.parse(seen[lost]!.retryAt!) > Date.now());
    const ofDomains = readFileSync(calls, 'utf8')
      .split('\n')
      .filter((line) => line.includes('example.org'));
    assert.deepEqual(
      new Set(ofDomains.map((line) => line.split(' ')[1])),
      new Set([`_acme-challenge.${delegated}.`]),
    );
    assert.equal(await gateway.stop('SIGTERM'), 0);
  });

  it('are obtained by the supervisor of two workers, one of which answers at another gateway with its account', async () => {
    const acme = join(parts.folder, 'acme-workers', 'acme');
    mkdirSync(acme, { recursive: true, mode: 0o700 });
    copyFileSync(files('account.key'), join(acme, 'account.key'));
    const args = ['--workers', '2', '--https-port', '0', ...acmeArgs];
    const gateway = await parts.addGateway('acme-workers', args);
    const { securePort: port } = gateway.ready as SecureReady;
    const host = 'other.share.localhost';
    (await open(host, port)).destroy();
    // Each of them comes to one worker or the other.
    const serials = await Promise.all(Array.from({ length: 16 }, () => serialOf(host, port)));
    assert.equal(new Set(serials).size, 1);
    assert.equal(await gateway.stop('SIGTERM'), 0);
  });

  it('replace the own authority of `frontdoor up`, which is shown until then', async () => {
    const dataDir = join(folder, 'up');
    const acme = join(dataDir, 'gateway', 'acme');
    mkdirSync(acme, { recursive: true, mode: 0o700 });
    copyFileSync(files('account.key'), join(acme, 'account.key'));
    const readyFile = join(folder, 'up.json');
    const up = new PartProcess<{ gatewayUrl: string }>({
      name: 'up',
      readyFile,
      args: () => ['up', '--any-port', '--data-dir', dataDir, '--ready-file', readyFile, ...acmeArgs],
    });
    try {
      await up.start();
      const { https } = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as { https: number };
      const own = await serialOf('nobody.share.localhost', https);
      const host = 'oauth.share.localhost';
      (await open(host, https)).destroy();
      assert.notEqual(await serialOf(host, https), own);
    } finally {
      await up.stop();
    }
  });

  it('do not hold up the end of a gateway, nor does the handshake that waits, and no process is left', async () => {
    pebble.stall();
    const waiting = connect({ port: securePort, host: '127.0.0.1', servername: 'other.share.localhost' });
    waiting.on('error', () => {});
    const ended = closeOf(waiting);
    const { value: orders } = await until(
      'an order',
      () => ordersOf(first.pid),
      ({ length }) => length === 1,
    );
    const startMs = performance.now();
    assert.equal(await first.stop('SIGTERM', 25_000), 0, first.output);
    assert.ok(performance.now() - startMs < 10_000, 'it waited for the order');
    await within('the end of the handshake', ended);
    await until(
      'its end',
      () => orders.filter((pid) => existsSync(`/proc/${pid}`)),
      ({ length }) => length === 0,
    );
  });

  it('are refused with options that do not go together, or cannot be used', async () => {
    const errorOf = async (options: Parameters<typeof acmeSettingsOf>[0]): Promise<string> => {
      let said = '';
      await assert.rejects(acmeSettingsOf(options), (error: Error & { code?: string }) => {
        said = error.message;
        return error.code === 'acme-options' || error.code === 'unreadable';
      });
      return said;
    };
    const email = { acmeEmail: 'ops@example.com' };
    const open = join(folder, 'open.key');
    writeFileSync(open, 'a2V5', { mode: 0o644 });
    assert.match(await errorOf({ acmeDnsHook: '/bin/true' }), /--acme-dns-hook needs --acme-email/);
    assert.match(await errorOf({ acmeCa: pebble.caFile }), /--acme-ca needs --acme-email/);
    assert.match(
      await errorOf({ ...email, acmeDnsServer: ['192.0.2.1'] }),
      /needs --acme-dns-provider or --acme-dns-hook/,
    );
    assert.match(await errorOf({ ...email, acmeEabKid: 'k' }), /--acme-eab-kid needs --acme-eab-key/);
    assert.match(await errorOf({ ...email, acmeEabKid: 'k', acmeEabKey: open }), /chmod 600/);
    assert.match(await errorOf({ ...email, acmeCa: open }), /holds no certificate in PEM form/);
    assert.match(await errorOf({ ...email, acmeCa: join(folder, 'none') }), /--acme-ca: cannot read/);
    assert.match(await errorOf({ ...email, acmeDnsHook: folder }), /cannot be run: it is not a file/);
    assert.match(await errorOf({ ...email, acmeDnsHook: open }), /cannot be run: EACCES/);
    const servers = { acmeDnsHook: '/bin/true', acmeDnsServer: ['ns.example.com'] };
    assert.match(await errorOf({ ...email, ...servers }), /takes addresses/);
    assert.equal(await acmeSettingsOf({}), undefined);
  });
});
