/**
 * Which TLS connections a gateway passes on as they are, to destinations that its operator names. A rule is about the name that a
 * client asks for (SNI), the protocol that it offers (ALPN), or both. Clients never name a destination. ADR 0098.
 */
import { parseShareTarget } from '../share-target.ts';

export interface PassRule {
  /** In lower case; undefined: any name, or none. */
  readonly name: string | undefined;
  /** Undefined: any protocol, or none. */
  readonly protocol: string | undefined;
  readonly host: string;
  readonly port: number;
}

export const PASS_RULE_FORM = 'NAME=HOST:PORT, /PROTOCOL=HOST:PORT or NAME/PROTOCOL=HOST:PORT';
export const MAX_PASS_RULES = 64;

/** Names of browsers: shares have them, so that a rule would take all of their connections. */
const WEB_PROTOCOLS = ['h2', 'http/1.1'];
const RULE = /^([A-Za-z0-9_.-]*)(?:\/([A-Za-z0-9-]+))?=(.+:[0-9]{1,5})$/;

/** Returns undefined if the text is no rule. */
export function parsePassRule(text: string): PassRule | undefined {
  const [, name = '', protocol, destination] = RULE.exec(text) ?? [];
  if (destination === undefined || (name === '' && protocol === undefined)) return undefined;
  if (protocol !== undefined && WEB_PROTOCOLS.includes(protocol)) return undefined;
  const parsed = parseShareTarget(`tcp://${destination}`);
  if (parsed === undefined || !('scheme' in parsed)) return undefined;
  return {
    name: name === '' ? undefined : name.toLowerCase(),
    protocol,
    host: parsed.host,
    port: parsed.port,
  };
}

interface Asked {
  readonly protocols: readonly string[] | undefined;
  readonly serverName: string | undefined;
}

/** A rule about both comes before one about the protocol, and that before one about the name. */
export function passRuleFor(rules: readonly PassRule[], hello: Asked | undefined): PassRule | undefined {
  if (hello === undefined) return undefined;
  const asked = hello.serverName?.toLowerCase().replace(/\.$/, '');
  const fits = ({ name, protocol }: PassRule): boolean =>
    (name === undefined || name === asked) &&
    (protocol === undefined || hello.protocols?.includes(protocol) === true);
  const fitting = rules.filter(fits);
  return (
    fitting.find(({ name, protocol }) => name !== undefined && protocol !== undefined) ??
    fitting.find(({ protocol }) => protocol !== undefined) ??
    fitting[0]
  );
}
