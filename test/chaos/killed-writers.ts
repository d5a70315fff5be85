/**
 * A control plane as a process of its own that is killed, again and again, while 16 writers create, change and delete
 * through the Management API. After each start everything acknowledged must be there, whole, and nothing else; at the
 * end the audit trail must hold every change exactly once.
 */
import { join } from 'node:path';
import { definedFields } from '#base';
import { JsonClient, type JsonAnswer, type JsonRequest } from '#net/http';
import { enrollIdentity } from '#sdk';
import { within } from '../support/deadline.ts';
import { PartProcess } from '../support/part-process.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WriteLedger } from './write-ledger.ts';

export interface KilledWritersOptions {
  /** Empty: data directory and records go here. */
  readonly folder: string;
  /** A PostgreSQL URL; the embedded database when absent. */
  readonly database?: string;
  readonly rounds: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface KilledWritersResult {
  readonly acknowledged: number;
  /** Changes that were lost, came back, were half there or have no event; empty when all is well. */
  readonly problems: readonly string[];
  /** The longest time from a start to ready. */
  readonly slowestStartMs: number;
}

interface Ready {
  readonly apiUrl: string;
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
}

const WRITERS = 16;
const MIN_WRITES = 20;
const MORE_WRITES = 200;
const STEP = 10;
const PAGE = 1_000;

export async function killWriters(options: KilledWritersOptions): Promise<KilledWritersResult> {
  const { folder, database, rounds, seed, say = () => {} } = options;
  const random = new SeededRandom(seed);
  const readyFile = join(folder, 'ready.json');
  const control = new PartProcess<Ready>({
    name: 'control',
    readyFile,
    args: () => ['control', '--data-dir', join(folder, 'data'), '--ready-file', readyFile, ...freePorts],
    env: definedFields({ FRONTDOOR_LOG: 'warn', FRONTDOOR_DATABASE: database }),
  });
  const ledger = new WriteLedger(join(folder, 'ledger.jsonl'));
  const problems: string[] = [];
  let slowestStartMs = 0;
  const start = async (): Promise<Ready> => {
    const startedMs = performance.now();
    const ready = await control.start();
    slowestStartMs = Math.max(slowestStartMs, performance.now() - startedMs);
    return ready;
  };
  try {
    const first = await start();
    const api = new Api(first.apiUrl, first);
    const environmentId = await enrolledEnvironment(api);
    for (let round = 1; round <= rounds; round += 1) {
      const current = round === 1 ? api : new Api((await start()).apiUrl, first);
      if (round > 1) problems.push(...(await checkAll(current, ledger)));
      const writers = Array.from({ length: WRITERS }, (_, i) => {
        return write(current, ledger, `w${i}-`, `r${round}`, environmentId, random, problems);
      });
      // Step by step: how many a machine writes in half a minute is its own affair.
      for (let left = MIN_WRITES + random.int(MORE_WRITES); left > 0; left -= STEP)
        await within('further acknowledged writes', ledger.acknowledgedMore(Math.min(left, STEP)));
      await control.kill();
      await Promise.all(writers);
      await current.close();
      say(`round ${round}: ${ledger.acknowledgedCount} acknowledged so far, ${problems.length} problems`);
    }
    const last = new Api((await start()).apiUrl, first);
    problems.push(...(await checkAll(last, ledger)), ...(await checkAudit(last, ledger)));
    await last.close();
    await control.stop();
  } finally {
    await control.kill();
    ledger.close();
  }
  return { acknowledged: ledger.acknowledgedCount, problems, slowestStartMs };
}

const freePorts = ['--api-port', '0', '--edge-api-port', '0', '--ctrl-port', '0'];

class Api {
  readonly #client: JsonClient;
  readonly #authorization: string;
  readonly root: string;

  constructor(apiUrl: string, { accountId, apiToken, frontdoorId }: Ready) {
    this.#client = new JsonClient({ origin: apiUrl });
    this.#authorization = `Basic ${accountId}:${apiToken}`;
    this.root = `/frontdoor/${frontdoorId}`;
  }

