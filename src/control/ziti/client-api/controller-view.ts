/** A control plane in the shape of OpenZiti's client API, which leaves out the address for routers. */
import { X509Certificate } from 'node:crypto';
import type { EdgeController } from '../../overlay/model/mod.ts';
import { isoTime } from './service-view.ts';

/** `path` is that of the edge client API. */
export function controllerView(controller: EdgeController, path: string): Record<string, unknown> {
  const { id, apiUrls, certificatePem, startedAtMs, isOnline } = controller;
  const startedAt = isoTime(startedAtMs);
  return {
    _links: { self: { href: `./controllers/${id}` } },
    id,
    name: id,
    createdAt: startedAt,
    updatedAt: startedAt,
    tags: {},
    // SDKs take the addresses of this key and this version, and dial them as they are.
    apiAddresses: { 'edge-client': apiUrls.map((url) => ({ url: `${url}${path}`, version: 'v1' })) },
    certPem: certificatePem,
    fingerprint: fingerprintOf(certificatePem),
    isOnline,
    lastJoinedAt: startedAt,
  };
}

/** SHA-1 of the DER certificate in lower-case hex. */
function fingerprintOf(certificatePem: string): string {
  return new X509Certificate(certificatePem).fingerprint.replaceAll(':', '').toLowerCase();
}
