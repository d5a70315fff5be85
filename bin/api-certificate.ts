/** The name and the certificate of the Management API of `up --one-port`: of its own files, or of the gateway (`--api-name`). */
import { X509Certificate } from 'node:crypto';
import type { ControlPlane } from '#control';
import type { CertificateStore } from '#gateway';
import type { AutomaticCertificates } from './gateway-demand.ts';

export interface ApiCertificateOptions {
  readonly apiName?: string | undefined;
  readonly apiTls?: { readonly cert: string } | undefined;
}

/** Wildcards included. */
export function apiNamesOf({ apiName, apiTls }: ApiCertificateOptions): readonly string[] {
  if (apiName !== undefined) return [apiName];
  if (apiTls === undefined) return [];
  const { subjectAltName = '' } = new X509Certificate(apiTls.cert);
  return Array.from(subjectAltName.matchAll(/DNS:([^\s,]+)/g), ([, name = '']) => name);
}

/** Gives the gateway's certificate of the name to the Management API, now and whenever there is another one. */
export function followApiCertificate(
  name: string,
  control: Pick<ControlPlane, 'setApiTls'>,
  certificates: CertificateStore,
  automatic: AutomaticCertificates | undefined,
): void {
  const given: { cert?: string } = {};
  const follow = (): void => {
    const pair = certificates.providedFor(name);
    if (pair === undefined || pair.cert === given.cert) return;
    given.cert = pair.cert;
    control.setApiTls(pair);
  };
  certificates.onChange(follow);
  automatic?.source.follow(({ outcome }) => {
    if (outcome === 'obtained') follow();
  });
  follow();
}
