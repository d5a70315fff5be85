/**
 * The router's configuration file: the sections that this router acts on, checked whole, every problem at once.
 * A section or key that it cannot act on yet is refused by name, never ignored; a key that nobody knows is warned of.
 */
import { readFileSync } from 'node:fs';
import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';
import { resolve } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { FrontdoorError, messageOf } from '#base';
import type { OverlayAddress } from '#wire';
import { ConfigReader, type ConfigProblem } from './config-reader.ts';
import { substituteEnvironment } from './environment-substitution.ts';

export interface RouterConfig {
  readonly file: string;
  readonly ctrl: {
    readonly endpoints: readonly OverlayAddress[];
    /** Local IP address to dial controllers from. */
    readonly bind: string | undefined;
    /** How long a controller may take to answer. */
    readonly requestTimeoutMs: number;
    readonly connectTimeoutMs: number;
    readonly heartbeat: { readonly sendIntervalMs: number; readonly closeAfterMs: number };
  };
  /** PEM texts (`pem:…` or from `-----BEGIN`) or paths, as `loadRouterIdentity` takes them. */
  readonly identity: {
    readonly cert: string;
    readonly key: string;
    readonly serverCert: string | undefined;
    readonly serverKey: string | undefined;
    readonly ca: string;
  };
  /** What the router's certificates are asked for with. */
  readonly csr: CsrConfig;
  readonly edgeListener: EdgeListenerConfig | undefined;
  readonly warnings: readonly ConfigProblem[];
}

export interface CsrConfig {
  readonly subject: {
    readonly country?: string;
    readonly province?: string;
    readonly locality?: string;
    readonly organization?: string;
    readonly organizationalUnit?: string;
  };
  /** DNS names and addresses: what others dial this router by. */
  readonly hosts: readonly string[];
  readonly uris: readonly string[];
  readonly emails: readonly string[];
}

export interface EdgeListenerConfig {
  readonly address: OverlayAddress;
  readonly advertise: { readonly host: string; readonly port: number };
  readonly helloTimeoutMs: number;
}

/** What the file may refer to: variables by name, addresses by network interface. */
export interface ConfigSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly interfaces: Readonly<Record<string, readonly Pick<NetworkInterfaceInfo, 'address'>[] | undefined>>;
}

type ParsedRouterConfig =
  | { readonly config: RouterConfig; readonly problems: readonly [] }
  | { readonly config: undefined; readonly problems: readonly ConfigProblem[] };

const SUBJECT_FIELDS = ['country', 'province', 'locality', 'organization', 'organizationalUnit'] as const;

/** @throws FrontdoorError `invalid` that lists every problem with line and path, or `notFound`. */
export function loadRouterConfig(
  file: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): RouterConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new FrontdoorError('notFound', 'config-unreadable', `cannot read ${file}: ${messageOf(cause)}`, {
      cause,
    });
  }
  const { config, problems } = parseRouterConfig(text, file, {
    environment,
    interfaces: networkInterfaces(),
  });
  if (config === undefined) {
    const lines = problems.map(
      ({ line, path, message }) => `  line ${line}: ${path === '' ? '' : `${path}: `}${message}`,
    );
    throw new FrontdoorError('invalid', 'config-invalid', `${file} has problems:\n${lines.join('\n')}`);
  }
  return config;
}

export function parseRouterConfig(
  text: string,
  file: string,
  around: ConfigSurroundings,
): ParsedRouterConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, version: '1.1' });
  const refused = (problems: readonly ConfigProblem[]): ParsedRouterConfig => ({
    config: undefined,
    problems,
  });
  if (document.errors.length > 0) {
    return refused(
      document.errors.map((error) => ({
        path: '',
        line: lines.linePos(error.pos[0]).line,
        message: error.message.split('\n')[0]!,
      })),
    );
  }
  let root: unknown;
  try {
    root = substituteEnvironment(document.toJS({ maxAliasCount: 100 }) as unknown, around.environment);
  } catch (error) {
    return refused([{ path: '', line: 1, message: messageOf(error) }]);
  }
  const reader = new ConfigReader(root, document, lines);
  if (typeof root !== 'object' || !reader.map(''))
    return refused([{ path: '', line: 1, message: 'must be a map' }]);
  const config = readConfig(reader, file, around);
  const { problems } = reader;
  return problems.length > 0 ? refused(problems) : { config, problems: [] };
}

function readConfig(reader: ConfigReader, file: string, around: ConfigSurroundings): RouterConfig {
  if (reader.value('v') !== 3)
    reader.problem('v', `must be 3, not ${JSON.stringify(reader.value('v') ?? null)}`);
  const ctrl = readCtrl(reader, around);
  const identity = readIdentity(reader);
  const csr = readCsr(reader);
  const edgeListener = readListeners(reader);
  const csrPath = reader.has('csr') ? 'csr' : 'edge.csr';
  if (edgeListener !== undefined && reader.has(csrPath) && !namesAnything(csr)) {
    reader.problem(csrPath, 'needs at least one entry in sans: who dials the listener checks its name');
  }
  return { file: resolve(file), ctrl, identity, csr, edgeListener, warnings: reader.warnings };
}

