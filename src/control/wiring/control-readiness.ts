/** What a control plane needs to serve, and the certificates that it serves with. */
import { X509Certificate } from 'node:crypto';
import { certificatesOfPem } from '#net';
import type { NamedCertificate, ReadinessCheck } from '#net/metrics';
import { firstOrganization } from '../credentials/people/mod.ts';
import type { OverlayModel } from '../overlay/model/mod.ts';
import type { Pki } from '../pki/mod.ts';
import type { Store } from '../store/mod.ts';

type AuthorityName = Pick<Pki['authorities']['issuer'], 'name' | 'parent'>;

export interface ReadinessParts {
  readonly store: Pick<Store, 'db'>;
  readonly model: Pick<OverlayModel, 'routerCount'>;
  /** Routers that are connected to this control plane or to another one over the same database. */
  readonly hasOnlineRouter: () => boolean;
}

/** An installation without routers serves its APIs, so that the first router can be made. */
export function controlReadiness({ store, model, hasOnlineRouter }: ReadinessParts): ReadinessCheck[] {
  return [
    {
      name: 'database',
      isReady: async () => {
        await firstOrganization(store.db);
        return true;
      },
    },
    { name: 'routers', isReady: () => model.routerCount === 0 || hasOnlineRouter() },
  ];
}

/** Those of the installation's own authority, and the one of the Management API. */
export function controlCertificates(
  pki: Pick<Pki, 'authorities' | 'edgeServer' | 'controlServer'>,
  apiCertPem: string | undefined,
): NamedCertificate[] {
  const { bundle, issuer } = pki.authorities;
  const named: readonly (readonly [string, X509Certificate | undefined])[] = [
    ...bundle.map((one) => [authorityName(one, issuer), one.certificate] as const),
    ['edge API', new X509Certificate(pki.edgeServer.leafPem)],
    ['control channel', new X509Certificate(pki.controlServer.leafPem)],
    ['Management API', apiCertPem === undefined ? undefined : certificatesOfPem(apiCertPem)[0]],
  ];
  return named.flatMap(([name, certificate]) => (certificate === undefined ? [] : [{ name, certificate }]));
}

/** Those beside the ones in use are named by their rows: `root-ca-2`. */
function authorityName(one: AuthorityName, issuer: AuthorityName): string {
  if (one.name === issuer.name) return 'intermediate authority';
  return one.name === issuer.parent ? 'root authority' : one.name;
}
