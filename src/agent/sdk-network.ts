/**
 * The agent's network with `#sdk`: the identity (enrolled with a code if there is none, or if the control plane
 * refuses the old one), the edge API and the overlay host that uses it.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { bareHost, FrontdoorError, type Log, messageOf } from '#base';
import { directDialer, proxyText, type OutwardDialer } from '#net';
import { loadIdentityFile, saveIdentityFile, type IdentityFile } from '#net/files';
import {
  AgentApiClient,
  CONTROL_PLANES_FILE,
  EdgeApiClient,
  enrollIdentity,
  fetchBootstrapToken,
  KeptControlPlanes,
  ServiceDirectory,
  IdentityRenewal,
  type EdgeService,
  type OverlayClient,
  type OverlayHost,
} from '#sdk';
import { BACKEND_MODE_TABLE, BACKEND_MODES } from '#domain';
import type { AccessProtocol } from '#domain/agent-shapes';
import type { AgentNetwork } from './agent-network.ts';

export const AGENT_IDENTITY_FILE = 'identity.json';

export interface SdkNetworkOptions {
  readonly dataDir: string;
  /** Base address of the Management API, which only enrolling needs. */
  readonly apiUrl: string;
  /** An enrollment code, or the enrollment JWT itself. */
  readonly enrollmentToken?: string | undefined;
  /** Name of the environment; by default derived from this machine's name. */
  readonly name?: string | undefined;
  /** CA certificates (PEM) for the Management API; by default the system's. */
  readonly ca?: string | undefined;
  readonly version: string;
  /** Opens the connections to control planes and routers; by default directly. */
  readonly outward?: OutwardDialer | undefined;
  readonly log: Log;
  /** Opens the overlay side with the edge API. */
  readonly openHost: (edge: EdgeApiClient) => OverlayHost & Pick<OverlayClient, 'dial' | 'close'>;
}

/** Throws `FrontdoorError` if there is no identity and none can be obtained. */
export async function openSdkNetwork(options: SdkNetworkOptions): Promise<AgentNetwork> {
  const { dataDir, version, outward = directDialer, log } = options;
  const path = join(dataDir, AGENT_IDENTITY_FILE);
  let identity = await loadIdentity(path);
  const controlPlanes = await KeptControlPlanes.load(join(dataDir, CONTROL_PLANES_FILE), log);
  let edge: EdgeApiClient | undefined;
  if (identity !== undefined) {
    edge = new EdgeApiClient({ identity, log, version, controlPlanes, outward });
    if (options.enrollmentToken !== undefined && !(await isRefused(edge))) {
      log.info({ identityFile: path }, 'already enrolled: ignoring the enrollment token');
    } else if (options.enrollmentToken !== undefined) {
      log.warn(
        { identityFile: path },
        'the control plane refuses the identity of this agent: enrolling again',
      );
      await edge.close();
      edge = undefined;
    }
  }
  if (identity === undefined || edge === undefined) {
    identity = await enroll(options, path);
    edge = new EdgeApiClient({ identity, log, version, controlPlanes, outward });
  }
  const client = edge;
  const environmentId = commonNameOf(identity.certPem);
  const environmentName = await nameOf(client, environmentId, log);
  const agentApi = new AgentApiClient(client.connection, log);
  const renewal = new IdentityRenewal({ client, path, log });
  const host = options.openHost(client);
  const directory = new ServiceDirectory(client);
  return {
    environmentId,
    environmentName,
    get apiUrl() {
      return client.connection.apiUrl;
    },
    get clockProblem() {
      return client.connection.clockProblem;
    },
    get proxy() {
      return proxyTo(client.connection.apiUrl, outward);
    },
    host,
    dial: (share, timeoutMs, protocol) =>
      directory.dial(share, (service) => {
        const problem = protocolProblem(service, protocol);
        if (problem === undefined)
          return host.dial(service.id, timeoutMs, { isEncryptionRequired: service.encryptionRequired });
        // It may have become a share of the other protocol since it was found.
        directory.forgetAll();
        throw new FrontdoorError('invalid', 'wrong-protocol', problem);
      }),
    controlPlane: {
      reportVersion: (current) => agentApi.reportVersion(current),
      lastServiceChange: () => client.serviceUpdates(),
      bindableServices: async () =>
        (await client.services())
          .filter(({ permissions }) => permissions.includes('Bind'))
          .map(({ id, name, encryptionRequired }) => ({
            id,
            name,
            encryption: encryptionRequired ? 'offered' : undefined,
          })),
      shares: () => agentApi.hostedShares(),
      createShare: (share) => agentApi.createShare(share),
      releaseShare: (token) => agentApi.releaseShare(token),
    },
    close: async () => {
      renewal.close();
      host.close();
      await client.close();
    },
  };
}