function readCtrl(reader: ConfigReader, around: ConfigSurroundings): RouterConfig['ctrl'] {
  if (!reader.has('ctrl')) reader.problem('ctrl', 'is required');
  else if (reader.map('ctrl') && !reader.has('ctrl.endpoint') && !reader.has('ctrl.endpoints')) {
    reader.problem('ctrl', 'endpoint or endpoints is required');
  }
  reader.map('ctrl.options');
  reader.map('ctrl.heartbeats');
  const paths = reader.has('ctrl.endpoint')
    ? ['ctrl.endpoint']
    : reader.list('ctrl.endpoints').map((_item, i) => `ctrl.endpoints[${i}]`);
  return {
    endpoints: paths.map((path) => reader.address(path)).filter((it) => it !== undefined),
    bind: readInterface(reader, 'ctrl.bind', around),
    requestTimeoutMs: reader.duration('ctrl.defaultRequestTimeout', 5_000, 1),
    connectTimeoutMs: readConnectTimeout(reader, 'ctrl.options'),
    heartbeat: {
      sendIntervalMs: reader.duration('ctrl.heartbeats.sendInterval', 10_000, 1),
      closeAfterMs: reader.duration('ctrl.heartbeats.closeUnresponsiveTimeout', 30_000),
    },
  };
}

/** `connectTimeout` wins over its older form in milliseconds. */
function readConnectTimeout(reader: ConfigReader, options: string): number {
  const older = reader.integer(`${options}.connectTimeoutMs`, 5_000, 30, 60_000);
  return reader.duration(`${options}.connectTimeout`, older, 30, 60_000);
}

/** The name of a network interface, whose first address is taken, or an address of one. */
function readInterface(
  reader: ConfigReader,
  path: string,
  { interfaces }: ConfigSurroundings,
): string | undefined {
  const text = reader.text(path);
  if (text === undefined) return undefined;
  const named = interfaces[text]?.[0]?.address;
  if (named !== undefined) return named;
  const isAddress = Object.values(interfaces).some((all) => all?.some(({ address }) => address === text));
  if (isAddress) return text;
  reader.problem(path, `no network interface of this machine has the name or address "${text}"`);
  return undefined;
}

function readIdentity(reader: ConfigReader): RouterConfig['identity'] {
  if (!reader.has('identity')) reader.problem('identity', 'is required');
  const isMap = reader.map('identity');
  const required = (key: string): string =>
    isMap ? plainPath(reader, `identity.${key}`, reader.requiredText(`identity.${key}`)) : '';
  const optional = (key: string): string | undefined => {
    const text = reader.text(`identity.${key}`);
    return text === undefined ? undefined : plainPath(reader, `identity.${key}`, text);
  };
  const identity = {
    cert: required('cert'),
    key: required('key'),
    serverCert: optional('server_cert'),
    serverKey: optional('server_key'),
    ca: required('ca'),
  };
  if (identity.serverKey !== undefined && identity.serverCert === undefined) {
    reader.problem('identity.server_key', 'belongs to a server_cert, which is missing');
  }
  return identity;
}

/** `file:` forms become paths; inline PEM stays; other places, such as key engines, are refused. */
function plainPath(reader: ConfigReader, path: string, text: string): string {
  if (text.startsWith('pem:') || text.trimStart().startsWith('-----BEGIN')) return text;
  if (text.startsWith('file:')) return text.replace(/^file:(?:\/\/(?=\/))?/, '');
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(text)?.[1];
  if (scheme !== undefined)
    reader.problem(path, `${scheme}: is not supported; supported: a path, file: and pem:`);
  return text;
}

function readCsr(reader: ConfigReader): CsrConfig {
  reader.map('edge');
  const path = reader.has('csr') ? 'csr' : 'edge.csr';
  reader.map(path);
  reader.map(`${path}.sans`);
  if (!reader.has(path)) reader.warning(path, 'is missing: this router cannot enroll');
  const subject = SUBJECT_FIELDS.map((field) => [field, reader.text(`${path}.${field}`)] as const);
  return {
    subject: Object.fromEntries(subject.filter(([, text]) => text !== undefined)),
    hosts: [...reader.texts(`${path}.sans.dns`), ...reader.texts(`${path}.sans.ip`)],
    uris: reader.texts(`${path}.sans.uri`),
    emails: reader.texts(`${path}.sans.email`),
  };
}

/** True when certificates asked for with it can be checked against a name. */
export function namesAnything({ hosts, uris, emails }: CsrConfig): boolean {
  return hosts.length + uris.length + emails.length > 0;
}

function readListeners(reader: ConfigReader): EdgeListenerConfig | undefined {
  const found = reader.list('listeners').map((_item, i) => readListener(reader, i));
  if (reader.has('edge') && found.length === 0) reader.warning('edge', 'no listener: SDKs cannot connect');
  return found.find((listener) => listener !== undefined);
}

function readListener(reader: ConfigReader, index: number): EdgeListenerConfig | undefined {
  const path = `listeners[${index}]`;
  if (!reader.map(path)) {
    if (!reader.has(path)) reader.problem(path, 'must be a map');
    return undefined;
  }
  const binding = reader.requiredText(`${path}.binding`);
  if (binding !== 'edge') {
    if (binding !== '') {
      reader.problem(`${path}.binding`, `"${binding}" is not supported by this version; supported: edge`);
    }
    return undefined;
  }
  if (index > 0) reader.problem(`${path}.binding`, 'more than one listener is not supported by this version');
  if (!reader.has('edge')) reader.problem(`${path}.binding`, 'an edge listener needs the edge section');
  reader.map(`${path}.options`);
  const address = reader.address(reader.has(`${path}.address`) ? `${path}.address` : `${path}.bind`);
  const inOptions = reader.has(`${path}.options.advertise`);
  const advertise = reader.hostPort(`${path}.${inOptions ? 'options.advertise' : 'advertise'}`);
  const helloTimeoutMs = readConnectTimeout(reader, `${path}.options`);
  return address === undefined || advertise === undefined
    ? undefined
    : { address, advertise, helloTimeoutMs };
}
