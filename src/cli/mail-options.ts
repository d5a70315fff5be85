/** Options of the control plane about the server that sends its mail. */
import { Option, type Command } from 'commander';
import { isLoopbackHost, type Secret } from '#base';
import { emailAddress, secretText, wholeNumber } from './value-parser.ts';

export const MAIL_TLS = ['implicit', 'starttls', 'none'] as const;

export interface MailOptions {
  readonly smtpHost?: string;
  /** Default: 465 for implicit, 587 for starttls, 25 for none. */
  readonly smtpPort?: number;
  readonly smtpTls: (typeof MAIL_TLS)[number];
  readonly smtpUser?: string;
  readonly smtpPassword?: Secret;
  /** A file with the password. */
  readonly smtpPasswordFile?: string;
  /** The address of the sender. */
  readonly smtpFrom?: string;
  readonly smtpCa?: string;
}

/** The environment variable for the password, since every user of the machine can see arguments. */
export const SMTP_PASSWORD_VARIABLE = 'FRONTDOOR_SMTP_PASSWORD';
const MAX_PORT = 65_535;

export function addMailOptions(command: Command): Command {
  return command
    .option(
      '--smtp-host <host>',
      'mail server for notifications by email, which are possible with it only; for example mail.example.com',
    )
    .addOption(
      new Option(
        '--smtp-port <port>',
        'port of the mail server; default: 465 with --smtp-tls implicit, 587 with starttls, 25 with none; for example 587',
      ).argParser(wholeNumber(1, MAX_PORT)),
    )
    .addOption(
      new Option(
        '--smtp-tls <mode>',
        'implicit: TLS from the first byte; starttls: TLS before anything is sent, which is required; none: no TLS, only for a mail server of this machine',
      )
        .choices(MAIL_TLS)
        .default('starttls'),
    )
    .option('--smtp-user <name>', 'user at the mail server; for example frontdoor')
    .addOption(
      new Option(
        '--smtp-password <password>',
        `password of --smtp-user. Other users can see arguments: use ${SMTP_PASSWORD_VARIABLE} or --smtp-password-file; for example correct-horse-battery`,
      )
        .env(SMTP_PASSWORD_VARIABLE)
        .argParser(secretText),
    )
    .addOption(
      new Option(
        '--smtp-password-file <file>',
        'file with the password of --smtp-user; for example smtp.password',
      ).conflicts('smtpPassword'),
    )
    .addOption(
      new Option(
        '--smtp-from <address>',
        'email address that notifications are sent from; for example frontdoor@example.com',
      ).argParser(emailAddress),
    )
    .option(
      '--smtp-ca <file>',
      'authorities (PEM) that the certificate of the mail server is checked with; default: those of the system; for example mail-ca.pem',
    );
}

/** Refuses what would not send, or would send passwords in clear. */
export function checkMailOptions<T extends MailOptions>(command: Command, options: T): T {
  const { smtpHost: host, smtpFrom: from, smtpUser: user, smtpTls: tls } = options;
  const proofs = [options.smtpPassword, options.smtpPasswordFile].filter((each) => each !== undefined);
  if (host === undefined) {
    const given = user ?? from ?? options.smtpPort ?? options.smtpCa;
    if (given !== undefined || options.smtpPasswordFile !== undefined)
      command.error("error: options of the mail server need '--smtp-host <host>'");
    return options;
  }
  if (from === undefined) command.error("error: option '--smtp-host <host>' needs '--smtp-from <address>'");
  if (tls === 'none' && !isLoopbackHost(host))
    command.error(
      "error: option '--smtp-tls <mode>' can be none for a mail server of this machine only: its connections are readable on the way",
    );
  if ((user === undefined) !== (proofs.length === 0))
    command.error("error: options '--smtp-user <name>' and '--smtp-password-file <file>' need each other");
  return options;
}
