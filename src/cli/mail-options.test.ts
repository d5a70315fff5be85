import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { addMailOptions, checkMailOptions, type MailOptions } from './mail-options.ts';

function parse(...args: readonly string[]): MailOptions {
  const command = addMailOptions(new Command('x'))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return checkMailOptions(command, command.parse(args, { from: 'user' }).opts());
}

const SERVER = ['--smtp-host', 'mail.example.com', '--smtp-from', 'frontdoor@example.com'];

test('a mail server has a sender, and TLS unless it is on this machine', () => {
  assert.equal(parse().smtpHost, undefined);
  const { smtpHost, smtpFrom, smtpTls } = parse(...SERVER);
  assert.deepEqual([smtpHost, smtpFrom, smtpTls], ['mail.example.com', 'frontdoor@example.com', 'starttls']);
  assert.equal(parse(...SERVER, '--smtp-host', '127.0.0.1', '--smtp-tls', 'none').smtpTls, 'none');
  assert.throws(() => parse(...SERVER, '--smtp-tls', 'none'), /for a mail server of this machine only/);
  assert.throws(() => parse('--smtp-host', 'mail.example.com'), /needs '--smtp-from/);
  assert.throws(() => parse(...SERVER, '--smtp-from', 'Ann <ann@example.com>'), /must be an email address/);
});

test('options of a mail server are refused without one, and a user without a password', () => {
  const wrong = [
    ['--smtp-from', 'a@example.com'],
    ['--smtp-port', '25'],
    ['--smtp-password-file', 'f'],
  ];
  for (const args of wrong) assert.throws(() => parse(...args), /need '--smtp-host/, args.join(' '));
  const user = [...SERVER, '--smtp-user', 'frontdoor'];
  assert.throws(() => parse(...user), /need each other/);
  assert.throws(() => parse(...SERVER, '--smtp-password-file', 'f'), /need each other/);
  assert.throws(
    () => parse(...user, '--smtp-password-file', 'f', '--smtp-password', 'p'),
    /cannot be used with/,
  );
  assert.equal(parse(...user, '--smtp-password', 'p').smtpPassword?.reveal(), 'p');
});
