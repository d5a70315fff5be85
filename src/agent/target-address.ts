/**
 * The target of a share, as the agent serves it: the address of a private service, or a folder. `#domain` decides which targets are
 * valid for all parts; here a target gets a canonical text, so that equal targets have equal texts.
 */
import { formatHostPort } from '#base';
import { NO_PATH, parseShareTarget, targetForms, type BackendMode } from '#domain';
import { schemeFacts } from '#domain/backend-modes';

export interface TargetAddress {
  readonly mode: BackendMode;
  /** Whether to use TLS. */
  readonly secure: boolean;
  /** Whether the service speaks HTTP/2, which a TLS handshake has to agree on. */
  readonly isHttp2: boolean;
  /** Host name or address literal, without brackets, lower case. */
  readonly host: string;
  readonly port: number;
  /** '' or the path below which gateways send requests. */
  readonly path: string;
  /** Scheme, host, port and path; equal targets have equal texts. */
  readonly text: string;
}

export interface TargetFolder {
  readonly mode: BackendMode;
  /** An absolute path. */
  readonly folder: string;
  readonly options: readonly string[];
  readonly text: string;
}

export type AgentTarget = TargetAddress | TargetFolder;
export type ParsedTarget = { readonly target: AgentTarget } | { readonly problem: string };

export function parseTarget(given: string): ParsedTarget {
  const parsed = parseShareTarget(given);
  if (parsed === undefined)
    return { problem: `target ${JSON.stringify(given.slice(0, 200))} ${faultOf(given)}` };
  const { mode } = parsed;
  if ('folder' in parsed)
    return { target: { mode, folder: parsed.folder, options: parsed.options, text: parsed.url } };
  const { scheme, host, port, path } = parsed;
  const text = `${scheme}://${formatHostPort(host, port)}${path}`;
  const { isTls: secure, isHttp2 } = schemeFacts(scheme);
  return { target: { mode, secure, isHttp2, host, port, path, text } };
}

function faultOf(text: string): string {
  if (/^(?:https?|h2c?|grpcs?|tcp|udp):\/\/[^/]*@/i.test(text)) return 'must not contain credentials';
  if (/^(?:tcp|udp):\/\/[^/?#\\\s]+[/?#]./i.test(text)) return 'must not have a path or query';
  if (/^(?:https?|h2c?|grpcs?):\/\/[^?#\s]+[?#]/i.test(text)) return 'must not have a query';
  if (/^(?:https?|h2c?|grpcs?):\/\/[^/?#\\\s]+\/./i.test(text))
    return 'must have a path of plain segments, such as /app';
  if (/^(?:tcp|udp):\/\/[^:]+\/?$/i.test(text)) return 'must have a port';
  return `must look like ${targetForms()}`;
}

/** Returns why a share in this mode cannot have the target; undefined if it can. */
export function modeProblem(shareMode: 'public' | 'private', target: AgentTarget): string | undefined {
  return shareMode === 'private' && 'path' in target && target.path !== ''
    ? `a private share has a target ${NO_PATH}`
    : undefined;
}

/** The canonical targets of routes, by path. Those that are none are left out. */
export function routeTargets(
  routes: readonly { readonly path: string; readonly target: string }[],
): (readonly [path: string, target: string])[] {
  return routes.flatMap(({ path, target }) => {
    const parsed = parseTarget(target);
    return 'target' in parsed ? [[path, parsed.target.text] as const] : [];
  });
}
