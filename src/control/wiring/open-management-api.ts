/** Opens the Management API, with the token endpoint and the console. */
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { NameRecordLookups } from '#net/names';
import { ConsoleApp } from '../console/app/mod.ts';
import { consoleOf } from '../console/mod.ts';
import { type ApiTls, createManagementApi } from '../shares/operations/mod.ts';
import { TrustedIssuers } from '../credentials/oauth/mod.ts';
import { enrollmentMintOf, type EnrollmentMint } from './enrollment-mint.ts';
import type { EdgeSide } from './open-edge-api.ts';
import type { ModelParts } from './open-model.ts';
import type { OverlaySide } from './open-overlay.ts';
import { TRUST_DOMAIN, type Storage } from './open-storage.ts';
import { listening } from './opened-port.ts';
import { followOwnApiTls, ownApiTls } from './own-api-certificate.ts';
import type { ApiOpening, Opening } from './opening.ts';

export interface ManagementSide {
  readonly api: FastifyInstance;
  /** Undefined without a console. */
  readonly app: ConsoleApp | undefined;
  readonly mint: EnrollmentMint;
}

export async function openManagementSide(
  opening: ApiOpening,
  { store, secrets, pki, sealing }: Storage,
  { model, catalog, replicas }: ModelParts,
  { overlay, ctrlAddress, status, counts, edgeRouters }: OverlaySide,
  { egress, login, gatewayCommands }: EdgeSide,
): Promise<ManagementSide> {
  const { options, closers, addresses, apis, notifications, eventExport, intake, clock, log } = opening;
  const issuers = trustedIssuersOf(opening, egress);
  void issuers?.warmUp();
  const app =
    (options.hasConsole ?? true) ? await ConsoleApp.open({ log, version: options.version }) : undefined;
  const mint = enrollmentMintOf(pki, addresses, ctrlAddress);
  const baseUrl = (): string => addresses.baseUrl;
  const { ownApiAuthorityFile: authorityFile } = options;
  const own = options.apiTls === undefined && authorityFile !== undefined;
  const api = await createManagementApi({
    issuers,
    peerUrls: () => replicas?.apiUrls ?? [],
    store,
    secrets,
    model,
    catalog,
    status,
    counts,
    fabric: overlay.fabric,
    gatewayCommands,
    edgeRouters,
    intake,
    log,
    clock,
    providers: login.providers,
    baseUrl,
    authUrl: baseUrl,
    pathPrefix: options.publicApiUrl?.pathPrefix ?? '',
    frontendUrls: options.frontendUrls,
    installation: {
      version: options.version,
      securePort: () => options.securePort?.(),
      edgeApiUrl: () => addresses.edgeUrl,
      controlPlanes: () => replicas?.controlPlanes ?? [{ apiUrl: baseUrl(), silentSinceMs: undefined }],
      egress,
      names: new NameRecordLookups({ servers: options.dnsServers ?? [] }),
    },
    sealing,
    notifications,
    eventExport,
    authorities: { trustDomain: TRUST_DOMAIN, changed: () => pki.renewServers() },
    mintEnrollmentJwt: mint,
    limits: options.limits,
    trustedProxies: options.trustedProxies,
    tls: own ? await ownApiTls(pki, authorityFile) : (options.apiTls ?? (await standInOf(opening, pki))),
    console: app && consoleOf({ store, secrets, clock, log, login, own: () => addresses.console, app }),
  });
  if (own) followOwnApiTls(api, pki, authorityFile, log);
  closers.push(() => api.close());
  apis.watch('management', api.server);
  await listening('--api-port', options.apiPort, () =>
    api.listen({ host: options.listenHost, port: options.apiPort }),
  );
  addresses.managementApiListens((api.server.address() as AddressInfo).port);
  return { api, app, mint };
}

/** For an API whose certificate comes later. */
async function standInOf(
  { options: { apiName, zone } }: Opening,
  pki: Storage['pki'],
): Promise<ApiTls | undefined> {
  if (apiName === undefined) return undefined;
  const { certPem: cert, keyPem: key } = await pki.frontendServer(zone);
  return { cert, key };
}

/** Without trusted issuers, nothing is read from a token before it is verified. */
function trustedIssuersOf(
  { options: { trustedIssuers = [] }, clock, log }: Opening,
  egress: EdgeSide['egress'],
): TrustedIssuers | undefined {
  if (trustedIssuers.length === 0) return undefined;
  return new TrustedIssuers({
    issuers: trustedIssuers,
    fetch: (url) => egress.get(url),
    clock,
    log,
  });
}
