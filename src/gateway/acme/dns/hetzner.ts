/**
 * Records at Hetzner, by the DNS of its Cloud API. The former DNS console at dns.hetzner.com, whose zones have moved, had
 * another API, which is not supported. Values are added to and removed from the set of a name, as single steps.
 */
import { isJsonObject, type Secret } from '#base';
import type { JsonAnswer, JsonRequest } from '#net/http';
import { providerFailure, type ChallengeRecord, type DnsProvider } from './dns-provider.ts';
import type { ProviderContext } from './provider-context.ts';
import { ProviderClient, zonesAbove } from './provider-client.ts';
import { delegationsOf, wordOf } from './provider-settings.ts';

const ORIGIN = 'https://api.hetzner.cloud';
const ROOT = '/v1';
const TTL_S = 60;
/** Another change of the same zone is in progress. */
const TEMPORARY: ReadonlySet<unknown> = new Set(['locked', 'conflict', 'rate_limit_exceeded']);
const REFUSED: ReadonlySet<unknown> = new Set(['unauthorized', 'forbidden', 'token_readonly']);
/** Looks at an action, a second apart. */
const MAX_LOOKS = 60;
const LOOK_MS = 1_000;

export class Hetzner implements DnsProvider {
  readonly delegations: readonly string[];
  readonly #context: ProviderContext;
  readonly #token: Secret;
  readonly #client: ProviderClient;

  constructor(context: ProviderContext) {
    const { settings, secret, outward, origin = ORIGIN, pause } = context;
    this.#context = context;
    this.#token = wordOf(secret!, 'token');
    this.delegations = delegationsOf(settings);
    this.#client = new ProviderClient({
      title: 'Hetzner',
      origin,
      outward,
      secrets: [this.#token],
      isTemporary: (answer) => TEMPORARY.has(errorOf(answer)['code']),
      reasonOf: textOfError,
      pause,
    });
  }

  async add({ target, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    const path = `${await this.#setOf(target, signal)}/actions/add_records`;
    const body = { ttl: TTL_S, records: [{ value: `"${value}"` }] };
    const answer = await this.#call({ method: 'POST', path, body }, signal);
    if (errorOf(answer)['code'] === 'uniqueness_error') return;
    await this.#complete(`add a TXT record at ${target}`, answer, signal);
  }

  async remove({ target, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    const path = `${await this.#setOf(target, signal)}/actions/remove_records`;
    const body = { records: [{ value: `"${value}"` }] };
    const answer = await this.#call({ method: 'POST', path, body }, signal);
    if (answer.status === 404) return;
    await this.#complete(`remove a TXT record of ${target}`, answer, signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** A change is an action that may still run when it is answered. */
  async #complete(action: string, first: JsonAnswer, signal: AbortSignal): Promise<void> {
    let answer = first;
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      const state = fieldsOf(answer.json, 'action');
      const isTaken = answer.status >= 200 && answer.status < 300;
      if (!isTaken || state['status'] === 'error') throw this.#client.failure(action, answer);
      if (state['status'] !== 'running') return;
      await this.#context.pause(LOOK_MS, signal);
      answer = await this.#call({ method: 'GET', path: `/actions/${String(state['id'])}` }, signal);
    }
    throw providerFailure(`Hetzner did not ${action} within ${(MAX_LOOKS * LOOK_MS) / 1_000} s`);
  }

  /** The path of the set of TXT records of a name. */
  async #setOf(name: string, signal: AbortSignal): Promise<string> {
    for (const zone of zonesAbove(name)) {
      const answer = await this.#call({ method: 'GET', path: `/zones/${zone}` }, signal);
      if (answer.status === 404) continue;
      if (answer.status !== 200) throw this.#client.failure(`show the zone ${zone}`, answer);
      const label = name === zone ? '@' : name.slice(0, -zone.length - 1);
      return `/zones/${zone}/rrsets/${label}/TXT`;
    }
    throw providerFailure(
      `Hetzner shows no zone that contains ${name}: the token needs to be ${this.#context.rights}; a zone elsewhere can ` +
        'delegate the name by an alias (CNAME)',
    );
  }

  async #call(request: JsonRequest, signal: AbortSignal): Promise<JsonAnswer> {
    const { secret, rights } = this.#context;
    const headers = { authorization: `Bearer ${this.#token.reveal()}` };
    const answer = await this.#client.send(
      () => ({ ...request, path: `${ROOT}${request.path}`, headers }),
      signal,
    );
    if (answer.status === 401 || answer.status === 403 || REFUSED.has(errorOf(answer)['code']))
      throw this.#client.refusal(secret!.source, rights, answer);
    return answer;
  }
}

function fieldsOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const inner = isJsonObject(value) ? value[name] : undefined;
  return isJsonObject(inner) ? inner : {};
}

function errorOf({ json }: JsonAnswer): Readonly<Record<string, unknown>> {
  return fieldsOf(json, 'error');
}

function textOfError({ json }: JsonAnswer): string | undefined {
  for (const { code, message } of [fieldsOf(json, 'error'), fieldsOf(fieldsOf(json, 'action'), 'error')])
    if (typeof message === 'string') return `${message} (${String(code)})`;
  return undefined;
}
