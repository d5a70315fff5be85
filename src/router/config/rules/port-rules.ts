/**
 * Checks ports that several sections share. There is one TLS socket per bind address, and its connections are
 * distinguished by the protocol (ALPN) that clients name. Two sections cannot use the same protocol on one address.
 */
import { placeAt } from '../file-tree.ts';
import { parseFileAddress } from '../text-kinds.ts';
import { addressKeyOf } from './listener-rules.ts';
import type { RuleContext } from './draft.ts';

interface Claim {
  /** The path of the address in the file. */
  readonly path: string;
  readonly line: number;
  /** Only TLS sockets can be shared. */
  readonly type: string;
  /** The address as written: `0.0.0.0:3022` and `127.0.0.1:3022` are different sockets. */
  readonly at: string;
  readonly protocols: readonly string[];
}

/** `''` stands for clients that name no protocol. */
const PROTOCOLS = {
  link: ['ziti-link'],
  ctrl: ['ziti-ctrl'],
  edge: ['ziti-edge', ''],
  web: ['h2', 'http/1.1', ''],
  xgress: [''],
} as const;

const STREAM_TYPES = ['tls', 'tcp', 'ws', 'wss'];

export function checkPorts(context: RuleContext): void {
  const taken: Claim[] = [];
  for (const claim of claimsOf(context).sort((a, b) => a.line - b.line)) {
    const other = taken.find((earlier) => collide(earlier, claim));
    if (other === undefined) taken.push(claim);
    else {
      const words = `cannot share ${claim.at} with ${other.path}: both want the same connections`;
      context.problems.error(claim.path, 'port-shared', words);
    }
  }
}

function collide(a: Claim, b: Claim): boolean {
  if (a.at !== b.at) return false;
  if (a.type !== 'tls' || b.type !== 'tls') return true;
  return a.protocols.some((protocol) => b.protocols.includes(protocol));
}

function claimsOf({ draft, root }: RuleContext): Claim[] {
  const claims: Claim[] = [];
  const claim = (path: string, address: string | undefined, protocols: readonly string[]): void => {
    const { type, host, port } = (address === undefined ? undefined : parseFileAddress(address)) ?? {};
    // Port 0 stands for a different port each time.
    if (type === undefined || port === 0 || !STREAM_TYPES.includes(type)) return;
    claims.push({ path, line: placeAt(root, path).line, type, at: `${host!}:${port!}`, protocols });
  };
  draft.link?.listeners?.forEach((one, i) => claim(`link.listeners[${i}].bind`, one?.bind, PROTOCOLS.link));
  draft.ctrl?.listeners?.forEach((one, i) => claim(`ctrl.listeners[${i}].bind`, one?.bind, PROTOCOLS.ctrl));
  draft.listeners?.forEach((one, i) => {
    if (one?.binding === undefined || one.binding === 'tunnel') return;
    const key = addressKeyOf(one);
    claim(`listeners[${i}].${key}`, one[key], one.binding === 'edge' ? PROTOCOLS.edge : PROTOCOLS.xgress);
  });
  draft.web?.forEach((server, i) => {
    server?.bindPoints?.forEach((point, j) => {
      const path = `web[${i}].bindPoints[${j}].interface`;
      claim(path, point?.interface === undefined ? undefined : `tls:${point.interface}`, PROTOCOLS.web);
    });
  });
  return claims;
}
