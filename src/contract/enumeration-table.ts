/**
 * The enumerations of the API by name. Each one is a component of the API description, referenced wherever it is
 * used.
 */
import {
  AUTH_PROVIDER_TYPES,
  BACKEND_MODE_TABLE,
  BACKEND_MODES,
  modesOf,
  ROLES,
  SCOPES,
  TERMINATOR_STRATEGIES,
} from '#domain';
import { SEARCHED_KINDS } from './search-schemas.ts';

export interface Enumeration {
  readonly name: string;
  readonly values: readonly string[];
  readonly description: string;
}

const enumerations: readonly Enumeration[] = [
  {
    name: 'ProviderType',
    values: AUTH_PROVIDER_TYPES,
    description: 'The type of an auth provider. It decides which schema its data follows.',
  },
  { name: 'Scope', values: SCOPES, description: 'A permission of a caller.' },
  {
    name: 'Role',
    values: ROLES,
    description:
      'What a person may do. reader: see. editor: also change. administrator: also people, accounts, clients and settings of the organization. operator: also the installation and the mesh.',
  },
  {
    name: 'EnrollmentState',
    values: ['open', 'used', 'expired', 'refused'],
    description:
      'open: an agent can enroll. used: an agent enrolled. expired: its time is over. refused: too many requests for a certificate were malformed.',
  },
  {
    name: 'DnsState',
    values: ['correct', 'missing', 'different', 'unknown'],
    description:
      'correct: the name leads to the gateways. missing: it has no records. different: it leads elsewhere. unknown: no name server responded.',
  },
  { name: 'SearchedKind', values: SEARCHED_KINDS, description: 'The kind of a resource that was found.' },
  {
    name: 'ShareMode',
    values: ['public', 'private'],
    description: 'public: gateways serve the share. private: only environments with a grant dial it.',
  },
  {
    name: 'BackendMode',
    values: BACKEND_MODES,
    description: `${BACKEND_MODES.map((mode) => `${mode}: ${BACKEND_MODE_TABLE[mode].description}`).join(' ')} A public share is of mode ${modesOf('public').join(' or ')}.`,
  },
  {
    name: 'Admission',
    values: ['everyone', 'some', 'nobody'],
    description:
      'everyone: callers of any network without a credential. some: those who meet a condition. nobody: every request is refused.',
  },
  {
    name: 'ShareStatus',
    values: ['PENDING', 'DEPLOYED', 'FAILED'],
    description:
      'PENDING: not probed yet. DEPLOYED: the last probe reached the service. FAILED: it did not, see `failure`.',
  },
  {
    name: 'EnvironmentStatus',
    values: ['ACTIVE', 'INACTIVE'],
    description: 'ACTIVE while the agent is connected, INACTIVE otherwise.',
  },
  {
    name: 'AccessDecision',
    values: ['allow', 'login', 'unauthenticated', 'refuse', 'unavailable'],
    description: 'How the gateway handles the request.',
  },
  {
    name: 'AccessStepOutcome',
    values: ['passed', 'decided', 'skipped'],
    description:
      'passed: the rule let the request continue. decided: the rule ended the evaluation. skipped: the rule does not apply.',
  },
  {
    name: 'CustomFrontendStatus',
    values: ['NEW', 'PENDING', 'ACTIVE'],
    description:
      'NEW: no gateway has reported it. PENDING: gateways lack its certificate. ACTIVE: gateways serve it.',
  },
  {
    name: 'HostnameProof',
    values: ['PENDING', 'PROVEN', 'GRANTED', 'MISSING', 'ASKED'],
    description:
      'PENDING: not proven yet, and not served. PROVEN: by its TXT record. GRANTED: by an operator. MISSING: proven, and the record is gone. ASKED: older than proofs, served, and to be proven.',
  },
  { name: 'DnsRecordType', values: ['CNAME', 'TXT'], description: 'The type of a DNS record.' },
  {
    name: 'TerminatorStrategy',
    values: TERMINATOR_STRATEGIES,
    description: 'How a circuit selects a terminator of a service.',
  },
  {
    name: 'TerminatorPrecedence',
    values: ['default', 'required', 'failed'],
    description: 'Terminators that are required are selected before default ones, and failed ones last.',
  },
  {
    name: 'TerminatorKind',
    values: ['share', 'fabric', 'edge'],
    description:
      'Whether the terminator serves a share, a service of the fabric or one of the edge management API.',
  },
  { name: 'TerminatorBinding', values: ['transport'], description: 'How a router dials the address.' },
  {
    name: 'SparklineScope',
    values: ['frontdoor', 'environment', 'share'],
    description: 'The resource whose requests a sparkline counts.',
  },
  {
    name: 'RestingNameKind',
    values: ['share', 'custom-frontend'],
    description: 'The kind of resource that had the name.',
  },
  {
    name: 'MakerKind',
    values: ['account', 'client', 'issuer', 'person', 'system'],
    description:
      'The kind of a caller that made something. system: the installation itself, as for its first person.',
  },
  {
    name: 'CallerKind',
    values: ['account', 'client', 'issuer', 'person'],
    description: 'An API account, an OAuth client, a caller of a trusted issuer, or a person at the console.',
  },
  {
    name: 'AuditResult',
    values: ['ok', 'refused'],
    description: 'Whether the operation was carried out.',
  },
  {
    name: 'AuthorityKind',
    values: ['root', 'intermediate'],
    description: 'root: signs intermediate authorities. intermediate: issues certificates.',
  },
  {
    name: 'AuthorityState',
    values: ['next', 'issuing', 'former'],
    description:
      'next: trusted, and does not issue yet. issuing: in use. former: trusted until its certificates are replaced.',
  },
  {
    name: 'RotationStep',
    values: ['distributed', 'issuing'],
    description:
      'distributed: the new authority does not issue yet. issuing: the former authority is still trusted.',
  },
  {
    name: 'SealingState',
    values: ['none', 'added', 'sealing', 'done'],
    description:
      'none: no key was replaced. added: some control plane does not have the key. sealing: values are encrypted again. done: former keys are removed.',
  },
  {
    name: 'CertifiedIdentity',
    values: ['environment', 'gateway', 'router', 'edge'],
    description: 'The kind of identity. edge: made through the edge management API.',
  },
  {
    name: 'CertificateHolder',
    values: ['environment', 'gateway', 'router'],
    description: 'The kind of machine that holds the certificate.',
  },
  {
    name: 'DiscoveryResult',
    values: ['ok', 'failed', 'none'],
    description:
      'ok: the metadata of the provider was read. failed: it could not be read. none: the type has no discovery.',
  },
  {
    name: 'SessionBeginning',
    values: ['password', 'second-factor', 'provider', 'token'],
    description:
      'How a session at the console began. password: by a password alone. second-factor: by a password and a code. provider: with an auth provider. token: by the token of an API account.',
  },
  { name: 'GrantType', values: ['client_credentials'], description: 'The OAuth 2.0 grant.' },
  { name: 'TokenType', values: ['Bearer'], description: 'The authentication scheme for the token.' },
];

const byValues = new Map(enumerations.map((each) => [each.values.join('|'), each]));

/** Returns undefined if these values are no enumeration of the API. */
export function enumerationNamed(values: readonly string[]): Enumeration | undefined {
  return byValues.get(values.join('|'));
}
