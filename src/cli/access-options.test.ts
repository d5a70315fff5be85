import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { addAccessOptions, type AccessOptions } from './access-options.ts';

function parse(...args: readonly string[]): AccessOptions {
  const command = addAccessOptions(new Command('x'), 'the server')
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return command.parse(args, { from: 'user' }).opts();
}

test('limits are so many a second and so many at once; networks may be given again and again', () => {
  assert.deepEqual(parse(), { console: 'on', smtpTls: 'starttls' });
  const options = parse(
    ...['--limit-credentials', '0.5/10', '--limit-writes', '5000/10000', '--limit-failed-logins', '1/5'],
    ...['--allow-egress', '10.0.0.0/8:443', '--allow-egress', '[fd00::]/8:*', '--trusted-issuers', 'f.yaml'],
  );
  assert.deepEqual(options, {
    limitCredentials: { perSecond: 0.5, burst: 10 },
    limitWrites: { perSecond: 5_000, burst: 10_000 },
    limitFailedLogins: { perSecond: 1, burst: 5 },
    allowEgress: ['10.0.0.0/8:443', '[fd00::]/8:*'],
    trustedIssuers: 'f.yaml',
    console: 'on',
    smtpTls: 'starttls',
  });
});

test('trusted proxies are addresses and networks', () => {
  const { trustedProxies } = parse('--trusted-proxies', '127.0.0.1,10.0.0.0/8');
  assert.equal(trustedProxies, '127.0.0.1,10.0.0.0/8');
  assert.throws(() => parse('--trusted-proxies', 'proxy.example'), /must be addresses and networks/);
});

test('name servers for the proofs of hostnames are several addresses', () => {
  assert.deepEqual(parse('--dns-server', '192.0.2.53', '[2001:db8::53]:53').dnsServer, [
    '192.0.2.53',
    '[2001:db8::53]:53',
  ]);
});

test('the console is on or off', () => {
  assert.equal(parse('--console', 'off').console, 'off');
  for (const text of ['', 'no', 'OFF', 'false'])
    assert.throws(() => parse('--console', text), /on, off/, text);
});

test('limits that admit nobody, or make no sense, are refused', () => {
  for (const text of ['', '20', '20/', '/20', '0/20', '20/0', '-1/5', '1e3/5', '20/5.5', '99999999/1', 'x/y'])
    assert.throws(() => parse('--limit-writes', text), /must be RATE\/BURST/, text);
});
