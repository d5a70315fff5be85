/** Operations on the domains of shares. */
import type { DnsRecordAnswer, FrontdoorDomainAnswer, ShareDomainAnswer } from '#contract/schemas';
import type { Share } from '#domain';
import { checkDomainName } from '../hostnames/domain-name.ts';
import { CLAIM_MS } from '../hostnames/hostname-proof-policy.ts';
import { endSessionsAt } from '../logins/login-sessions.ts';
import { certificatesOfDomains, type CertificateOfDomain } from '../records/domain-certificate-store.ts';
import { listClaims, type HostnameClaim } from '../records/hostname-proof-store.ts';
import {
  deleteShareDomain,
  findShareDomain,
  insertShareDomain,
  listShareDomains,
  shareDomainView,
  type ShareDomain,
} from '../records/share-domain-store.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  type ApiParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkedRecords, neededRecords, type RecordedName } from './hostname-records.ts';
import { lockedShare, namedShare } from './named-share.ts';
import { countedPageAnswer, parsePageRequest, textOf } from './page-query.ts';

const FOR_GATEWAYS = 'Requests for the name reach the gateways';

type DomainParts = CreationParts & Pick<ApiParts, 'installation' | 'baseUrl'>;

export const shareDomainHandlers: Handlers<
  DomainParts,
  | 'listDomains'
  | 'listShareDomains'
  | 'addShareDomain'
  | 'getShareDomain'
  | 'removeShareDomain'
  | 'checkShareDomain'
> = {
  async listDomains({ store: { db }, clock }, call) {
    const request = parsePageRequest(call.query);
    const page = await listClaims(db, request, {
      name: textOf(call.query, 'name'),
      proof: textOf(call.query, 'proof'),
      domainsOf: call.frontdoor.id,
    });
    const certificateOf = await certificateAnswers(db, page.content, clock.nowMs());
    return ok(
      countedPageAnswer(
        request,
        page,
        page.content.map((claim) => domainAnswer(claim, certificateOf(claim))),
      ),
    );
  },

  async listShareDomains(parts, call) {
    const { db } = parts.store;
    const share = await namedShare(db, call);
    const domains = await listShareDomains(db, share.id);
    const certificateOf = await certificateAnswers(db, domains, parts.clock.nowMs());
    const answers: ShareDomainAnswer[] = [];
    for (const domain of domains) {
      const records = await neededRecords(db, call.frontdoor, recordedName(share, domain));
      answers.push(answerOf(domain, records, certificateOf(domain)));
    }
    return ok(answers);
  },

  async addShareDomain(parts, call) {
    const { hostname } = call.body;
    await checkDomainName('hostname', hostname, [parts.baseUrl(), parts.installation.edgeApiUrl()]);
    const nowMs = parts.clock.nowMs();
    const wanted = { hostname, nowMs, claimEndsAtMs: nowMs + CLAIM_MS };
    const make = async (trx: Queries, touch: Touch) => {
      const share = await lockedShare(trx, call);
      const domain = await insertShareDomain(trx, touch, share, wanted);
      const records = await neededRecords(trx, call.frontdoor, recordedName(share, domain));
      return { result: answerOf(domain, records, NO_CERTIFICATE_YET), ...auditOf(share, undefined, domain) };
    };
    return creation(parts, call, make, (answer) => {
      const path = `/frontdoor/${call.frontdoor.id}/shares/${call.parameters.token}/domains/${answer.hostname}`;
      return created(parts, path, answer);
    });
  },

  async getShareDomain({ store: { db }, clock }, call) {
    const { share, domain } = await namedDomain(db, call);
    const certificateOf = await certificateAnswers(db, [domain], clock.nowMs());
    const records = await neededRecords(db, call.frontdoor, recordedName(share, domain));
    return ok(answerOf(domain, records, certificateOf(domain)));
  },

  async removeShareDomain(parts, call) {
    const { hostname } = call.parameters;
    await change(parts, call, async (trx, touch) => {
      const share = await lockedShare(trx, call);
      const before = await deleteShareDomain(trx, touch, share, hostname, parts.clock.nowMs());
      if (before === undefined) throw notFound('Domain', hostname);
      await endSessionsAt(trx, touch, share.id, before.hostname);
      return { result: undefined, ...auditOf(share, before, undefined) };
    });
    return gone;
  },

  async checkShareDomain(parts, call) {
    const { share, domain } = await namedDomain(parts.store.db, call);
    return ok(await checkedRecords(parts, call.frontdoor, recordedName(share, domain)));
  },
};

