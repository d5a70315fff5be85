/**
 * Ports that sections share: one TLS socket for each bind address, with connections distinguished by the protocol that
 * clients name. Two sections that claim one protocol on one address cannot both have it.
 */
import { placeAt } from '../file-tree.ts';
import { parseFileAddress } from '../text-kinds.ts';
import { addressKeyOf } from './listener-rules.ts';
import type { RuleContext } from './draft.ts';

interface Claim {
  /** Path of the address. */
  readonly path: string;
  readonly line: number;
  /** Only TLS sockets can be shared. */
  readonly type: string;
  /** As written: `0.0.0.0:3022` is another socket than `127.0.0.1:3022`. */
  readonly at: string;
  readonly protocols: readonly string[];
}

/** `''`: clients that name none. */
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
    // Port 0 is another one each time.
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
