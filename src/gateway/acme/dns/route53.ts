/**
 * Records at Amazon Route 53. All values of a name are one set there, which is replaced as a whole: a change names the set
 * that was read, and fails if another gateway has changed it since, so that no value is lost.
 */
import type { FrontdoorError } from '#base';
import { systemClock } from '#base';
import type { JsonAnswer } from '#net/http';
import { awsKeyOf } from './aws-key.ts';
import { queryText, signAwsRequest, type AwsKey } from './aws-signature.ts';
import { providerFailure, type ChallengeRecord, type DnsProvider } from './dns-provider.ts';
import type { ProviderContext } from './provider-context.ts';
import { ProviderClient, zonesAbove } from './provider-client.ts';
import { delegationsOf } from './provider-settings.ts';
import { xmlBlocks, xmlEscaped, xmlText } from './xml-text.ts';

const ORIGIN = 'https://route53.amazonaws.com';
const ROOT = '/2013-04-01';
const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/';
/** Route 53 is one for all regions, and its requests are signed for this one. */
const SCOPE = { region: 'us-east-1', service: 'route53' };
const TTL_S = 60;
const MAX_ZONES_OF_NAME = '20';
/** Other gateways change the same set at the same time. */
const MAX_CHANGES = 8;
const TEMPORARY: ReadonlySet<unknown> = new Set([
  'Throttling',
  'ThrottlingException',
  'PriorRequestNotComplete',
]);
const REFUSED: ReadonlySet<unknown> = new Set([
  'AccessDenied',
  'AccessDeniedException',
  'ExpiredToken',
  'InvalidClientTokenId',
  'SignatureDoesNotMatch',
]);

interface RecordSet {
  readonly ttl: string;
  /** Quoted, as DNS writes them. */
  readonly values: readonly string[];
}

export class Route53 implements DnsProvider {
  readonly delegations: readonly string[];
  readonly #context: ProviderContext;
  readonly #key: AwsKey;
  readonly #origin: string;
  readonly #client: ProviderClient;

