/**
 * With --any-port a data directory keeps the ports it once got: identities name the edge API's address, so a second
 * start should be found where the first one was.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { portsFileShape, type RememberedPorts } from '#domain';
import { writeFileDurably } from '#net';

export type PortChoice = RememberedPorts;

const FILE = 'ports.json';

/** Ports of the last start that are free now; 0 for the others. */
export async function rememberedPorts(dataDir: string, host: string): Promise<PortChoice> {
  const ports: Record<keyof PortChoice, number> = { http: 0, https: 0, api: 0, edgeApi: 0, ctrl: 0, edge: 0 };
  let text = '{}';
  try {
    text = readFileSync(join(dataDir, FILE), 'utf8');
  } catch {
    // A first start.
  }
  const read = portsFileShape.readText(text);
  // A damaged file, or one of a newer version: any port will do.
  const known = 'value' in read ? read.value : ports;
  for (const name of Object.keys(ports) as (keyof PortChoice)[]) {
    const port = known[name];
    if (port !== 0 && (await isFree(port, host))) ports[name] = port;
  }
  return ports;
}

export function rememberPorts(dataDir: string, ports: PortChoice): Promise<void> {
  return writeFileDurably(
    join(dataDir, FILE),
    `${JSON.stringify(portsFileShape.numbered(ports), null, 2)}\n`,
  );
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host }, () => probe.close(() => resolve(true)));
  });
}
