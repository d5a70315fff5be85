/** Enrollment tokens of this control plane, which name its addresses. */
import type { Pki } from '../pki/mod.ts';
import type { ControlAddresses } from './control-addresses.ts';

type Claims = Omit<Parameters<Pki['mintEnrollmentJwt']>[0], 'issuer' | 'controlAddresses'>;
export type EnrollmentMint = (claims: Claims) => Promise<string>;

export function enrollmentMintOf(
  pki: Pick<Pki, 'mintEnrollmentJwt'>,
  addresses: ControlAddresses,
  ctrlAddress: string,
): EnrollmentMint {
  return async (claims) =>
    pki.mintEnrollmentJwt({ ...claims, issuer: addresses.edgeUrl, controlAddresses: [ctrlAddress] });
}
