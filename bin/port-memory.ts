/**
 * The ports of `up`. A data directory keeps those of its last start, which the next one with --any-port takes: identities name
 * the edge API's address, so a second start should be found where the first one was. Without, a port that is taken is refused before any part starts.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { FrontdoorError, messageOf, type Log } from '#base';
import { portsFileShape, type RememberedPorts } from '#domain/agent-shapes';
import { setAside, writeFileDurably } from '#net/files';

export type PortChoice = RememberedPorts;

const FILE = 'ports.json';
/** The option of `up` that chooses each port. */
const OPTIONS: Readonly<Record<keyof PortChoice, string>> = {
  http: '--http-port',
  https: '--https-port',
  api: '--api-port',
  edgeApi: '--edge-api-port',
  ctrl: '--ctrl-port',
  edge: '--edge-port',
};

/**
 * Refuses ports that other programs listen on. The parts refuse them as well, but the first of them starts a database and
 * makes keys before that.
 * @throws FrontdoorError `port-taken`, which names the option that chooses another port.
 */
export async function refuseTakenPorts(ports: Partial<PortChoice>, host: string): Promise<void> {
  for (const [name, option] of Object.entries(OPTIONS) as [keyof PortChoice, string][]) {
    const port = ports[name] ?? 0;
    if (port === 0 || (await listenErrorCode(port, host)) !== 'EADDRINUSE') continue;
    const message = `port ${port} is taken: choose another with ${option}, or any with --any-port`;
    throw new FrontdoorError('conflict', 'port-taken', message);
  }
}

/** The ports that were given; of the others those of the last start that are free now, and 0 where none is. */
export async function rememberedPorts(
  dataDir: string,
  host: string,
  log: Log,
  given: Partial<PortChoice> = {},
): Promise<PortChoice> {
  const ports: Record<keyof PortChoice, number> = { http: 0, https: 0, api: 0, edgeApi: 0, ctrl: 0, edge: 0 };
  const known = (await lastPorts(join(dataDir, FILE), log)) ?? ports;
  for (const name of Object.keys(ports) as (keyof PortChoice)[]) {
    const port = known[name];
    if (port !== 0 && (await listenErrorCode(port, host)) === undefined) ports[name] = port;
  }
  return { ...ports, ...given };
}

/** Undefined at a first start, and after a file that cannot be read, which is set aside. */
async function lastPorts(file: string, log: Log): Promise<PortChoice | undefined> {
  let problem: string;
  try {
    const read = portsFileShape.readText(readFileSync(file, 'utf8'));
    if ('value' in read && Object.values(read.value).some((port) => port !== 0)) return read.value;
    problem = 'value' in read ? 'it names no port' : read.problem;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    problem = messageOf(error);
  }
  const fields = { file, problem, movedTo: await setAside(file) };
  log.warn(
    fields,
    'the ports of the last start are not known: other ones are used, and agents may have to be led there',
  );
  return undefined;
}

export function rememberPorts(dataDir: string, ports: PortChoice): Promise<void> {
  return writeFileDurably(
    join(dataDir, FILE),
    `${JSON.stringify(portsFileShape.numbered(ports), null, 2)}\n`,
  );
}

/** The code of the error that listening fails with; undefined for a free port. */
function listenErrorCode(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name));
    probe.listen({ port, host }, () => probe.close(() => resolve(undefined)));
  });
}
