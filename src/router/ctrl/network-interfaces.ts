/** The machine's network interfaces as routers report them: with Go's flags, addresses with their prefix lengths. */
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

export interface NetworkInterface {
  readonly name: string;
  readonly hardwareAddress: string;
  readonly mtu: bigint;
  readonly index: bigint;
  readonly flags: bigint;
  readonly addresses: string[];
}

/** Go's bit for each Linux flag. Where the kernel does not show flags, only the first one is known. */
const UP = 1n;
const LOOPBACK = 4n;
const GO_FLAGS: readonly (readonly [linux: number, go: bigint])[] = [
  [0x1, UP],
  [0x2, 2n],
  [0x8, LOOPBACK],
  [0x10, 8n],
  [0x1000, 16n],
  [0x40, 32n],
];

/** Sorted by name. */
export function readNetworkInterfaces(): NetworkInterface[] {
  return Object.entries(networkInterfaces())
    .map(([name, addresses = []]) => {
      const linuxFlags = numberIn(name, 'flags');
      const isInternal = addresses.some(({ internal }) => internal);
      return {
        name,
        hardwareAddress: isInternal ? '' : (addresses[0]?.mac ?? ''),
        mtu: BigInt(numberIn(name, 'mtu') ?? 0),
        index: BigInt(numberIn(name, 'ifindex') ?? 0),
        flags:
          linuxFlags === undefined
            ? UP | (isInternal ? LOOPBACK : 0n)
            : GO_FLAGS.reduce((flags, [linux, go]) => ((linuxFlags & linux) === 0 ? flags : flags | go), 0n),
        addresses: addresses.map(({ address, cidr }) => cidr ?? address).sort(),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Available on Linux only; undefined elsewhere. */
function numberIn(name: string, file: string): number | undefined {
  try {
    const value = Number(readFileSync(`/sys/class/net/${name}/${file}`, 'utf8'));
    return Number.isSafeInteger(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
