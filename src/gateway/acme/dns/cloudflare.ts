/** Records at Cloudflare, by version 4 of its API. Each value of a name is a record of its own there. */
import { isJsonObject, type Secret } from '#base';
import type { JsonAnswer, JsonRequest } from '#net/http';
import { providerFailure, type ChallengeRecord, type DnsProvider } from './dns-provider.ts';
import type { ProviderContext } from './provider-context.ts';
import { ProviderClient, zonesAbove } from './provider-client.ts';
import { delegationsOf, wordOf } from './provider-settings.ts';

const ORIGIN = 'https://api.cloudflare.com';
const ROOT = '/client/v4';
/** The shortest that zones of every plan may have. */
const TTL_S = 60;
/** The record exists: the same name, type and content. */
const EXISTS: ReadonlySet<unknown> = new Set([81_057, 81_058]);
/** The token is malformed, wrong or expired, or lacks a right: some of these have the status 400. */
const REFUSED: ReadonlySet<unknown> = new Set([6_003, 9_103, 9_106, 9_109, 10_000, 10_001]);

export class Cloudflare implements DnsProvider {
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
      title: 'Cloudflare',
      origin,
      outward,
      secrets: [this.#token],
      reasonOf: (answer) => errorsOf(answer).map(textOfError).join('; '),
      pause,
    });
  }

  async add({ target, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    const path = `/zones/${await this.#zoneOf(target, signal)}/dns_records`;
    const body = { type: 'TXT', name: target, content: `"${value}"`, ttl: TTL_S };
    const answer = await this.#call({ method: 'POST', path, body }, signal);
    if (answer.status === 200 || errorsOf(answer).some(({ code }) => EXISTS.has(code))) return;
    throw this.#client.failure(`add a TXT record at ${target}`, answer);
  }

  async remove({ target, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    const path = `/zones/${await this.#zoneOf(target, signal)}/dns_records`;
    const query = new URLSearchParams({ type: 'TXT', name: target, per_page: '100' });
    const found = await this.#call({ method: 'GET', path: `${path}?${query.toString()}` }, signal);
    if (found.status !== 200) throw this.#client.failure(`list the TXT records of ${target}`, found);
    for (const { id, content } of resultsOf(found)) {
      if (content !== value && content !== `"${value}"`) continue;
      const removed = await this.#call({ method: 'DELETE', path: `${path}/${String(id)}` }, signal);
      if (removed.status !== 200 && removed.status !== 404)
        throw this.#client.failure(`remove a TXT record of ${target}`, removed);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #zoneOf(name: string, signal: AbortSignal): Promise<string> {
    const { settings, rights } = this.#context;
    const { 'zone-id': given } = settings;
    if (given !== undefined) return given;
    for (const zone of zonesAbove(name)) {
      const query = new URLSearchParams({ name: zone });
      const answer = await this.#call({ method: 'GET', path: `/zones?${query.toString()}` }, signal);
      if (answer.status !== 200) throw this.#client.failure(`list the zone ${zone}`, answer);
      const [found] = resultsOf(answer).filter((each) => each['name'] === zone);
      if (typeof found?.['id'] === 'string') return found['id'];
    }
    throw providerFailure(
      `Cloudflare shows no zone that contains ${name}: the token needs ${rights}; a zone elsewhere can delegate ` +
        'the name by an alias (CNAME)',
    );
  }

  async #call(request: JsonRequest, signal: AbortSignal): Promise<JsonAnswer> {
    const { secret, rights } = this.#context;
    const headers = { authorization: `Bearer ${this.#token.reveal()}` };
    const answer = await this.#client.send(
      () => ({ ...request, path: `${ROOT}${request.path}`, headers }),
      signal,
    );
    if (
      answer.status === 401 ||
      answer.status === 403 ||
      errorsOf(answer).some(({ code }) => REFUSED.has(code))
    )
      throw this.#client.refusal(secret!.source, rights, answer);
    return answer;
  }
}

type CloudflareError = Readonly<Record<string, unknown>>;

function errorsOf({ json }: JsonAnswer): readonly CloudflareError[] {
  const errors = isJsonObject(json) && json['success'] !== true ? json['errors'] : [];
  return Array.isArray(errors) ? errors.filter(isJsonObject) : [];
}

/** The chain of an error has what is wrong in detail. */
function textOfError({ code, message, error_chain: chain }: CloudflareError): string {
  const inner = Array.isArray(chain) ? chain.filter(isJsonObject).map(textOfError) : [];
  return [`${String(message)} (${String(code)})`, ...inner].join(': ');
}

function resultsOf({ json }: JsonAnswer): readonly Readonly<Record<string, unknown>>[] {
  const result = isJsonObject(json) ? json['result'] : [];
  return Array.isArray(result) ? result.filter(isJsonObject) : [];
}
