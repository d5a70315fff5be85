/**
 * Records at an acme-dns server, which has a name for each account and keeps the last two values there. The gateway registers
 * an account for each name of a challenge, and the owner of the zone creates an alias (CNAME) to the account's name once.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, Secret } from '#base';
import { acmeDnsAccountShape, type AcmeDnsAccount } from '#domain/agent-shapes';
import { readPrivateFile, writeFileDurably } from '#net/files';
import type { JsonAnswer } from '#net/http';
import { providerFailure, type ChallengeRecord, type DnsProvider } from './dns-provider.ts';
import type { ProviderContext } from './provider-context.ts';
import { ProviderClient } from './provider-client.ts';

export const ACCOUNTS_FOLDER = 'acme-dns';

export class AcmeDns implements DnsProvider {
  /** A record is written at the name of the account, and an alias has to lead there. */
  readonly delegations = undefined;
  readonly #context: ProviderContext;
  readonly #server: string;
  readonly #folder: string;

  constructor(context: ProviderContext) {
    this.#context = context;
    this.#server = new URL(context.settings['server']!).origin;
    this.#folder = join(context.folder, ACCOUNTS_FOLDER);
  }

  async add({ name, target, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    const account = (await this.#accountOf(name)) ?? (await this.#register(name, signal));
    if (target !== account.fulldomain)
      throw providerFailure(
        `${name} does not lead to the acme-dns account of this gateway: create the record "${name}. CNAME ` +
          `${account.fulldomain}." in its zone` +
          (target === name ? '' : `; now it leads to ${target}`),
      );
    const headers = { 'x-api-user': account.username, 'x-api-key': account.password };
    const body = { subdomain: account.subdomain, txt: value };
    const answer = await this.#post('/update', { headers, body, signal, secret: account.password });
    if (answer.status === 200) return;
    const client = this.#client(account.password);
    if (answer.status === 401 || answer.status === 403)
      throw client.refusal(
        this.#file(name),
        'the account of this server, and a request from an address that the account allows',
        answer,
      );
    throw client.failure(`add a TXT record for ${name}`, answer);
  }

  /** A server of acme-dns removes nothing: the next but one value replaces it. */
  remove(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #register(name: string, signal: AbortSignal): Promise<AcmeDnsAccount> {
    const answer = await this.#post('/register', { signal });
    const { json, status } = answer;
    const read = acmeDnsAccountShape.read(isJsonObject(json) ? { ...json, server: this.#server } : json);
    if (status >= 300) throw this.#client().failure(`register an account for ${name}`, answer);
    if ('problem' in read)
      throw providerFailure(`${this.#server} does not answer like a server of acme-dns: ${read.problem}`);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFileDurably(this.#file(name), JSON.stringify(acmeDnsAccountShape.numbered(read.value)));
    return read.value;
  }

  /** Undefined without an account at this server. */
  async #accountOf(name: string): Promise<AcmeDnsAccount | undefined> {
    const file = this.#file(name);
    const found = await readPrivateFile(file);
    if ('problem' in found && found.isMissing) return undefined;
    const read = 'problem' in found ? found : acmeDnsAccountShape.readText(found.text);
    if ('problem' in read)
      throw providerFailure(
        `the acme-dns account ${file} is refused: ${read.problem}; restore it, or remove it: then a new account is ` +
          'registered, which needs another CNAME',
      );
    return read.value.server === this.#server ? read.value : undefined;
  }

  async #post(
    path: string,
    {
      headers,
      body,
      signal,
      secret,
    }: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
      readonly signal: AbortSignal;
      readonly secret?: string;
    },
  ): Promise<JsonAnswer> {
    const client = this.#client(secret);
    try {
      return await client.send(() => ({ method: 'POST', path, headers, body }), signal);
    } finally {
      await client.close();
    }
  }

  #client(password?: string): ProviderClient {
    const { outward, pause } = this.#context;
    return new ProviderClient({
      title: `acme-dns (${this.#server})`,
      origin: this.#server,
      outward,
      secrets: password === undefined ? [] : [new Secret(password)],
      reasonOf: ({ json }) =>
        isJsonObject(json) && typeof json['error'] === 'string' ? json['error'] : undefined,
      pause,
    });
  }

  #file(name: string): string {
    return join(this.#folder, `${name}.json`);
  }
}
