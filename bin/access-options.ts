/** Turns the access options of the command line into the control plane's: reads the issuers' file, checks networks. */
import { definedFields } from '#base';
import type { AccessOptions } from '#cli';
import { loadTrustedIssuers, parsePublicApiUrl, type ControlPlaneOptions } from '#control';
import { parseAllowedNetworks } from '#domain';
import { checkedDnsServers } from './dns-servers.ts';
import { mailOf } from './mail-options.ts';
import { proxiesOf } from './proxy-options.ts';

export type AccessSettings = Pick<
  ControlPlaneOptions,
  | 'limits'
  | 'trustedIssuers'
  | 'trustedProxies'
  | 'allowEgress'
  | 'dnsServers'
  | 'mail'
  | 'publicApiUrl'
  | 'edgeManagement'
  | 'hasConsole'
  | 'firstOperatorEmail'
>;

/** Rejects with a FrontdoorError that names the option and every problem. */
export async function accessOf(options: AccessOptions): Promise<AccessSettings> {
  const { publicApiUrl, trustedIssuers, allowEgress, limitCredentials, limitWrites, limitFailedLogins } =
    options;
  const { limitUnproven, limitUnprovenPerAddress } = options;
  return {
    edgeManagement: options.edgeManagement === true,
    hasConsole: options.console === 'on',
    firstOperatorEmail: options.adminEmail,
    publicApiUrl: publicApiUrl === undefined ? undefined : parsePublicApiUrl(publicApiUrl),
    trustedIssuers: trustedIssuers === undefined ? [] : await loadTrustedIssuers(trustedIssuers),
    trustedProxies: proxiesOf(options),
    dnsServers: checkedDnsServers('--dns-server', options.dnsServer ?? []),
    allowEgress: parseAllowedNetworks('--allow-egress', allowEgress ?? []),
    mail: mailOf(options),
    limits: {
      ...definedFields({
        credentials: limitCredentials,
        writes: limitWrites,
        failedLogins: limitFailedLogins,
      }),
      maxUnproven: limitUnproven,
      maxUnprovenPerAddress: limitUnprovenPerAddress,
    },
  };
}
