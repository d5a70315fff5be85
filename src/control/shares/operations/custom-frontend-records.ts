/**
 * The DNS records of a custom frontend: the one that leads to the gateways, and the one that proves its hostname; and what
 * DNS says about them now.
 */
import type { DnsCheckAnswer, DnsRecordAnswer } from '#contract/schemas';
import type { TxtAnswer } from '#domain';
import { challengeName, challengeValue, hasValue } from '../hostnames/hostname-proof-policy.ts';
import { registrableDomain } from '../hostnames/registrable-domain.ts';
import { hastenProof, isProvenByAnother } from '../records/hostname-proof-store.ts';
import { zoneOf, type CustomFrontendRecord } from '../records/custom-frontend-store.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { tooMany } from './api-errors.ts';
import type { ApiParts } from './call.ts';
import { judgeDns, judgeText } from './dns-policy.ts';

type RecordParts = Pick<ApiParts, 'store' | 'installation'>;

/** Any name below the hostname has the records of the wildcard. */
const PROBED_LABEL = 'frontdoor-check';
const FOR_GATEWAYS = 'Shares and sign-ins below the name reach the gateways';
const FOR_PROOF = 'Proves that the name belongs to your organization: keep it, it is looked up again';
/** Records in an answer, and characters of each. */
const MAX_FOUND = 20;
const MAX_TEXT = 200;

export async function neededRecords(
  parts: RecordParts,
  { organizationId }: GrantedFrontdoor,
  record: CustomFrontendRecord,
): Promise<DnsRecordAnswer[]> {
  const alias = { ...(await aliasOf(parts, record)), purpose: FOR_GATEWAYS };
  const proven = await provenName(parts, organizationId, record);
  return proven === undefined
    ? [alias]
    : [alias, { ...textRecord(proven.name, organizationId), purpose: FOR_PROOF }];
}

/** A record that proves the hostname leads to its proof in a moment. */
export async function checkedRecords(
  parts: RecordParts,
  frontdoor: GrantedFrontdoor,
  record: CustomFrontendRecord,
): Promise<DnsCheckAnswer[]> {
  const { organizationId } = frontdoor;
  const { names } = parts.installation;
  const alias = await aliasOf(parts, record);
  const lookedUp = `${PROBED_LABEL}.${record.hostname}`;
  const [ofName, ofZone, text] = await Promise.all([
    names.of(lookedUp, organizationId),
    names.of(`${PROBED_LABEL}.${alias.value}`, organizationId),
    checkedText(parts, organizationId, record),
  ]);
  if (ofName === undefined || ofZone === undefined) throw tooMany(1);
  const { state, found, problem } = judgeDns(alias.value, ofName, ofZone);
  const checkedAlias: DnsCheckAnswer = { ...alias, lookedUp, state, found: [...found], problem };
  if (text === undefined) return [checkedAlias];
  if (text.state === 'correct' && record.proof !== 'PROVEN') {
    await parts.store.transaction((trx, touch) => hastenProof(trx, touch, record.id));
  }
  return [checkedAlias, text];
}

async function checkedText(
  parts: RecordParts,
  organizationId: string,
  record: CustomFrontendRecord,
): Promise<DnsCheckAnswer | undefined> {
  const proven = await provenName(parts, organizationId, record);
  if (proven === undefined) return undefined;
  const { name, domain } = proven;
  const value = challengeValue(organizationId);
  const ask = async (one: string): Promise<TxtAnswer> => {
    const answer = await parts.installation.names.txt(challengeName(one), organizationId);
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
  { store }: RecordParts,
  organizationId: string,
  { hostname, proof, proofName }: CustomFrontendRecord,
): Promise<{ readonly name: string; readonly domain: string } | undefined> {
  if (proof === 'GRANTED') return undefined;
  const domain = await registrableDomain(hostname);
  const isOfDomain = proofName === domain || (await isProvenByAnother(store.db, domain, organizationId));
  return { name: isOfDomain ? domain : hostname, domain };
}

async function aliasOf({ store }: RecordParts, record: CustomFrontendRecord) {
  const value = await zoneOf(store.db, record);
  return { type: 'CNAME', name: `*.${record.hostname}`, value } as const;
}

function textRecord(name: string, organizationId: string) {
  return { type: 'TXT', name: challengeName(name), value: challengeValue(organizationId) } as const;
}
