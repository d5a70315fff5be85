/** Many clients that say too little, from as many loopback addresses as the bound per address asks for. */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { BatteryProduct } from './battery-product.ts';

export type CrowdKind =
  | 'heads'
  | 'bodies'
  | 'silent'
  | 'half a TLS hello'
  | 'silent after TLS'
  /** Silent at a router's port. */
  | 'router';

export interface Crowd {
  /** How long each that is gone was connected. */
  readonly livesMs: readonly number[];
  readonly openCount: number;
  /** Never connected. */
  readonly refused: number;
  /** Resolves when none is left, or after so long. */
  over(timeoutMs: number): Promise<void>;
  close(): void;
}

const PER_ADDRESS = 1_000;
const AT_ONCE = 100;
const TRICKLE_MS = 1_000;

export async function openCrowd(
  product: BatteryProduct,
  kind: CrowdKind,
  host: string,
  size: number,
): Promise<Crowd> {
  const livesMs: number[] = [];
  const open = new Set<Socket>();
  let refused = 0;
  const enter = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const startedMs = performance.now();
      const localAddress = `127.0.${10 + Math.floor(index / PER_ADDRESS)}.1`;
      let isIn = false;
      const socket = openSlow(product, kind, host, localAddress, () => {
        isIn = true;
        open.add(socket);
        resolve();
      });
      socket.on('error', () => {});
      // The server's bytes are read, as a client does that pretends to be alive.
      socket.resume();
      socket.on('end', () => socket.end());
      socket.on('close', () => {
        open.delete(socket);
        if (isIn) livesMs.push(performance.now() - startedMs);
        else refused += 1;
        resolve();
      });
    });
  for (let at = 0; at < size; at += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, size - at) }, (_, i) => enter(at + i)));
  }
  const trickle = setInterval(() => {
    const piece = kind === 'heads' ? 'X: y\r\n' : kind === 'bodies' ? 'x' : undefined;
    if (piece !== undefined) for (const socket of open) socket.write(piece);
  }, TRICKLE_MS);
  return {
    livesMs,
    get openCount() {
      return open.size;
    },
    get refused() {
      return refused;
    },
    over: async (timeoutMs) => {
      const endMs = performance.now() + timeoutMs;
      while (open.size > 0 && performance.now() < endMs) await pause(50);
    },
    close: () => {
      clearInterval(trickle);
      for (const socket of open) socket.destroy();
    },
  };
}

function openSlow(
  product: BatteryProduct,
  kind: CrowdKind,
  host: string,
  localAddress: string,
  onIn: () => void,
): Socket {
  const at = (port: number) => ({ port, host: '127.0.0.1', localAddress });
  if (kind === 'silent after TLS') {
    return connectTls({ ...at(product.securePort), ca: product.ca, servername: host }, onIn);
  }
  const port =
    kind === 'router'
      ? product.parts.router.ready.edgePort
      : kind === 'half a TLS hello'
        ? product.securePort
        : product.plainPort;
  const socket = connect(at(port), () => {
    if (kind === 'heads') socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n`);
    else if (kind === 'bodies')
      socket.write(`POST /echo HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000\r\n\r\n`);
    else if (kind === 'half a TLS hello') socket.write(Buffer.from('1603010200010001fc0303', 'hex'));
    onIn();
  });
  return socket;
}
