/**
 * Proves that TLS listeners are alike before their speed is compared: same certificate, version, cipher, key
 * exchange, tickets. It offers X25519 alone, because wrk's OpenSSL has no newer one; our choice for a newer client is
 * not measured.
 */
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { Door } from '../check-client.ts';

export interface TlsFacts {
  readonly certificate: string;
  readonly protocol: string;
  readonly cipher: string;
  readonly exchange: string;
  readonly alpn: string;
  /** Sent after one handshake. */
  readonly tickets: number;
  /** A second handshake with a ticket of the first was shortened. */
  readonly resumes: boolean;
}

const DEADLINE_MS = 10_000;

interface Handshake {
  readonly facts: Omit<TlsFacts, 'tickets' | 'resumes'>;
  readonly tickets: readonly Buffer[];
  readonly isReused: boolean;
}

/** One handshake and one answered request: tickets come before the answer. */
async function shakeHands({ port, host, ca }: Door, session?: Buffer): Promise<Handshake> {
  const tickets: Buffer[] = [];
  const tls = { servername: host, ca, ecdhCurve: 'X25519', ALPNProtocols: ['http/1.1'], session };
  const socket = connect({ port, host: '127.0.0.1', ...tls });
  socket.setTimeout(DEADLINE_MS, () => socket.destroy(new Error(`${host}: no answer in time`)));
  socket.on('session', (ticket: Buffer) => tickets.push(ticket));
  socket.on('secureConnect', () => socket.write(`GET /small HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
  await once(socket, 'data');
  const exchange = socket.getEphemeralKeyInfo() as { readonly type?: string; readonly name?: string };
  const facts = {
    certificate: socket.getPeerX509Certificate()?.fingerprint256 ?? 'none',
    protocol: socket.getProtocol() ?? 'none',
    cipher: socket.getCipher().name,
    exchange: `${exchange.type} ${exchange.name}`,
    alpn: String(socket.alpnProtocol),
  };
  const isReused = socket.isSessionReused();
  socket.destroy();
  return { facts, tickets, isReused };
}

export async function tlsFacts(door: Door): Promise<TlsFacts> {
  const first = await shakeHands(door);
  const ticket = first.tickets.at(-1);
  const second = ticket === undefined ? undefined : await shakeHands(door, ticket);
  return { ...first.facts, tickets: first.tickets.length, resumes: second?.isReused ?? false };
}

/** What differs from the first one, one line each; none when all are alike. */
export function disagreements(facts: ReadonlyMap<string, TlsFacts>): string[] {
  const [first, ...others] = [...facts];
  if (first === undefined) return [];
  const [firstName, wanted] = first;
  return others.flatMap(([name, has]) =>
    (Object.keys(wanted) as (keyof TlsFacts)[])
      .filter((key) => has[key] !== wanted[key])
      .map((key) => `${key}: ${name} ${String(has[key])}, ${firstName} ${String(wanted[key])}`),
  );
}