  call(method: JsonRequest['method'], path: string, body?: object): Promise<JsonAnswer> {
    const headers = { authorization: this.#authorization };
    return this.#client.request({ method, path, headers, body });
  }

  /** Every entry of a list; throws when its total is another. */
  async all<T>(path: string): Promise<T[]> {
    const content: T[] = [];
    for (let page = 0; ; page += 1) {
      const { status, json, text } = await this.call('GET', `${path}?size=${PAGE}&page=${page}`);
      if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
      const answer = json as { content: T[]; totalElements: number };
      content.push(...answer.content);
      if (answer.content.length === PAGE) continue;
      if (answer.totalElements === content.length) return content;
      throw new Error(`${path}: ${content.length} entries, and a total of ${answer.totalElements}`);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

async function enrolledEnvironment(api: Api): Promise<string> {
  const { json } = await api.call('POST', `${api.root}/agents/enrollments`);
  const { enrollmentCode } = json as { enrollmentCode: string };
  const token = await api.call('GET', `/frontdoor/agents/bootstrap-token/${enrollmentCode}`);
  return (await enrollIdentity({ jwt: (token.json as { token: string }).token, name: 'chaos' })).id;
}

/** Things that are written: shares and providers, each a few rows in several tables. */
const KINDS = {
  share: {
    path: '/shares',
    create: (name: string, state: string, environmentId: string) => ({
      name,
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: `http://${state}.internal:80`,
    }),
    change: (state: string) => ({ target: `http://${state}.internal:80` }),
  },
  provider: {
    path: '/auth-providers',
    create: (name: string, state: string) => ({ name, type: 'API_KEY', data: keyed(state) }),
    change: (state: string) => ({ data: keyed(state) }),
  },
} as const;

const keyed = (state: string) => ({ placement: 'bearer', keys: [{ name: state }] });

/** One writer: one request after another, until the process that answers is gone. */
async function write(
  api: Api,
  ledger: WriteLedger,
  writer: string,
  round: string,
  environmentId: string,
  random: SeededRandom,
  problems: string[],
): Promise<void> {
  const kind = random.int(2) === 0 ? 'share' : 'provider';
  const { path, create, change } = KINDS[kind];
  const ids = new Map<string, string>();
  for (let i = 0; ; i += 1) {
    const held = ledger.held(`${kind}-${writer}${round}-`);
    const choice = held.length === 0 ? 0 : random.int(10);
    const state = `${round}-${writer}${i}`;
    const name = choice < 5 ? `${kind}-${writer}${round}-${i}` : random.pick(held);
    const at = `${api.root}${path}/${ids.get(name) ?? name}`;
    const what = kind === 'share' ? 'Share' : 'AuthProvider';
    let answer: JsonAnswer;
    try {
      if (choice < 5) {
        ledger.ask(`create${what}`, name, state);
        answer = await api.call('POST', api.root + path, create(name, state, environmentId));
        ids.set(name, (answer.json as { id?: string }).id ?? name);
      } else if (choice < 8) {
        ledger.ask(`change${what}`, name, state);
        answer = await api.call('PATCH', at, change(state));
      } else {
        ledger.ask(`delete${what}`, name, undefined);
        answer = await api.call('DELETE', at);
      }
    } catch {
      return;
    }
    if (answer.status < 300) ledger.acknowledge(name);
    else problems.push(`${name} was answered ${answer.status} ${answer.text}`);
  }
}

async function checkAll(api: Api, ledger: WriteLedger): Promise<string[]> {
  const problems: string[] = [];
  const found = new Map<string, string>();
  type Share = { token: string; target: string; frontendIds: string[] };
  for (const { token, target, frontendIds } of await api.all<Share>(`${api.root}/shares`)) {
    found.set(token, new URL(target).hostname.replace('.internal', ''));
    if (frontendIds.length !== 1) problems.push(`${token} is half there: it has no frontend`);
  }
  for (const { id, name } of await api.all<{ id: string; name: string }>(`${api.root}/auth-providers`)) {
    const { json } = await api.call('GET', `${api.root}/auth-providers/${id}`);
    const { keys } = (json as { data: { keys: { name: string }[] } }).data;
    found.set(name, keys[0]!.name);
  }
  return [...problems, ...ledger.check(found)];
}

async function checkAudit(api: Api, ledger: WriteLedger): Promise<string[]> {
  const problems: string[] = [];
  const recorded = new Map<string, number>();
  for (const { action, result } of await api.all<{ action: string; result: string }>('/audit-events')) {
    if (result === 'ok') recorded.set(action, (recorded.get(action) ?? 0) + 1);
  }
  for (const [action, count] of ledger.done) {
    if (recorded.get(action) !== count)
      problems.push(`${action}: done ${count} times, recorded ${recorded.get(action) ?? 0} times`);
  }
  const { json } = await api.call('GET', '/audit-events/verification');
  if ((json as { valid?: boolean }).valid !== true) problems.push('the audit trail does not hold');
  return problems;
}
