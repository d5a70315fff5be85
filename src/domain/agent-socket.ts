/**
 * The protocol between the running agent and its command line over the agent's unix socket: one JSON object per
 * line, each request answered by one line with the same `id`. This file has the shapes and their checks; the
 * agent serves the socket and the command line connects to it. The version `v` lets a new agent give an old
 * command line a clear error.
 */
import { type ErrorKind, ERROR_KINDS, utf8 } from '#base';

export const AGENT_SOCKET_VERSION = 1;
export const AGENT_SOCKET_FILE = 'agent.sock';
/** A longer request closes the connection. */
export const AGENT_SOCKET_MAX_REQUEST_BYTES = 65_536;
/** The command line refuses a longer response. */
export const AGENT_SOCKET_MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface AgentShareRequest {
  readonly op: 'share';
  readonly mode: 'public' | 'private';
  /** As typed; the agent parses it. */
  readonly target: string;
  readonly name?: string;
  /** Environments that may dial a private share. */
  readonly grants: readonly string[];
}

export type AgentRequest =
  | AgentShareRequest
  | { readonly op: 'status' }
  | { readonly op: 'release'; readonly name: string }
  | { readonly op: 'stop' }
  | { readonly op: 'version' };

export type ShareReadiness =
  /** A circuit through the overlay reached the private service. */
  | { readonly ready: true }
  /** The share exists, but cannot be dialed (yet). */
  | { readonly ready: false; readonly reason: string };

export interface AgentShareView {
  readonly token: string;
  readonly name: string | null;
  readonly mode: 'public' | 'private';
  readonly target: string;
  readonly reserved: boolean;
  readonly endpoints: readonly string[];
  /** Status that the control plane reported last. */
  readonly status: 'PENDING' | 'DEPLOYED' | 'FAILED';
  /** Whether the agent hosts the share in the overlay. */
  readonly hosting: 'none' | 'binding' | 'bound' | 'failed';
  /** The agent's own check of the private service; null before the first one. */
  readonly healthy: boolean | null;
  /** Why the share is not served, if a reason is known. */
  readonly problem: string | null;
  readonly circuits: number;
}

export interface AgentShareResult {
  readonly share: AgentShareView;
  readonly readiness: ShareReadiness;
}

export interface AgentStatusResult {
  readonly version: string;
  readonly pid: number;
  readonly environmentId: string;
  readonly name: string;
  readonly apiUrl: string;
  /** Whether the last poll of the control plane succeeded. */
  readonly controlPlane: 'connected' | 'away' | 'refused';
  readonly problem: string | null;
  readonly startedAt: string;
  readonly shares: readonly AgentShareView[];
  /** Entries of the configuration file that could not be shared, each with its reason. */
  readonly failedEntries: readonly { readonly name: string; readonly reason: string }[];
}

export interface AgentVersionResult {
  readonly version: string;
  readonly pid: number;
  readonly environmentId: string;
}

export interface AgentResults {
  readonly share: AgentShareResult;
  readonly status: AgentStatusResult;
  readonly release: { readonly token: string };
  readonly stop: { readonly stopping: true };
  readonly version: AgentVersionResult;
}

export interface AgentSocketError {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly message: string;
}

export type AgentAnswer =
  | { readonly v: number; readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly v: number; readonly id: number; readonly ok: false; readonly error: AgentSocketError };

/** The result of checking a value of any shape: the request, or its problem. */
export type CheckedRequest =
  { readonly id: number; readonly request: AgentRequest } | { readonly id: number; readonly problem: string };

const FIELDS: Readonly<Record<AgentRequest['op'], readonly string[]>> = {
  share: ['mode', 'target', 'name', 'grants'],
  status: [],
  release: ['name'],
  stop: [],
  version: [],
};

export function checkAgentRequest(value: unknown): CheckedRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { id: 0, problem: 'a request is one JSON object on one line' };
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const id = typeof fields.id === 'number' && Number.isSafeInteger(fields.id) ? fields.id : 0;
  if (fields.v !== AGENT_SOCKET_VERSION) {
    return { id, problem: `this agent speaks version ${AGENT_SOCKET_VERSION} of the socket protocol` };
  }
  const { op } = fields;
  if (typeof op !== 'string' || !Object.hasOwn(FIELDS, op)) {
    return { id, problem: `op must be one of ${Object.keys(FIELDS).join(', ')}` };
  }
  const known = FIELDS[op as AgentRequest['op']];
  const stray = Object.keys(fields).find(
    (name) => !['v', 'id', 'op'].includes(name) && !known.includes(name),
  );
  if (stray !== undefined) return { id, problem: `${op} has no field ${JSON.stringify(stray.slice(0, 64))}` };
  if (op === 'share') return checkShare(id, fields);
  if (op === 'release') {
    if (typeof fields.name !== 'string' || fields.name === '') return { id, problem: 'release needs a name' };
    return { id, request: { op, name: fields.name } };
  }
  return { id, request: { op: op as 'status' | 'stop' | 'version' } };
}

function checkShare(id: number, fields: Readonly<Record<string, unknown>>): CheckedRequest {
  const { mode, target, name, grants = [] } = fields;
  if (mode !== 'public' && mode !== 'private') return { id, problem: 'mode must be public or private' };
  if (typeof target !== 'string') return { id, problem: 'target must be a string' };
  if (name !== undefined && typeof name !== 'string') return { id, problem: 'name must be a string' };
  if (!Array.isArray(grants) || !grants.every((grant) => typeof grant === 'string')) {
    return { id, problem: 'grants must be a list of environment ids' };
  }
  if (mode === 'public' && grants.length > 0) return { id, problem: 'only a private share has grants' };
  return { id, request: { op: 'share', mode, target, grants, ...(name === undefined ? {} : { name }) } };
}

export function checkAgentAnswer(value: unknown): AgentAnswer | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { v, id, ok, result, error } = value as Readonly<Record<string, unknown>>;
  if (typeof v !== 'number' || typeof id !== 'number') return undefined;
  if (ok === true) return { v, id, ok, result };
  if (ok !== false || typeof error !== 'object' || error === null) return undefined;
  const { kind, code, message } = error as Readonly<Record<string, unknown>>;
  if (typeof kind !== 'string' || typeof code !== 'string' || typeof message !== 'string') return undefined;
  return {
    v,
    id,
    ok,
    error: { kind: Object.hasOwn(ERROR_KINDS, kind) ? (kind as ErrorKind) : 'internal', code, message },
  };
}

/** The size of the kernel's address structure without the terminating zero: 107 bytes on Linux, 103 on macOS. */
export function checkSocketPath(path: string, platform: string): string | undefined {
  const most = platform === 'darwin' ? 103 : 107;
  const length = utf8(path).length;
  if (path === '') return 'the socket path is empty';
  if (path.includes('\0')) return 'the socket path contains a zero byte';
  if (length <= most) return undefined;
  return `the socket path ${path} is ${length} bytes long, but this system allows ${most}: choose a shorter one with --socket`;
}
