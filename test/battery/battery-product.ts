/**
 * The product that the batteries are run against: every part a process of its own, the gateway with a plain and a TLS
 * listener, and shares named by the row that uses them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { until } from '../support/deadline.ts';
import { makeTestAuthority } from '../support/certificates.ts';
import type { ClientTarget } from '../support/keep-alive-client.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { httpGet } from '../support/world.ts';
import { freePort } from '../support/child-process.ts';

export interface BatteryProduct {
  readonly parts: Separate;
  readonly plainPort: number;
  readonly securePort: number;
  /** The certificate of the authority that signed the gateway's certificate. */
  readonly ca: string;
  /**
   * Publishes a port of this machine, by the product's agent unless another is given, and waits until the gateway
   * serves it.
   */
  share(name: string, port: number, agentSocket?: string): Promise<void>;
  /** The gateway's listener of that kind, the server name a share's own. */
  target(kind: ListenerKind, name: string): ClientTarget;
  stop(): Promise<void>;
}

export const LISTENER_KINDS = ['plain', 'tls'] as const;
export type ListenerKind = (typeof LISTENER_KINDS)[number];

export const COLLECTION = join(import.meta.dirname, '../support/frequent-collection.ts');

export function hostOf(name: string): string {
  return `${name}.share.localhost`;
}

export interface BatteryProductOptions {
  /** The gateway's own default when absent. */
  readonly maxConnectionsPerAddress?: number;
  readonly logLevel?: string;
  /**
   * Collects garbage every few seconds, because the amount of uncollected garbage depends on the machine and is no
   * growth.
   */
  readonly isCollected?: boolean;
}

export async function startBatteryProduct(options: BatteryProductOptions = {}): Promise<BatteryProduct> {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-battery-'));
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  const { maxConnectionsPerAddress, isCollected = false } = options;
  const authority = await makeTestAuthority();
  const { cert, key } = await authority.issue('share.localhost', { dns: ['*.share.localhost'] });
  writeFileSync(join(folder, 'gateway.pem'), cert);
  writeFileSync(join(folder, 'gateway.key'), key, { mode: 0o600 });
  const securePort = await freePort();
  let parts: Separate;
  try {
    parts = await startSeparate({
      folder,
      nodeArgs: isCollected ? ['--import', COLLECTION] : [],
      logLevel: options.logLevel ?? 'warn',
      gatewayArgs: [
        '--https-port',
        String(securePort),
        '--https-redirect',
        'off',
        '--tls-cert',
        join(folder, 'gateway.pem'),
        '--tls-key',
        join(folder, 'gateway.key'),
        ...(maxConnectionsPerAddress === undefined
          ? []
          : ['--max-connections-per-address', String(maxConnectionsPerAddress)]),
      ],
    });
  } catch (error) {
    clean();
    throw error;
  }
  return {
    parts,
    plainPort: parts.port,
    securePort,
    ca: authority.ca,
    share: async (name, port, agentSocket = parts.agentSocket) => {
      await callAgent(
        agentSocket,
        { op: 'share', mode: 'public', target: `http://127.0.0.1:${port}`, name, grants: [] },
        20_000,
      );
      await until(
        `the gateway serves ${name}`,
        async () => (await httpGet(parts.port, hostOf(name), '/battery-ready')).status,
        (status) => status !== 404 && status !== 503,
      );
    },
    target: (kind, name) =>
      kind === 'plain'
        ? { port: parts.port }
        : { port: securePort, tls: { ca: authority.ca, servername: hostOf(name) } },
    stop: async () => {
      try {
        await parts.stop();
      } finally {
        clean();
      }
    },
  };
}
