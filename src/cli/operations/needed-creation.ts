/**
 * `--if-needed`: containers and scripts run the same command at every start. It creates a router, a gateway or an agent's code only if
 * nothing of the name is enrolled or can still enroll with the file that the command wrote before.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { Option } from 'commander';
import { FrontdoorError, isJsonObject } from '#base';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf, pagesOf, type Entry } from './list-pages.ts';

/** More than an installation has. */
const MAX_ENTRIES = 10_000;
const SPARE_MS = 60_000;

export function ifNeededOption(what: string): Option {
  return new Option(
    '--if-needed',
    `change nothing if ${what} of this name is enrolled, or can still enroll with the file; for containers and scripts that run the command at every start`,
  ).default(false);
}

export interface NodeFiles {
  readonly token: string;
  /** Further files that the command writes. */
  readonly others: readonly string[];
}

/** Returns why nothing is needed, or undefined. Then nothing of the name, and none of the files, is left. */
export async function reasonAgainstNode(
  client: ManagementClient,
  kind: 'router' | 'gateway',
  { path, name }: { readonly path: string; readonly name: string },
  { token, others }: NodeFiles,
): Promise<string | undefined> {
  const found = await entriesNamed(client, path, name);
  if (found.some(({ enrolled }) => enrolled === true)) {
    checkFiles(kind, name, [token, ...others], `frontdoor fabric ${kind} delete ${name}`);
    return `${kind} ${name} is enrolled`;
  }
  const isComplete = [token, ...others].every((file) => existsSync(file));
  if (isComplete && found.some(({ id }) => isValidFor(token, String(id))))
    return `${kind} ${name} can enroll with ${token}`;
  for (const { id } of found)
    await client.call({ method: 'DELETE', path: `${path}/${encodeURIComponent(String(id))}` });
  for (const file of [token, ...others]) rmSync(file, { force: true });
  return undefined;
}

/** As `reasonAgainstNode`. `path` is that of the enrollments of a frontdoor. */
export async function reasonAgainstCode(
  client: ManagementClient,
  { path, name }: { readonly path: string; readonly name: string },
  file: string,
): Promise<string | undefined> {
  const environments = path.replace(/\/agents\/enrollments$/, '/environments');
  if ((await entriesNamed(client, environments, name)).length > 0) {
    checkFiles('environment', name, [file], `frontdoor environments delete ${name}`);
    return `environment ${name} is enrolled`;
  }
  const open = (await entriesNamed(client, path, name)).filter(({ state }) => state === 'open');
  if (open.length > 0 && existsSync(file)) return `environment ${name} can enroll with ${file}`;
  for (const { id } of open)
    await client.call({ method: 'DELETE', path: `${path}/${encodeURIComponent(String(id))}` });
  rmSync(file, { force: true });
  return undefined;
}

async function entriesNamed(client: ManagementClient, path: string, name: string): Promise<Entry[]> {
  const ask = async (page: number, size: number) =>
    entriesOf(await client.call({ method: 'GET', path: `${path}?page=${page}&size=${size}` }));
  const found: Entry[] = [];
  for await (const entries of pagesOf(ask, MAX_ENTRIES))
    found.push(...entries.filter((entry) => entry['name'] === name));
  return found;
}

/** With its files, a part has lost its identity, too, and only an administrator knows whether it runs elsewhere. */
function checkFiles(what: string, name: string, files: readonly string[], remedy: string): void {
  const lost = files.find((file) => !existsSync(file));
  if (lost === undefined) return;
  const message =
    `${what} ${name} is enrolled, but ${lost} is missing: if its data directory was lost, run "${remedy}", ` +
    'and this command again';
  throw new FrontdoorError('conflict', 'enrolled-elsewhere', message);
}

/** Whether the token in the file enrolls the router or gateway with this ID, now and for a minute. */
function isValidFor(file: string, id: string): boolean {
  const [, payload = ''] = readFileSync(file, 'utf8').split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (!isJsonObject(claims)) return false;
    const { sub, exp } = claims;
    return sub === id && typeof exp === 'number' && exp * 1_000 > Date.now() + SPARE_MS;
  } catch {
    return false;
  }
}
