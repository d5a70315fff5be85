/** The mail server that options name, as the control plane's settings. */
import process from 'node:process';
import { SMTP_PASSWORD_VARIABLE, type MailOptions } from '#cli';
import { Secret } from '#base';
import type { ControlPlaneOptions } from '#control';
import { outwardDialerOf } from '#net';
import { readOptionFile, readSecretFile } from './option-file.ts';

const PORTS = { implicit: 465, starttls: 587, none: 25 } as const;

/** Returns undefined without a mail server. The variable with the password is removed from the environment. */
export function mailOf(options: MailOptions): ControlPlaneOptions['mail'] {
  delete process.env[SMTP_PASSWORD_VARIABLE];
  const { smtpHost: host, smtpFrom: from, smtpTls: tls, smtpUser: user } = options;
  if (host === undefined || from === undefined) return undefined;
  const { smtpPort: port = PORTS[tls], smtpPasswordFile: file, smtpCa } = options;
  const password =
    file === undefined
      ? options.smtpPassword
      : new Secret(readSecretFile(file, '--smtp-password-file').trimEnd());
  return {
    host,
    port,
    tls,
    login: user === undefined || password === undefined ? undefined : { user, password },
    from,
    ca: smtpCa === undefined ? undefined : readOptionFile(smtpCa, '--smtp-ca'),
    outward: outwardDialerOf(process.env),
  };
}
