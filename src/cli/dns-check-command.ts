/** `frontdoor gateway dns-check`: whether the TXT records of challenges can be created, seen and removed with these options. */
import { Command, InvalidArgumentError } from 'commander';
import { addDnsOptions, type DnsCommandOptions } from './acme-options.ts';

export interface DnsCheckCommandOptions extends DnsCommandOptions {
  readonly dataDir: string;
}

const DOMAIN = /^(?=.{1,230}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/;

export function dnsCheckCommand(
  run: (domain: string, options: DnsCheckCommandOptions) => Promise<void>,
): Command {
  const command = new Command('dns-check')
    .description('create, look up and remove a TXT record, as an automatic certificate for *.DOMAIN would')
    .argument('<domain>', 'zone of shares, or a custom domain; for example share.example.com', domain)
    .option(
      '--data-dir <dir>',
      'data directory of the gateway, for its acme-dns accounts',
      'frontdoor-gateway',
    );
  return addDnsOptions(command)
    .addHelpText(
      'after',
      '\nGive the options of your gateway. No certificate authority is involved, and a running gateway is not disturbed. The\n' +
        'data directory of "frontdoor up" has that of its gateway in the folder "gateway".\n\n' +
        'Example:\n  frontdoor gateway dns-check share.example.com --acme-dns-provider cloudflare \\\n' +
        '    --acme-dns-setting token-file=/etc/frontdoor/cloudflare.token\n',
    )
    .action((name: string, options: DnsCheckCommandOptions) => run(name, options));
}

function domain(text: string): string {
  const name = text.toLowerCase().replace(/^\*\.|\.$/g, '');
  if (DOMAIN.test(name)) return name;
  throw new InvalidArgumentError('must be a domain, such as share.example.com.');
}
