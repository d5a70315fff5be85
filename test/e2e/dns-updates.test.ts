// TXT records of challenges by DNS UPDATE (RFC 2136) at Debian's BIND, and certificates of Pebble that are proven by them.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDnsProvider, RecordJournal } from '#gateway';
import { OutwardDialer } from '#net';
import { Bind, withoutBind } from '../support/bind.ts';
import { runCommandLine } from '../support/command-line.ts';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { Pebble, withoutPebble } from '../support/pebble.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';

const NEVER = new AbortController().signal;

describe('certificates by DNS updates', { skip: withoutBind || withoutPebble }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-bind-'));
  let bind: Bind;
  before(async () => {
    bind = await Bind.start({
      folder,
      keys: { frontdoor: 'hmac-sha256' },
      zones: [
        { name: 'share.localhost', key: 'frontdoor' },
        {
          name: 'apps.example.com',
          key: 'frontdoor',
          records:
            '_acme-challenge CNAME apps.acme.example.net.\n_acme-challenge.away CNAME www.example.net.',
        },
        { name: 'example.net', key: 'frontdoor' },
      ],
    });
  });
  after(async () => {
    await releaseWorld();
    await bind?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const optionsOf = (delegation: string): string[] => [
    ...['--acme-dns-provider', 'rfc2136', '--acme-dns-server', bind.server],
    ...['--acme-dns-setting', `server=${bind.server}`, `key-file=${bind.keyFile('frontdoor')}`, delegation],
  ];
  const ALLOWED = 'delegation=acme.example.net';

  it('prove zones to a certificate authority, also by an alias, and leave no record behind after a restart', async () => {
    const pebble = await Pebble.start({
      folder,
      httpPort: await freePort(),
      lifetime: 86_400,
      nameServer: bind.resolving,
    });
    try {
      const parts = await sharedSeparate();
      const acme = join(parts.folder, 'acme-updates', 'acme');
      const left = {
        name: '_acme-challenge.share.localhost',
        target: '_acme-challenge.share.localhost',
        value: 'left',
      };
      const choice = {
        provider: 'rfc2136',
        settings: { server: bind.server, 'key-file': bind.keyFile('frontdoor') },
      };
      const surroundings = { folder, environment: {}, outward: new OutwardDialer() };
      await (await openDnsProvider(choice, surroundings)).add(left, NEVER);
      const journal = new RecordJournal(join(acme, 'records'));
      await journal.note({ ...left, provider: 'rfc2136', atMs: Date.now() });
      const gateway = await parts.addGateway('acme-updates', [
        ...['--https-port', '0', '--acme-email', 'ops@example.com', '--acme-directory', pebble.directoryUrl],
        ...['--acme-ca', pebble.caFile, '--acme-eab-kid', 'kid', '--acme-eab-key', pebble.bindingKeyFile],
        ...optionsOf(ALLOWED),
      ]);
      const isObtained = (zone: string) => (): boolean =>
        gateway.output.includes(`"certificate":"*.${zone}"`);
      const frontend = await parts.call('GET', '/frontends');
      const custom = {
        hostname: 'apps.example.com',
        frontendId: (frontend.json as { id: string }[])[0]!.id,
        authProviderIds: [],
      };
      const made = (await parts.call('POST', '/custom-frontends', custom)).json as { id: string };
      await parts.grantHostname(made.id);
      await until('a wildcard', isObtained('share.localhost'), Boolean);
      await until('that of a custom domain', isObtained('apps.example.com'), Boolean);
      const isClean = async (): Promise<readonly string[]> => [
        ...(await bind.txt('_acme-challenge.share.localhost')),
        ...(await bind.txt('apps.acme.example.net')),
        ...(await journal.list()).map(({ target }) => target),
      ];
      await until('no record is left', isClean, ({ length }) => length === 0);
      assert.equal(await gateway.stop('SIGTERM'), 0);
    } finally {
      pebble.close();
    }
  });

  it('are tried by a command, which removes its record, and follows an alias only where that is allowed', async () => {
    const check = (domain: string, delegation = ALLOWED) =>
      runCommandLine(
        ['gateway', 'dns-check', domain, '--data-dir', join(folder, 'check'), ...optionsOf(delegation)],
        {},
      );
    const own = await check('share.localhost');
    assert.match(
      own.out,
      /every name server that answers has it after .* s\nremoved: certificates for \*\.share\.localhost/,
    );
    assert.deepEqual(await bind.txt('_acme-challenge.share.localhost'), []);
    const aliased = await check('apps.example.com');
    assert.match(aliased.out, /_acme-challenge\.apps\.example\.com is an alias of apps\.acme\.example\.net/);
    for (const [domain, target] of [
      ['away.apps.example.com', 'www.example.net'],
      ['apps.example.com', 'apps.acme.example.net'],
    ]) {
      const refused = await check(domain!, 'delegation=other.example.net');
      assert.notEqual(refused.code, 0);
      assert.match(refused.err, new RegExp(`is an alias \\(CNAME\\) of ${target}, which is not below`));
      assert.deepEqual(await bind.txt(target!), []);
    }
  });
});
