/** The servers that clients of a frontdoor connect to, taken from options, the control plane and files, or guessed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bareHost, isLoopbackHost } from '#base';
import type { InstallationAnswer } from '#contract/schemas';
import { portsFileShape, type RunningProgram } from '#domain/agent-shapes';
import { loadIdentityFile } from '#net/files';

export interface NetworkTarget {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Trust anchors (PEM) to use instead of the system's. */
  readonly ca?: string | undefined;
  /** Whether its certificate is from the product's own authority, which clients trust after they enroll. */
  readonly hasOwnAuthority: boolean;
  /** Whether the address is the default, because no source gave one. */
  readonly isGuess: boolean;
  /** The option that sets the address. */
  readonly option: string;
}

export interface TargetSources {
  readonly apiUrl: string;
  readonly isApiGuess: boolean;
  readonly apiCa?: string | undefined;
  readonly edgeApi?: string | undefined;
  readonly gateway?: string | undefined;
  readonly router?: string | undefined;
  /** Response of the control plane; undefined if there is none. */
  readonly installation?: Pick<InstallationAnswer, 'edgeApiUrl' | 'routers'> | undefined;
  readonly agentDir: string;
  /** Data directory of a control plane that may run here, with other ports than usual after --any-port. */
  readonly dataDir: string;
  /** The program of that directory, if the Management API is its own. */
  readonly running?: RunningProgram | undefined;
}

/** Each router adds a check. */
const MOST_ROUTERS = 8;
const IDENTITY_FILE = 'identity.json';
const PORTS_FILE = 'ports.json';
const USUAL_PORTS = { edgeApi: 1_280, http: 8_080, edge: 3_022 };
type LocalPorts = typeof USUAL_PORTS;

/** Addresses that are not URLs are skipped; the programs that use them refuse them. */
export async function networkTargets(sources: TargetSources): Promise<readonly NetworkTarget[]> {
  const api = targetOf('Management API', sources.apiUrl, '--api', sources.isApiGuess, sources.apiCa);
  if (api === undefined) return [];
  const identity = await loadIdentityFile(join(sources.agentDir, IDENTITY_FILE)).catch(() => undefined);
  const isLocal = isLoopbackHost(api.host);
  const { installation, running } = sources;
  const recorded = isLocal || running !== undefined ? await recordedPorts(sources.dataDir) : undefined;
  const own = running !== undefined || recorded?.api === api.port ? recorded : undefined;
  const ports: LocalPorts = own ?? USUAL_PORTS;
  const isUsual = own === undefined;
  const noted = running?.edgeApiUrl === '' ? undefined : running?.edgeApiUrl;
  const edgeUrl = sources.edgeApi ?? installation?.edgeApiUrl ?? identity?.apiUrl ?? noted;
  const edge = targetOf(
    'edge API',
    edgeUrl ?? `https://${isLocal ? 'localhost' : api.host}:${ports.edgeApi}`,
    '--edge-api',
    isUsual && edgeUrl === undefined,
    identity?.caPem,
  );
  const gateway = targetOf(
    'gateway',
    sources.gateway ?? `http://${api.host}:${ports.http}`,
    '--gateway',
    isUsual && sources.gateway === undefined,
  );
  const guessed = `${isLocal ? 'localhost' : api.host}:${ports.edge}`;
  const known = (installation?.routers ?? []).filter(({ online }) => online).slice(0, MOST_ROUTERS);
  const routers =
    sources.router === undefined && known.length > 0
      ? known.map(({ name, address }) => targetOf(`router ${name}`, `tcp://${address}`, '--router', false))
      : [
          targetOf(
            'router',
            `tcp://${sources.router ?? guessed}`,
            '--router',
            isUsual && sources.router === undefined,
          ),
        ];
  // A separate check asks the control plane for the frontends of shares.
  const isGatewayKnown = installation !== undefined && sources.gateway === undefined;
  return [
    api,
    edge === undefined ? undefined : { ...edge, hasOwnAuthority: true },
    isGatewayKnown ? undefined : gateway,
    ...routers,
  ].filter((target) => target !== undefined);
}

/** Returns the ports of the last start that the data directory records, or undefined if one is unknown. */
export async function recordedPorts(
  dataDir: string,
): Promise<(LocalPorts & { readonly api: number }) | undefined> {
  try {
    const known = portsFileShape.readText(await readFile(join(dataDir, PORTS_FILE), 'utf8'));
    if (!('value' in known)) return undefined;
    const { api, edgeApi, http, edge } = known.value;
    return [api, edgeApi, http, edge].includes(0) ? undefined : known.value;
  } catch {
    return undefined;
  }
}

function targetOf(
  name: string,
  url: string,
  option: string,
  isGuess: boolean,
  ca?: string,
): NetworkTarget | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.hostname === '') return undefined;
  return { name, ...placeOf(parsed), isGuess, option, hasOwnAuthority: false, ca };
}

/** `host` is without the brackets of an IPv6 literal. */
export function placeOf(url: URL): Pick<NetworkTarget, 'host' | 'port' | 'isTls'> {
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  return { host: bareHost(url.hostname), port, isTls };
}
