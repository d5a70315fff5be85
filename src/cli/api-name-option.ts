/** The option that names the Management API where it has the gateway's certificates. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { isDomainName } from '#domain';

export interface ApiNameOptions {
  readonly apiName?: string;
  readonly apiCert?: string;
  readonly ownApiCert?: string;
  readonly onePort?: boolean;
  readonly acmeEmail?: string;
  readonly tlsCert?: string;
  readonly tlsDir?: string;
}

export function apiNameOption(): Option {
  return new Option(
    '--api-name <name>',
    'DNS name of the Management API and the console at the port of --https-port, with the certificates of the gateway instead of --api-cert; ' +
      'needs --one-port, and --acme-email or a certificate for the name; for example api.share.example.com',
  ).argParser((text) => {
    if (isDomainName(text)) return text.toLowerCase();
    throw new InvalidArgumentError('must be a DNS name.');
  });
}

/** Refuses a name that would never have a certificate. */
export function checkApiName(command: Command, options: ApiNameOptions): void {
  const { apiName, apiCert, ownApiCert, onePort, acmeEmail, tlsCert, tlsDir } = options;
  if (apiName === undefined) return;
  const refuse = (why: string): void => command.error(`error: option '--api-name <name>' ${why}`);
  if (apiCert !== undefined) refuse("cannot be used with '--api-cert <file>'");
  if (ownApiCert !== undefined) refuse("cannot be used with '--own-api-cert <file>'");
  if (onePort !== true) refuse("needs '--one-port'");
  if (acmeEmail === undefined && tlsCert === undefined && tlsDir === undefined)
    refuse("needs a certificate: give '--acme-email <address>', '--tls-cert <file>' or '--tls-dir <dir>'");
}