async function namedDomain(
  db: Queries,
  call: Parameters<typeof namedShare>[1] & { readonly parameters: { readonly hostname: string } },
): Promise<{ readonly share: Share; readonly domain: ShareDomain }> {
  const share = await namedShare(db, call);
  const { hostname } = call.parameters;
  const domain = await findShareDomain(db, share.id, hostname);
  if (domain === undefined) throw notFound('Domain', hostname);
  return { share, domain };
}

/** The share is served at the domain by the gateways of its oldest frontend. */
function recordedName(
  { token, frontends }: Share,
  { id, hostname, proof, proofName }: ShareDomain,
): RecordedName {
  const host = frontends[0]?.host;
  const alias =
    host === undefined
      ? undefined
      : {
          name: hostname,
          zone: host.slice(token.length + 1),
          lookedUp: hostname,
          purpose: FOR_GATEWAYS,
        };
  return { id, hostname, proof, proofName, alias };
}

function auditOf({ token }: Share, before: ShareDomain | undefined, after: ShareDomain | undefined) {
  const target = { kind: 'share', id: token };
  return { target, before: before && shareDomainView(before), after: after && shareDomainView(after) };
}

type CertificateAnswer = ShareDomainAnswer['certificate'];

const NO_CERTIFICATE_YET: CertificateAnswer = {
  state: 'NONE',
  validUntil: null,
  problem: null,
  retryAt: null,
};

async function certificateAnswers(
  db: Queries,
  domains: readonly { readonly id: string }[],
  nowMs: number,
): Promise<(domain: { readonly id: string }) => CertificateAnswer> {
  const ids = domains.map(({ id }) => id);
  const certificateOf = await certificatesOfDomains(db, ids, nowMs);
  return ({ id }) => certificateAnswer(certificateOf(id), nowMs);
}

function certificateAnswer(
  { validUntilMs, problem, retryAtMs }: CertificateOfDomain,
  nowMs: number,
): CertificateAnswer {
  const timeOf = (ms: number | null) => (ms === null ? null : isoTime(ms));
  const isValid = validUntilMs !== null && validUntilMs > nowMs;
  const isFailed = problem !== null;
  const without = isFailed ? 'FAILED' : validUntilMs === null ? 'NONE' : 'EXPIRED';
  return {
    state: isValid ? 'VALID' : without,
    validUntil: timeOf(validUntilMs),
    problem,
    retryAt: timeOf(retryAtMs),
  };
}

function domainAnswer(claim: HostnameClaim, certificate: CertificateAnswer): FrontdoorDomainAnswer {
  const { hostname, share, proof, endsAtMs, problem, createdAtMs } = claim;
  return {
    hostname,
    shareToken: share?.token ?? '',
    proof,
    proofEndsAt: endsAtMs === null ? null : isoTime(endsAtMs),
    proofProblem: problem,
    certificate,
    createdAt: isoTime(createdAtMs),
  };
}

function answerOf(
  domain: ShareDomain,
  dnsRecords: readonly DnsRecordAnswer[],
  certificate: CertificateAnswer,
): ShareDomainAnswer {
  const { hostname, proof, proofEndsAtMs, proofProblem, createdAtMs } = domain;
  return {
    hostname,
    proof,
    proofEndsAt: proofEndsAtMs === null ? null : isoTime(proofEndsAtMs),
    proofProblem,
    certificate,
    dnsRecords: [...dnsRecords],
    createdAt: isoTime(createdAtMs),
  };
}
