/** Options of automatic certificates, for commands that run a gateway. `bin/` checks which go together. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { emailAddress } from './value-parser.ts';

/** What creates and removes the TXT records of challenges. */
export interface DnsCommandOptions {
  readonly acmeDnsProvider?: string;
  /** `name=value` each. */
  readonly acmeDnsSetting?: readonly string[];
  readonly acmeDnsHook?: string;
  readonly acmeDnsServer?: readonly string[];
}

export interface AcmeCommandOptions extends DnsCommandOptions {
  readonly acmeEmail?: string;
  readonly acmeDirectory?: string;
  /** A file, as the following two. */
  readonly acmeCa?: string;
  readonly acmeEabKid?: string;
  readonly acmeEabKey?: string;
}

/** The directory of the certificate authority that `--acme-directory` replaces. */
export const LETS_ENCRYPT = 'https://acme-v02.api.letsencrypt.org/directory';

export function addAcmeEmailOption(command: Command): Command {
  return command.addOption(
    new Option(
      '--acme-email <address>',
      "obtain certificates automatically (ACME), with this contact address; you thereby agree to the certificate authority's terms of service; for example ops@example.com",
    ).argParser(emailAddress),
  );
}

export function addAcmeOptions(command: Command): Command {
  const named = addAcmeEmailOption(command)
    .addOption(
      new Option(
        '--acme-directory <url>',
        "directory of the certificate authority; default: Let's Encrypt; for example https://ca.example/acme/acme/directory",
      ).argParser(httpsUrl),
    )
    .option(
      '--acme-ca <file>',
      'authorities (PEM) that the directory is verified with, for a private one; default: the system authorities; for example ca.pem',
    )
    .option(
      '--acme-eab-kid <id>',
      'key ID of the account at the authority (external account binding); needs --acme-eab-key; for example kid-1',
    )
    .option(
      '--acme-eab-key <file>',
      'file with the key for --acme-eab-kid, in base64url, readable only by its owner; for example eab.key',
    );
  return addDnsOptions(named);
}

export function addDnsOptions(command: Command): Command {
  return command
    .option(
      '--acme-dns-provider <name>',
      'DNS provider at which TXT records are created and removed (rfc2136, acme-dns, cloudflare, hetzner or route53): each zone then gets a wildcard certificate, and share names do not appear in public certificate logs; for example cloudflare',
    )
    .option(
      '--acme-dns-setting <name=value...>',
      'settings of that provider, such as the file with its token; for example token-file=/etc/frontdoor/cloudflare.token',
    )
    .option(
      '--acme-dns-hook <program>',
      'program that creates and removes TXT records, for other DNS providers, called as "PROGRAM present|cleanup NAME VALUE"; for example /usr/local/bin/dns-hook',
    )
    .addOption(
      new Option(
        '--acme-dns-server <address...>',
        'addresses of name servers that show whether the record is visible; default: those of the zone; for example 192.0.2.53',
      ),
    );
}

function httpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  throw new InvalidArgumentError('must be an https URL.');
}