  constructor(context: ProviderContext) {
    const { settings, secret, outward, origin = ORIGIN, pause } = context;
    this.#context = context;
    this.#key = awsKeyOf(secret!);
    this.#origin = origin;
    this.delegations = delegationsOf(settings);
    this.#client = new ProviderClient({
      title: 'Route 53',
      origin,
      outward,
      secrets: [this.#key.secret],
      isTemporary: (answer) => TEMPORARY.has(codeOf(answer)),
      reasonOf: (answer) => [xmlText(answer.text, 'Message'), codeOf(answer)].filter(Boolean).join(' — '),
      pause,
    });
  }

  add({ target, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    const quoted = `"${value}"`;
    return this.#change(target, (values) => (values.includes(quoted) ? values : [...values, quoted]), signal);
  }

  remove({ target, value }: ChallengeRecord, signal: AbortSignal): Promise<void> {
    return this.#change(target, (values) => values.filter((each) => each !== `"${value}"`), signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #change(
    name: string,
    changed: (values: readonly string[]) => readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const zone = await this.#zoneOf(name, signal);
    let failure: FrontdoorError | undefined;
    for (let changes = 0; changes < MAX_CHANGES; changes += 1) {
      const before = await this.#setOf(zone, name, signal);
      const values = changed(before?.values ?? []);
      if (values.length === (before?.values.length ?? 0)) return;
      const path = `/hostedzone/${zone}/rrset/`;
      const answer = await this.#call({ method: 'POST', path, body: batchOf(name, before, values) }, signal);
      if (answer.status === 200) return;
      failure = this.#client.failure(`change the TXT records of ${name}`, answer);
      // The set is not the one that was read.
      if (codeOf(answer) !== 'InvalidChangeBatch') throw failure;
    }
    throw failure!;
  }

  /** The TXT records of a name; undefined without any. */
  async #setOf(zone: string, name: string, signal: AbortSignal): Promise<RecordSet | undefined> {
    const query = { name, type: 'TXT', maxitems: '1' };
    const answer = await this.#call({ method: 'GET', path: `/hostedzone/${zone}/rrset`, query }, signal);
    if (answer.status !== 200) throw this.#client.failure(`list the TXT records of ${name}`, answer);
    const [set = ''] = xmlBlocks(answer.text, 'ResourceRecordSet');
    if (xmlText(set, 'Name') !== `${name}.` || xmlText(set, 'Type') !== 'TXT') return undefined;
    const values = xmlBlocks(set, 'ResourceRecord').map((record) => xmlText(record, 'Value') ?? '');
    return { ttl: xmlText(set, 'TTL') ?? String(TTL_S), values };
  }

  async #zoneOf(name: string, signal: AbortSignal): Promise<string> {
    const { settings, rights } = this.#context;
    const { 'zone-id': given } = settings;
    if (given !== undefined) return given;
    for (const zone of zonesAbove(name)) {
      const query = { dnsname: zone, maxitems: MAX_ZONES_OF_NAME };
      const answer = await this.#call({ method: 'GET', path: '/hostedzonesbyname', query }, signal);
      if (answer.status !== 200) throw this.#client.failure(`list the hosted zone ${zone}`, answer);
      // A private zone of the same name is not what the internet sees.
      const found = xmlBlocks(answer.text, 'HostedZone').find(
        (each) => xmlText(each, 'Name') === `${zone}.` && xmlText(each, 'PrivateZone') !== 'true',
      );
      const id = found && xmlText(found, 'Id')?.replace('/hostedzone/', '');
      if (id !== undefined) return id;
    }
    throw providerFailure(
      `Route 53 shows no public hosted zone that contains ${name}: the key needs ${rights} for the account of the zone; a ` +
        'zone elsewhere can delegate the name by an alias (CNAME)',
    );
  }

  async #call(
    request: {
      readonly method: 'GET' | 'POST';
      readonly path: string;
      readonly query?: Readonly<Record<string, string>>;
      readonly body?: string;
    },
    signal: AbortSignal,
  ): Promise<JsonAnswer> {
    const { secret, rights } = this.#context;
    const { method, query = {}, body } = request;
    const path = `${ROOT}${request.path}`;
    const plain: Record<string, string> = { host: new URL(this.#origin).host, accept: 'application/xml' };
    if (body !== undefined) plain['content-type'] = 'application/xml';
    const question = queryText(query);
    const answer = await this.#client.send(() => {
      const scope = { ...SCOPE, nowMs: systemClock.nowMs() };
      const headers = signAwsRequest({ method, path, query, headers: plain, body }, this.#key, scope);
      return { method, path: question === '' ? path : `${path}?${question}`, headers, body };
    }, signal);
    if (answer.status === 401 || answer.status === 403 || REFUSED.has(codeOf(answer)))
      throw this.#client.refusal(secret!.source, rights, answer);
    return answer;
  }
}

/** Some errors are the root of the document, others are named inside of it. */
function codeOf({ status, text }: JsonAnswer): string | undefined {
  if (status < 400) return undefined;
  return xmlText(text, 'Code') ?? (/<InvalidChangeBatch\b/.test(text) ? 'InvalidChangeBatch' : undefined);
}

function batchOf(name: string, before: RecordSet | undefined, values: readonly string[]): string {
  const changes = [
    ...(before === undefined ? [] : [changeOf('DELETE', name, before)]),
    ...(values.length === 0 ? [] : [changeOf('CREATE', name, { ttl: before?.ttl ?? String(TTL_S), values })]),
  ];
  return (
    `<?xml version="1.0" encoding="UTF-8"?><ChangeResourceRecordSetsRequest xmlns="${NAMESPACE}"><ChangeBatch><Changes>` +
    `${changes.join('')}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`
  );
}

function changeOf(action: 'CREATE' | 'DELETE', name: string, { ttl, values }: RecordSet): string {
  const records = values.map(
    (value) => `<ResourceRecord><Value>${xmlEscaped(value)}</Value></ResourceRecord>`,
  );
  return (
    `<Change><Action>${action}</Action><ResourceRecordSet><Name>${xmlEscaped(name)}.</Name><Type>TXT</Type>` +
    `<TTL>${ttl}</TTL><ResourceRecords>${records.join('')}</ResourceRecords></ResourceRecordSet></Change>`
  );
}
