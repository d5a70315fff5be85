/** The DNS providers, a row for each. A provider is a file of its own, which is loaded when it is opened. ADR 0095. */
import { isLoopbackHost } from '#base';
import type { DnsProvider } from './dns-provider.ts';
import { dnsServerOf } from './dns-server.ts';
import type { ProviderContext } from './provider-context.ts';
import type { DeclaredSettings, SettingRow } from './provider-settings.ts';

export interface DnsProviderRow extends DeclaredSettings {
  /** The end of "it needs …". */
  readonly rights: string;
  /** Rejects with `acme-options`. Connects to nothing. */
  readonly open: (context: ProviderContext) => Promise<DnsProvider>;
}

const DNS_NAME = /^(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/;

const delegation: SettingRow = {
  description: 'domains, separated by commas, to which aliases (CNAME) of challenges may lead',
  example: 'acme.example.net',
  problem: (value) =>
    value.split(',').every((name) => DNS_NAME.test(name))
      ? undefined
      : 'must be domains in lower case without a dot at the end, separated by commas',
};

const zoneId = (example: string, problem: NonNullable<SettingRow['problem']>): SettingRow => ({
  description:
    'ID of the only zone that records are written to; without it the zone of each name is looked up',
  example,
  problem,
});

const tokenIn = (variable: string, example: string) => ({
  fileSetting: 'token-file',
  variables: [variable],
  description: 'an API token',
  example,
});

export const DNS_PROVIDERS: Readonly<Record<string, DnsProviderRow>> = {
  rfc2136: {
    settings: {
      server: {
        isRequired: true,
        description: 'primary server of the zones, with a port if it is not 53',
        example: 'ns1.example.com',
        problem: (value) =>
          dnsServerOf(value) === undefined
            ? 'must be a name or an address, with or without a port'
            : undefined,
      },
      zone: {
        description:
          'the only zone that records are written to; without it the server is asked for the zone of each name',
        example: 'example.com',
        problem: (value) => (DNS_NAME.test(value) ? undefined : 'must be a domain without a dot at the end'),
      },
      delegation,
    },
    secret: {
      fileSetting: 'key-file',
      variables: ['FRONTDOOR_TSIG_KEY'],
      description: 'a shared key (TSIG)',
      example: '/etc/frontdoor/tsig.key',
    },
    rights: 'the right to change TXT records of the name, such as update-policy { grant KEY zonesub TXT; }',
    open: async (context) => new (await import('./rfc2136.ts')).Rfc2136(context),
  },
  'acme-dns': {
    settings: {
      server: {
        isRequired: true,
        description: 'address of the API of the acme-dns server',
        example: 'https://auth.example.com',
        problem: (value) => {
          const url = URL.parse(value);
          const isSecure =
            url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
          return url !== null && isSecure && url.pathname === '/' && url.username === ''
            ? undefined
            : 'must be an https URL without a path';
        },
      },
    },
    rights: 'no right',
    open: async (context) => new (await import('./acme-dns.ts')).AcmeDns(context),
  },
  cloudflare: {
    settings: {
      'zone-id': zoneId('023e105f4ecef8ad9ca31a8372d0c353', (value) =>
        /^[0-9a-f]{32}$/.test(value) ? undefined : 'must be 32 hexadecimal digits',
      ),
      delegation,
    },
    secret: tokenIn('CLOUDFLARE_API_TOKEN', '/etc/frontdoor/cloudflare.token'),
    rights: 'the permissions Zone > DNS > Edit and Zone > Zone > Read for the zone',
    open: async (context) => new (await import('./cloudflare.ts')).Cloudflare(context),
  },
  hetzner: {
    settings: { delegation },
    secret: tokenIn('HCLOUD_TOKEN', '/etc/frontdoor/hetzner.token'),
    rights: 'to be a token of the project that has the zone, with the permission Read & Write',
    open: async (context) => new (await import('./hetzner.ts')).Hetzner(context),
  },
  route53: {
    settings: {
      'zone-id': zoneId('Z1D633PJN98FT9', (value) =>
        /^[A-Z0-9]{1,32}$/.test(value) ? undefined : 'must be capital letters and digits',
      ),
      delegation,
    },
    secret: {
      fileSetting: 'credentials-file',
      variables: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
      description: 'an access key',
      example: '/etc/frontdoor/aws-credentials',
    },
    rights:
      'the permissions route53:ListHostedZonesByName, route53:ListResourceRecordSets and route53:ChangeResourceRecordSets',
    open: async (context) => new (await import('./route53.ts')).Route53(context),
  },
};
