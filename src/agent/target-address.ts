/**
 * The address of a share's private service, as the agent connects to it. `#domain` decides which targets are
 * valid for all parts; here a target gets a canonical text, so that equal targets have equal texts.
 */
import { formatHostPort } from '#base';
import { modesOf, parseShareTarget, targetForms, type BackendMode } from '#domain';

export interface TargetAddress {
  readonly mode: BackendMode;
  /** Whether to use TLS. */
  readonly secure: boolean;
  /** Host name or address literal, without brackets, lower case. */
  readonly host: string;
  readonly port: number;
  /** Scheme, host and port; equal targets have equal texts. */
  readonly text: string;
}

export type ParsedTarget = { readonly target: TargetAddress } | { readonly problem: string };

export function parseTarget(given: string): ParsedTarget {
  const parsed = parseShareTarget(given);
  if (parsed === undefined)
    return { problem: `target ${JSON.stringify(given.slice(0, 200))} ${faultOf(given)}` };
  const { mode, scheme, host, port } = parsed;
  const text = `${scheme}://${formatHostPort(host, port)}`;
  return { target: { mode, secure: scheme === 'https', host, port, text } };
}

function faultOf(text: string): string {
  if (/^(?:https?|tcp|udp):\/\/[^/]*@/i.test(text)) return 'must not contain credentials';
  if (/^(?:https?|tcp|udp):\/\/[^/?#\\\s]+[/?#]./i.test(text)) return 'must not have a path or query';
  if (/^(?:tcp|udp):\/\/[^:]+\/?$/i.test(text)) return 'must have a port';
  return `must look like ${targetForms()}`;
}

/** Returns why a share in this mode cannot have the target; undefined if it can. */
export function modeProblem(
  shareMode: 'public' | 'private',
  { mode, text }: TargetAddress,
): string | undefined {
  const modes = modesOf(shareMode);
  if (modes.includes(mode)) return undefined;
  return `a ${shareMode} share has a target ${targetForms(modes)}: share ${text} privately`;
}
