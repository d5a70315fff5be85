/**
 * The file with the network's controllers, in OpenZiti's format: `controllers` with ids and addresses, and `endpoints`,
 * the only key of older routers. Read at start, and written with mode 0600 when the membership changes.
 */
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { messageOf, type Log } from '#base';
import { setAside, writeFileDurably } from '#net/files';
import { formatAddress, parseAddress } from '#wire';

export interface KnownEndpoint {
  /** Addresses as `tls:host:port`. */
  readonly address: string;
  readonly groups: readonly string[];
}

export interface KnownController {
  readonly id: string;
  readonly endpoints: readonly KnownEndpoint[];
}

export interface KnownControllers {
  readonly controllers: readonly KnownController[];
  /** All addresses without duplicates; never empty. */
  readonly endpoints: readonly string[];
}

const MAX_FILE_BYTES = 1 << 20;
const DEFAULT_NAME = 'endpoints.yml';
/** The name of the file in routers before 2.x. */
const FORMER_NAME = 'endpoints';

/**
 * Returns undefined if there is no such file, or, with a log message, if it has no usable entry. Then the configuration
 * is used.
 */
export async function loadEndpointsFile(path: string, log: Log): Promise<KnownControllers | undefined> {
  const known = await loadFrom(path, log);
  if (known !== 'missing') return known;
  if (basename(path) !== DEFAULT_NAME) return undefined;
  const formerPath = join(dirname(path), FORMER_NAME);
  const former = await loadFrom(formerPath, log);
  if (former === 'missing' || former === undefined) return undefined;
  log.info({ file: formerPath, now: path }, 'controllers read from the file of an earlier router');
  await saveEndpointsFile(path, former, log);
  return former;
}

/** Logs a failure; the router continues with the list in memory. */
export async function saveEndpointsFile(path: string, known: KnownControllers, log: Log): Promise<void> {
  const { controllers, endpoints } = known;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFileDurably(
      path,
      stringify(controllers.length === 0 ? { endpoints } : { controllers, endpoints }),
    );
  } catch (error) {
    log.error({ file: path, err: messageOf(error) }, 'the endpoints file could not be written');
  }
}

async function loadFrom(path: string, log: Log): Promise<KnownControllers | 'missing' | undefined> {
  let text: string;
  try {
    text = await readBounded(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    log.error({ file: path, err: messageOf(error) }, 'the endpoints file could not be read');
    return undefined;
  }
  try {
    const known = knownIn(parse(text, { maxAliasCount: 10, logLevel: 'error' }), path, log);
    if (known !== undefined) return known;
    await setFileAside(path, log, 'it names no controller');
  } catch (error) {
    await setFileAside(path, log, `it is not valid YAML: ${messageOf(error)}`);
  }
  return undefined;
}

/** So that the next list of controllers does not replace what an operator may want to read. */
async function setFileAside(path: string, log: Log, problem: string): Promise<void> {
  const fields = { file: path, problem, movedTo: await setAside(path) };
  log.error(fields, 'the endpoints file cannot be used: the controllers of the configuration are dialed');
}

async function readBounded(path: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    if (size > MAX_FILE_BYTES) throw new Error(`the file has ${size} bytes, which is too many`);
    return await file.readFile('utf8');
  } finally {
    await file?.close();
  }
}

function knownIn(content: unknown, path: string, log: Log): KnownControllers | undefined {
  const addressOf = (value: unknown): string | undefined => {
    const address = typeof value === 'string' ? parseAddress(value) : undefined;
    if (address === undefined) log.warn({ file: path, value }, 'invalid controller address');
    return address === undefined ? undefined : formatAddress(address);
  };
  const controllers = listAt(content, 'controllers').flatMap((item): KnownController[] => {
    const id = valueAt(item, 'id');
    if (typeof id !== 'string' || id === '') return [];
    const endpoints = listAt(item, 'endpoints').flatMap((endpoint) => {
      const address = addressOf(valueAt(endpoint, 'address'));
      const groups = listAt(endpoint, 'groups').filter((group) => typeof group === 'string');
      return address === undefined ? [] : [{ address, groups }];
    });
    return endpoints.length === 0 ? [] : [{ id, endpoints }];
  });
  const endpoints =
    controllers.length > 0
      ? controllers.flatMap((controller) => controller.endpoints.map(({ address }) => address))
      : listAt(content, 'endpoints').flatMap((value) => addressOf(value) ?? []);
  return endpoints.length === 0 ? undefined : { controllers, endpoints: [...new Set(endpoints)] };
}

/** Keys are case-insensitive, because older routers wrote `Endpoints`. */
function valueAt(content: unknown, key: string): unknown {
  if (typeof content !== 'object' || content === null) return undefined;
  return Object.entries(content).find(([name]) => name.toLowerCase() === key)?.[1];
}

function listAt(content: unknown, key: string): readonly unknown[] {
  const value = valueAt(content, key);
  return Array.isArray(value) ? value : [];
}
