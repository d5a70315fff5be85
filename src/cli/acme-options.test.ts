// The options of automatic certificates, each by itself. `bin/` checks which go together.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { addAcmeOptions, type AcmeCommandOptions } from './acme-options.ts';

function parsed(...args: string[]): AcmeCommandOptions {
  const command = addAcmeOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }));
  return command.parse(args, { from: 'user' }).opts();
}

test('an address, a directory, and several name servers are taken as they are', () => {
  assert.deepEqual(parsed(), {});
  assert.deepEqual(
    parsed(
      ...['--acme-email', 'ops@example.com', '--acme-directory', 'https://ca.example/dir'],
      ...['--acme-dns-server', '192.0.2.1', '[2001:db8::1]:53', '--acme-dns-hook', '/bin/hook'],
    ),
    {
      acmeEmail: 'ops@example.com',
      acmeDirectory: 'https://ca.example/dir',
      acmeDnsServer: ['192.0.2.1', '[2001:db8::1]:53'],
      acmeDnsHook: '/bin/hook',
    },
  );
});

test('what is no e-mail address, or no https URL, is refused', () => {
  for (const wrong of ['', 'ops', 'ops@', 'a b@example.com', 'a@b,c@d', 'mailto:a@b?x'])
    assert.throws(() => parsed('--acme-email', wrong), /must be an email address/, wrong);
  for (const wrong of ['', 'ca.example', 'http://ca.example/dir', 'file:///dir'])
    assert.throws(() => parsed('--acme-directory', wrong), /must be an https URL/, wrong);
});
