/**
 * The protocol of the agent's unix socket: one JSON object per line, each request answered by one line with the same
 * `id`. Shapes and their checks only; the agent serves the socket and the command line dials it. A request with an
 * unknown field is refused, because the field may restrict what is asked; unknown fields of answers are ignored.
 */
import { ERROR_KINDS, utf8, type ErrorKind } from '#base';
import { compileReader, Part, Shape, Type, type ShapeOf } from '#base/shapes';
import { INGRESS_KINDS } from '../backend-mode-table.ts';
import { upstreamChangeSchema } from '../upstream/share-upstream.ts';
import { hostedDomainSchema, MAX_DOMAINS_OF_SHARE } from './agent-shares.ts';
import { ACCESS_PROTOCOLS } from './own-files.ts';

const {
  closed,
  count,
  flag,
  lossyField,
  lossyList,
  nullable,
  oneOf,
  orElse,
  port,
  refined,
  someText,
  text,
  texts,
  variants,
  withDefault,
  word,
} = Part;

export const AGENT_SOCKET_FILE = 'agent.sock';
/** A longer request closes the connection. */
export const AGENT_SOCKET_MAX_REQUEST_BYTES = 65_536;
/** The command line refuses a longer response. */
export const AGENT_SOCKET_MAX_ANSWER_BYTES = 16 * 1024 * 1024;

const FORMAT = 1;
const FORMAT_FIELD = 'v';

/** Number of the request, from 1; 0 for one whose number cannot be read. */
const id = orElse(Type.Integer(), 0);
const readId = compileReader(Type.Object({ id }));

const shareRequestSchema = refined(
  closed({
    id,
    mode: oneOf('public', 'private'),
    /** As typed; the agent parses it. */
    target: text(),
    name: Type.Optional(text()),
    /** Environments that may dial a private share. */
    grants: withDefault(texts(), []),
    /** Settings that the share gets; it keeps its others. */
    upstream: Type.Optional(upstreamChangeSchema),
    /** The port of a public share that does not speak HTTP; absent: it keeps its own, or gets a free one. */
    ingressPort: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
    /** How clients reach it; absent: as before, or at a port. */
    ingress: Type.Optional(oneOf(...INGRESS_KINDS)),
    /** Domains that a public share gets; it keeps its others. */
    domains: Type.Optional(Type.Array(text(), { maxItems: MAX_DOMAINS_OF_SHARE })),
  }),
  {
    rule: 'a private share, for only a private share has grants',
    check: (request) => {
      const { mode, grants } = request as { mode: string; grants: readonly string[] };
      return mode === 'private' || grants.length === 0;
    },
  },
);

export const agentRequestShape = new Shape(
  variants('op', {
    share: shareRequestSchema,
    status: closed({ id }),
    release: closed({ id, name: someText() }),
    /** Port 0: a free one. */
    access: closed({
      id,
      share: someText(),
      host: someText(),
      port: port(),
      protocol: withDefault(oneOf(...ACCESS_PROTOCOLS), 'tcp'),
    }),
    endAccess: closed({ id, share: someText() }),
    stop: closed({ id }),
    version: closed({ id }),
  }),
  {
    name: 'request to the agent',
    format: FORMAT,
    formatField: FORMAT_FIELD,
    remedy: 'restart the agent with the version of the command line',
  },
);
type NumberedRequest = ShapeOf<typeof agentRequestShape.schema>;
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;
export type AgentRequest = WithoutId<NumberedRequest>;
export type AgentShareRequest = Extract<AgentRequest, { op: 'share' }>;

export type ShareReadiness =
  /** A circuit through the overlay reached the private service. */
  | { readonly ready: true }
  /** The share exists, but cannot be dialed (yet). */
  | { readonly ready: false; readonly reason: string };

const readinessSchema = Type.Unsafe<ShareReadiness>(
  refined(Type.Object({ ready: flag(), reason: Type.Optional(text()) }), {
    rule: 'ready or have a reason',
    check: (readiness) =>
      (readiness as { ready: boolean; reason?: string }).ready || 'reason' in (readiness as object),
  }),
);

const shareViewSchema = Type.Object({
  token: text(),
  name: nullable(text()),
  mode: word('public', 'private'),
  target: text(),
  reserved: flag(),
  endpoints: texts(),
  /** Status that the control plane reported last. */
  status: word('PENDING', 'DEPLOYED', 'FAILED'),
  /** Whether the agent hosts the share in the overlay. */
  hosting: word('none', 'binding', 'bound', 'failed'),
  /** The agent's own check of the private service; null before the first one. */
  healthy: nullable(flag()),
  /** Why the share is not served, if a reason is known. */
  problem: nullable(text()),
  circuits: count(),
  /** Whether any certificate of its https target is accepted. */
  isUnverified: withDefault(flag(), false),
  domains: withDefault(lossyList('domains', hostedDomainSchema), []),
});
export type AgentShareView = ShapeOf<typeof shareViewSchema>;

const accessViewSchema = Type.Object({
  /** Token of the private share. */
  share: text(),
  /** `host:port` on the agent's machine. */
  listen: text(),
  protocol: lossyField('protocol', oneOf(...ACCESS_PROTOCOLS), 'tcp'),
  isOpen: flag(),
  connections: count(),
  /** Why it is not open, or why the last circuit could not be made. */
  problem: nullable(text()),
});
export type AgentAccessView = ShapeOf<typeof accessViewSchema>;

const shareResultSchema = Type.Object({ share: shareViewSchema, readiness: readinessSchema });
export type AgentShareResult = ShapeOf<typeof shareResultSchema>;

