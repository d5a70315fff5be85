/**
 * The DNS records of a claimed hostname: the one that leads to the gateways, and the one that proves the hostname; and what
 * DNS says about them now.
 */
import type { DnsCheckAnswer, DnsRecordAnswer } from '#contract/schemas';
import type { TxtAnswer } from '#domain';
import { challengeName, challengeValue, hasValue } from '../hostnames/hostname-proof-policy.ts';
import { registrableDomain } from '../hostnames/registrable-domain.ts';
import { hastenProof, isProvenByAnother } from '../records/hostname-proof-store.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import type { HostnameProof, Queries } from '../../store/mod.ts';
import { tooMany } from './api-errors.ts';
import type { ApiParts } from './call.ts';
import { judgeDns, judgeText } from './dns-policy.ts';

type RecordParts = Pick<ApiParts, 'store' | 'installation'>;

/** Names that any name below a zone has the records of, as the zone has a wildcard. */
export const PROBED_LABEL = 'frontdoor-check';
const FOR_PROOF = 'Proves that the name belongs to your organization: keep it, it is looked up again';
/** Records in an answer, and characters of each. */
const MAX_FOUND = 20;
const MAX_TEXT = 200;

/** The record that leads to the gateways. */
export interface AliasRecord {
  readonly name: string;
  /** A zone of the installation. */
  readonly zone: string;
  /** A name that has the record. */
  readonly lookedUp: string;
  readonly purpose: string;
}

export interface RecordedName {
  /** That of the claim. */
  readonly id: string;
  readonly hostname: string;
  readonly proof: HostnameProof;
  readonly proofName: string | null;
  /** Undefined where no gateway serves it. */
  readonly alias: AliasRecord | undefined;
}

export async function neededRecords(
  db: Queries,
  { organizationId }: GrantedFrontdoor,
  named: RecordedName,
): Promise<DnsRecordAnswer[]> {
  const { alias } = named;
  const records: DnsRecordAnswer[] = alias === undefined ? [] : [aliasRecord(alias)];
  const proven = await provenName(db, organizationId, named);
  if (proven !== undefined) records.push({ ...textRecord(proven.name, organizationId), purpose: FOR_PROOF });
  return records;
}

/** A record that proves the hostname leads to its proof in a moment. */
export async function checkedRecords(
  parts: RecordParts,
  { organizationId }: GrantedFrontdoor,
  named: RecordedName,
): Promise<DnsCheckAnswer[]> {
  const [alias, text] = await Promise.all([
    named.alias && checkedAlias(parts, organizationId, named.alias),
    checkedText(parts, organizationId, named),
  ]);
  if (text?.state === 'correct' && named.proof !== 'PROVEN')
    await parts.store.transaction((trx, touch) => hastenProof(trx, touch, named.id));
  return [alias, text].filter((record) => record !== undefined);
}

async function checkedAlias(
  { installation: { names } }: RecordParts,
  organizationId: string,
  alias: AliasRecord,
): Promise<DnsCheckAnswer> {
  const { zone, lookedUp } = alias;
  const [ofName, ofZone] = await Promise.all([
    names.of(lookedUp, organizationId),
    names.of(`${PROBED_LABEL}.${zone}`, organizationId),
  ]);
  if (ofName === undefined || ofZone === undefined) throw tooMany(1);
  const { state, found, problem } = judgeDns(zone, ofName, ofZone);
  const { type, name, value } = aliasRecord(alias);
  return { type, name, value, lookedUp, state, found: [...found], problem };
}

async function checkedText(
  { store, installation }: RecordParts,
  organizationId: string,
  named: RecordedName,
): Promise<DnsCheckAnswer | undefined> {
  const proven = await provenName(store.db, organizationId, named);
  if (proven === undefined) return undefined;
  const { name, domain } = proven;
  const value = challengeValue(organizationId);
  const ask = async (one: string): Promise<TxtAnswer> => {
    const answer = await installation.names.txt(challengeName(one), organizationId);
    if (answer === undefined) throw tooMany(1);
    return answer;
  };
  const [ofName, ofDomain] = await Promise.all([ask(name), name === domain ? undefined : ask(domain)]);
  // A record of the domain proves all names below it.
  const [shown, answer] =
    ofDomain !== undefined && hasValue(ofDomain, value) && !hasValue(ofName, value)
      ? [domain, ofDomain]
      : [name, ofName];
  return {
    ...textRecord(shown, organizationId),
    lookedUp: challengeName(shown),
    ...judgeText(value, answer),
    found: answer.values.slice(0, MAX_FOUND).map((each) => each.slice(0, MAX_TEXT)),
  };
}

/**
 * The name whose record is to prove the hostname, and its registrable domain: the domain if the record is there, or if
 * another organization has proven it. Undefined if an operator has granted the name.
 */
async function provenName(
  db: Queries,
  organizationId: string,
  { hostname, proof, proofName }: RecordedName,
): Promise<{ readonly name: string; readonly domain: string } | undefined> {
  if (proof === 'GRANTED') return undefined;
  const domain = await registrableDomain(hostname);
  const isOfDomain = proofName === domain || (await isProvenByAnother(db, domain, organizationId));
  return { name: isOfDomain ? domain : hostname, domain };
}

function aliasRecord({ name, zone, purpose }: AliasRecord) {
  return { type: 'CNAME', name, value: zone, purpose } as const;
}

function textRecord(name: string, organizationId: string) {
  return { type: 'TXT', name: challengeName(name), value: challengeValue(organizationId) } as const;
}
