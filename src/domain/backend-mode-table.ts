/**
 * The backend modes: what an agent serves a share with. Schemas, messages, the command line, the console and the rules for
 * gateways and tunnelers derive from these rows; `src/agent/backends/` has the code of each. The names of the modes are
 * zrok's. This file imports nothing, because the console is bundled with it. ADR 0080.
 */

export interface BackendModeRow {
  /** What a person calls such a service, in the languages of the console. */
  readonly label: { readonly en: string; readonly de: string };
  /**
   * The schemes of its targets, each with the port at which clients expect such a service; undefined: clients have no such
   * expectation, so that a target must name its port.
   */
  readonly schemes: Readonly<Record<string, number | undefined>>;
  /** What a target names after its scheme. */
  readonly names: 'server' | 'folder';
  /** Settings that follow the target as `?one&other`, with what each does. */
  readonly options?: Readonly<Record<string, { readonly en: string; readonly de: string }>>;
  /** The forms of its targets, for messages. */
  readonly forms: readonly string[];
  readonly example: string;
  /** What the service speaks. Gateways serve HTTP by name, and streams and datagrams at a port. */
  readonly speaks: 'http' | 'stream' | 'datagrams';
  /** One sentence about the mode, in Markdown. */
  readonly description: string;
}

const rows = {
  proxy: {
    label: { en: 'HTTP service', de: 'HTTP-Dienst' },
    schemes: { http: 80, https: 443, h2c: 80, h2: 443, grpc: 80, grpcs: 443 },
    names: 'server',
    forms: [
      'http://HOST[:PORT][/PATH]',
      'https://HOST[:PORT][/PATH]',
      'h2c://HOST[:PORT][/PATH]',
      'h2://HOST[:PORT][/PATH]',
      'grpc://HOST[:PORT]',
      'grpcs://HOST[:PORT]',
    ],
    example: 'http://127.0.0.1:3000',
    speaks: 'http',
    description:
      'HTTP, with an `http` or `https` target, or HTTP/2 and gRPC, with an `h2c` or `grpc` target, and `h2` or `grpcs` for TLS. A path of the target is put before the paths of requests.',
  },
  tcpTunnel: {
    label: { en: 'TCP service', de: 'TCP-Dienst' },
    schemes: { tcp: undefined },
    names: 'server',
    forms: ['tcp://HOST:PORT'],
    example: 'tcp://127.0.0.1:5432',
    speaks: 'stream',
    description: 'any protocol over TCP, with a `tcp` target.',
  },
  udpTunnel: {
    label: { en: 'UDP service', de: 'UDP-Dienst' },
    schemes: { udp: undefined },
    names: 'server',
    forms: ['udp://HOST:PORT'],
    example: 'udp://127.0.0.1:53',
    speaks: 'datagrams',
    description: 'datagrams, with a `udp` target.',
  },
  web: {
    label: { en: 'Files of a folder', de: 'Dateien eines Ordners' },
    schemes: { file: 80 },
    names: 'folder',
    options: {
      listing: {
        en: 'list the files of a folder that has no index.html',
        de: 'Dateien eines Ordners auflisten, der keine index.html hat',
      },
      'single-page': {
        en: 'serve index.html for paths without a file, as single-page applications need it',
        de: 'index.html für Pfade ohne Datei ausliefern, wie es Single-Page-Anwendungen brauchen',
      },
    },
    forms: ['file:///FOLDER'],
    example: 'file:///srv/www',
    speaks: 'http',
    description:
      'the files of a folder of the agent, with a `file` target, which may end in the options `?listing`, `?single-page` or `?listing&single-page`.',
  },
} as const satisfies Readonly<Record<string, BackendModeRow>>;

export type BackendMode = keyof typeof rows;

export const BACKEND_MODE_TABLE: Readonly<Record<BackendMode, BackendModeRow>> = rows;
export const BACKEND_MODES = Object.keys(rows) as readonly BackendMode[];

const TLS_SCHEMES: ReadonlySet<string> = new Set(['https', 'h2', 'grpcs']);
const HTTP2_SCHEMES: ReadonlySet<string> = new Set(['h2c', 'h2', 'grpc', 'grpcs']);

export interface SchemeFacts {
  /** Whether the target is reached over TLS. */
  readonly isTls: boolean;
  /** Whether its service speaks HTTP/2, and nothing else. */
  readonly isHttp2: boolean;
}

/** `target`: one that may be wrong in its other parts, or a scheme. */
export function schemeFacts(target: string): SchemeFacts {
  const scheme = schemeOf(target);
  return { isTls: TLS_SCHEMES.has(scheme), isHttp2: HTTP2_SCHEMES.has(scheme) };
}

const FOLDER_OPTIONS = Object.values(BACKEND_MODE_TABLE).flatMap(({ names, options = {} }) =>
  names === 'folder' ? Object.keys(options) : [],
);

/** A longer target is refused without being read. */
export const MAX_TARGET_LENGTH = 1_000;

/** The only mode in which a target of this scheme is served; undefined: no mode has the scheme. */
export function modeOfScheme(scheme: string): BackendMode | undefined {
  return BACKEND_MODES.find((mode) => Object.hasOwn(BACKEND_MODE_TABLE[mode].schemes, scheme));
}

/** The mode of a target that a person types, which may be wrong in its other parts. */
export function modeOfText(target: string): BackendMode | undefined {
  return modeOfScheme(schemeOf(target));
}

function schemeOf(target: string): string {
  const colon = target.indexOf(':');
  return (colon < 0 ? target : target.slice(0, colon)).toLowerCase();
}

/**
 * How clients reach such a share: at a port of its own; or at the port of HTTPS, under its names, where TLS ends at the gateway, or
 * at the service.
 */
export const INGRESS_KINDS = ['port', 'tls', 'tls-passthrough'] as const;
export type IngressKind = (typeof INGRESS_KINDS)[number];

/** The ways in which clients reach public shares of this mode; none for HTTP. Datagrams name no server. */
export function ingressKindsOf(mode: BackendMode): readonly IngressKind[] {
  const { speaks } = BACKEND_MODE_TABLE[mode];
  if (speaks === 'http') return [];
  return speaks === 'stream' ? INGRESS_KINDS : ['port'];
}

/** Whether gateways pass the bytes of a share on unread: a public one whose service does not speak HTTP. */
export function isPublicStream(shareMode: 'public' | 'private', mode: BackendMode): boolean {
  return shareMode === 'public' && BACKEND_MODE_TABLE[mode].speaks !== 'http';
}

/** `A, B or C`: the forms that a target of these modes has. */
export function targetForms(modes: readonly BackendMode[] = BACKEND_MODES): string {
  const forms = modes.flatMap((mode) => BACKEND_MODE_TABLE[mode].forms);
  return [forms.slice(0, -1).join(', '), forms.at(-1)].filter((each) => each !== '').join(' or ');
}

/** The target of a folder, given by its absolute path. Unknown options are left out. */
export function folderTarget(path: string, options: readonly string[] = []): string {
  const names = path.split('/').filter((name) => name !== '');
  const known = FOLDER_OPTIONS.filter((option) => options.includes(option));
  return `file:///${names.map(encodeURIComponent).join('/')}${known.length === 0 ? '' : `?${known.join('&')}`}`;
}