const statusResultSchema = Type.Object({
  version: text(),
  pid: count(),
  environmentId: text(),
  name: text(),
  apiUrl: text(),
  /** The proxy that leads there, and what names it; null: none does. */
  proxy: withDefault(nullable(text()), null),
  /** How the clock of its machine differs from that of the control plane; null: not at all. */
  clockProblem: withDefault(nullable(text()), null),
  /** Whether the last poll of the control plane succeeded. */
  controlPlane: word('connected', 'away', 'refused'),
  problem: nullable(text()),
  startedAt: text(),
  shares: lossyList('shares', shareViewSchema),
  accesses: withDefault(lossyList('accesses', accessViewSchema), []),
  /** Entries of the configuration file that could not be shared or released, each with its reason. */
  failedEntries: lossyList('failedEntries', Type.Object({ name: text(), reason: text() })),
  /** Why the configuration file was not read again, so that what it said before applies; null: it was. */
  fileProblem: withDefault(nullable(text()), null),
});
export type AgentStatusResult = ShapeOf<typeof statusResultSchema>;

const versionResultSchema = Type.Object({ version: text(), pid: count(), environmentId: text() });
export type AgentVersionResult = ShapeOf<typeof versionResultSchema>;

const RESULTS = {
  share: shareResultSchema,
  status: statusResultSchema,
  release: Type.Object({ token: text() }),
  access: accessViewSchema,
  endAccess: accessViewSchema,
  stop: Type.Object({ stopping: flag() }),
  version: versionResultSchema,
};
type Results = typeof RESULTS;
export type AgentResults = { readonly [Op in keyof Results]: ShapeOf<Results[Op]> };

const errorKinds = Object.keys(ERROR_KINDS) as ErrorKind[];
const errorSchema = Type.Object({
  kind: lossyField('kind', oneOf(...errorKinds), 'internal'),
  code: text(),
  message: text(),
});
export type AgentSocketError = ShapeOf<typeof errorSchema>;

export const agentAnswerShape = new Shape(
  refined(
    Type.Object({
      id: Type.Integer(),
      ok: flag(),
      /** When `ok`: of the operation that was asked for. */
      result: Type.Optional(Type.Unknown()),
      /** When not `ok`. */
      error: Type.Optional(errorSchema),
    }),
    {
      rule: 'an answer with an error when it is not ok',
      check: (answer) => {
        const { ok, error } = answer as { ok: boolean; error?: unknown };
        return ok || error !== undefined;
      },
    },
  ),
  {
    name: 'answer of the agent',
    format: FORMAT,
    formatField: FORMAT_FIELD,
    remedy: 'upgrade the command line to the version of the agent',
  },
);

/** What follows the number of the request. */
export type AgentAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: AgentSocketError };

/** A request of any form, checked: the request, or what is wrong with it. */
export type CheckedRequest =
  | { readonly id: number; readonly request: AgentRequest }
  | { readonly id: number; readonly problem: string };

export function checkAgentRequest(value: unknown): CheckedRequest {
  const read = agentRequestShape.read(value);
  if ('problem' in read) return { id: idOf(value), problem: read.problem };
  const { id, ...request } = read.value;
  return { id, request };
}

/** The line of a request. */
export function encodeAgentRequest(id: number, request: AgentRequest): string {
  const numbered: NumberedRequest = { ...request, id };
  return `${JSON.stringify(agentRequestShape.numbered(numbered))}\n`;
}

/** The line of an answer. */
export function encodeAgentAnswer(id: number, answer: AgentAnswer): string {
  return `${JSON.stringify(agentAnswerShape.numbered({ id, ...answer }))}\n`;
}

/** The answer to a request for `op`, checked; a text says what is wrong with it. */
export type AgentOutcome<Op extends keyof Results> =
  | { readonly ok: true; readonly result: AgentResults[Op] }
  | { readonly ok: false; readonly error: AgentSocketError }
  | string;

/** `line` is the agent's answer to a request for `op`. */
export function checkAgentAnswer<Op extends keyof Results>(op: Op, line: string): AgentOutcome<Op> {
  const read = agentAnswerShape.readText(line);
  if ('problem' in read) return read.problem;
  const { ok, result, error } = read.value;
  if (!ok) return { ok, error: error! };
  const checked = compileReader(RESULTS[op])(result);
  if ('rule' in checked) return `answer of the agent: ${checked.field} ${checked.rule}`;
  return { ok, result: checked.value as AgentResults[Op] };
}

function idOf(value: unknown): number {
  const read = readId(value);
  return 'value' in read ? read.value.id : 0;
}

/**
 * Where the agent listens whose socket has that path. Under Windows it is a named pipe with the path in its name, because Node has no
 * sockets in the file system there; other users may neither write to it nor listen on it while the agent does.
 */
export function agentEndpoint(path: string, platform: string): string {
  return platform === 'win32' ? `${PIPES}${path.toLowerCase().replaceAll(/[\\/:]/g, '-')}` : path;
}

const PIPES = '\\\\.\\pipe\\frontdoor-';

/** Bytes of an address: without the terminating zero of the kernel's structure, or of the longest name of a pipe. */
const MOST_BYTES: Readonly<Record<string, number>> = { linux: 107, darwin: 103, win32: 256 - PIPES.length };

export function checkSocketPath(path: string, platform: string): string | undefined {
  const most = MOST_BYTES[platform] ?? MOST_BYTES['linux']!;
  const length = utf8(path).length;
  if (path === '') return 'the socket path is empty';
  if (path.includes('\0')) return 'the socket path contains a zero byte';
  if (length <= most) return undefined;
  return `the socket path ${path} is ${length} bytes long, but this system allows ${most}: choose a shorter one with --socket`;
}
