/** Certificates that clients of Caddy had to present. */
import type { SourceTable } from '../source-table.ts';
import { covers } from './caddy-scope.ts';
import { CADDY_GUARD, type CaddySite } from './caddy-site.ts';

const LINE = /.{1,64}/g;
const USUAL_MODE = 'require_and_verify';

/** The configuration of Caddy has certificates without lines. */
export function pemOfBase64(text: string): string {
  const lines = text.replace(/\s+/g, '').match(LINE) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** Carries over a policy that verifies certificates by authorities of the file. Every other one closes the share. */
export function addClientCertificates(server: SourceTable, site: CaddySite): void {
  for (const policy of server.tables('tls_connection_policies')) {
    const wanted = policy.table('client_authentication');
    if (wanted === undefined) continue;
    const match = policy.table('match');
    const names = match?.keys.join() === 'sni' ? match.texts('sni') : undefined;
    const { host } = site;
    if (
      names !== undefined &&
      (host === undefined || !names.some((name) => covers(name.toLowerCase(), host)))
    )
      continue;
    const ca = wanted.table('ca');
    const table = ca ?? wanted;
    const isVerified = (wanted.text('mode') ?? USUAL_MODE) === USUAL_MODE;
    const isPlain = wanted.keys.every((key) => ['mode', 'ca', 'trusted_ca_certs'].includes(key));
    const isInline = ca === undefined || ca.text('provider') === 'inline';
    const authorities = isInline ? table.texts('trusted_ca_certs').map(pemOfBase64) : [];
    site.onShare((share) => {
      if (isVerified && isPlain && authorities.length > 0 && share.clientAuthorities.length === 0)
        share.clientAuthorities.push(...authorities);
      else
        share.guardByHand(
          policy,
          'client_authentication',
          CADDY_GUARD,
          'Caddy wanted a certificate of clients',
        );
    });
  }
}
