/** Which names a share may have as a domain. */
import { invalidValue, isZoneName, zonesOverlap } from '#domain';
import { checkNoPublicSuffix } from './registrable-domain.ts';

const RULE = 'hostname (a DNS name of two labels or more)';

/** Throws `invalid`. `ownUrls` are those of the installation's APIs. */
export async function checkDomainName(
  property: string,
  hostname: string,
  ownUrls: readonly string[],
): Promise<void> {
  if (!isZoneName(hostname)) throw invalidValue(property, RULE);
  await checkNoPublicSuffix(property, hostname);
  const own = ownUrls.map((url) => new URL(url).hostname);
  // A name without a dot is that of a machine, such as localhost.
  if (own.some((host) => host.includes('.') && zonesOverlap(host, hostname.toLowerCase())))
    throw invalidValue(property, 'hostname that is not above or below a name of this installation');
}
