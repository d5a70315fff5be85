/**
 * The address of a share's private service, as the agent connects to it. `#domain` decides which targets are
 * valid for all parts; here a target gets a canonical text, so that equal targets have equal texts.
 */
import { formatHostPort } from '#base';
import { parseShareTarget } from '#domain';

export interface TargetAddress {
  /** Whether to use TLS. */
  readonly secure: boolean;
  /** Host name or address literal, without brackets, lower case. */
  readonly host: string;
  readonly port: number;
  /** Scheme, host and port; equal targets have equal texts. */
  readonly text: string;
}

export type ParsedTarget = { readonly target: TargetAddress } | { readonly problem: string };

export function parseTarget(text: string): ParsedTarget {
  const parsed = parseShareTarget(text);
  if (parsed === undefined)
    return { problem: `target ${JSON.stringify(text.slice(0, 200))} ${faultOf(text)}` };
  const { scheme, host, port } = parsed;
  return {
    target: { secure: scheme === 'https', host, port, text: `${scheme}://${formatHostPort(host, port)}` },
  };
}

function faultOf(text: string): string {
  if (/^https?:\/\/[^/]*@/i.test(text)) return 'must not contain credentials';
  if (/^https?:\/\/[^/?#\\\s]+[/?#]./i.test(text)) return 'must not have a path or query';
  return 'must look like http://HOST:PORT or https://HOST:PORT';
}
