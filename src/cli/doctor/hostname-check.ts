/** Checks whether the hostnames of custom frontends are proven: which records are to be created, and what DNS says now. */
import type { CustomFrontendAnswer, DnsCheckAnswer } from '#contract/schemas';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf } from '../operations/list-pages.ts';
import { failure, ok, skipped, warning, type CheckResult } from './finding.ts';

/** How many are read, and how many are looked up and named. */
const MOST_READ = 1_000;
const MOST_NAMED = 5;
const PROVEN: ReadonlySet<string> = new Set(['PROVEN', 'GRANTED']);

export async function hostnamesVerdict(client: ManagementClient, frontdoorId: string): Promise<CheckResult> {
  const root = `/frontdoor/${encodeURIComponent(frontdoorId)}/custom-frontends`;
  const found = entriesOf(await client.call({ method: 'GET', path: `${root}?page=0&size=${MOST_READ}` }));
  // A control plane of before there were proofs names none.
  const domains = (found as readonly Partial<CustomFrontendAnswer>[]).filter(
    ({ proof }) => proof !== undefined,
  );
  if (domains.length === 0) return skipped('there is no custom frontend');
  const open = domains.filter(({ proof }) => !PROVEN.has(proof!));
  if (open.length === 0) return ok(`${domains.length} proven`);
  const named = await Promise.all(open.slice(0, MOST_NAMED).map((domain) => described(client, root, domain)));
  const more = open.length > named.length ? ` (and ${open.length - named.length} more)` : '';
  const message = `not proven: ${named.map(({ text }) => text).join('; ')}${more}`;
  const [record] = named.flatMap((each) => each.record ?? []);
  const remedy =
    record === undefined
      ? '"frontdoor custom-frontends dns-records" shows the records to create'
      : `create the TXT record ${record.name} with the value ${record.value}; "frontdoor custom-frontends dns-records" shows all`;
  return open.some(({ proof }) => proof === 'MISSING') ? failure(message, remedy) : warning(message, remedy);
}

async function described(
  client: ManagementClient,
  root: string,
  { id, hostname, proof, proofEndsAt }: Partial<CustomFrontendAnswer>,
): Promise<{ readonly text: string; readonly record: DnsCheckAnswer | undefined }> {
  const until = typeof proofEndsAt === 'string' ? ` until ${proofEndsAt.slice(0, 10)}` : '';
  const name = `${hostname} (${proof}${until})`;
  try {
    const checks = (await client.call({
      method: 'GET',
      path: `${root}/${id}/dns-check`,
    })) as readonly DnsCheckAnswer[];
    const record = checks.find(({ type }) => type === 'TXT');
    return { text: record === undefined ? name : `${name}, DNS: ${record.problem ?? record.state}`, record };
  } catch {
    // Too many look-ups run.
    return { text: name, record: undefined };
  }
}