/** Services of others have no mode, and a newer control plane may have modes that are unknown here. */
function protocolProblem({ name, tags }: EdgeService, protocol: AccessProtocol): string | undefined {
  const { backendMode } = tags;
  const mode = BACKEND_MODES.find((known) => known === backendMode);
  if (mode === undefined || (BACKEND_MODE_TABLE[mode].speaks === 'datagrams') === (protocol === 'udp'))
    return undefined;
  return protocol === 'udp'
    ? `${name} is no share of datagrams: open it without --udp`
    : `${name} is a share of datagrams: open it with --udp`;
}

async function loadIdentity(path: string): Promise<IdentityFile | undefined> {
  try {
    return await loadIdentityFile(path);
  } catch (error) {
    if (error instanceof FrontdoorError && error.kind === 'notFound') return undefined;
    throw error;
  }
}

/**
 * Returns the name of this machine with a mark of the data directory, so that two agents on it have different
 * names.
 */
export function defaultNameOf(dataDir: string): string {
  return `${hostname()}-${createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 4)}`;
}

async function enroll(options: SdkNetworkOptions, path: string): Promise<IdentityFile> {
  const { apiUrl, enrollmentToken, name = defaultNameOf(options.dataDir), ca, outward, log } = options;
  if (enrollmentToken === undefined) {
    throw new FrontdoorError(
      'unauthenticated',
      'not-enrolled',
      `this agent is not enrolled (${path} does not exist): get a code with "frontdoor agents enroll" or at the console, ` +
        'and give it by FRONTDOOR_ENROLLMENT_TOKEN or --enrollment-token-file (- for standard input)',
    );
  }
  const isJwt = enrollmentToken.split('.').length === 3;
  const jwt = isJwt
    ? enrollmentToken
    : (await fetchBootstrapToken({ apiUrl, code: enrollmentToken, ca, outward })).token;
  const { identity, id } = await enrollIdentity({ jwt, name, outward });
  await saveIdentityFile(path, identity);
  log.info({ environmentId: id, name, identityFile: path }, 'enrolled');
  return identity;
}

/** The proxy that leads to a control plane, with its source; undefined: none does. */
function proxyTo(apiUrl: string, outward: OutwardDialer): string | undefined {
  const { hostname, port } = new URL(apiUrl);
  const host = bareHost(hostname);
  const proxy = outward.proxyTo({ host, port: Number(port || 443) });
  return proxy && `${proxyText(proxy)} (${proxy.source})`;
}

/** True only if the control plane refuses. A control plane that is away does not count. */
async function isRefused(edge: EdgeApiClient): Promise<boolean> {
  try {
    await edge.session();
    return false;
  } catch (error) {
    return error instanceof FrontdoorError && ['unauthenticated', 'forbidden'].includes(error.kind);
  }
}

async function nameOf(edge: EdgeApiClient, fallback: string, log: Log): Promise<string> {
  try {
    return (await edge.currentIdentity()).name;
  } catch (error) {
    log.debug({ error: messageOf(error) }, 'the name of the environment is not known yet');
    return fallback;
  }
}

function commonNameOf(certPem: string): string {
  const name = /^CN=(.+)$/m.exec(new X509Certificate(certPem).subject)?.[1];
  if (name === undefined)
    throw new FrontdoorError(
      'invalid',
      'identity-unnamed',
      'the certificate of this agent has no common name',
    );
  return name;
}
