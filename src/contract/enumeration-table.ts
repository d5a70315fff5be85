/** The enumerations of the API by name, so that each is one component of its description wherever it stands. */
import { AUTH_PROVIDER_TYPES, TERMINATOR_STRATEGIES } from '#domain';
import { SCOPES } from './operation.ts';

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
  { name: 'Scope', values: SCOPES, description: 'What a caller may do.' },
  {
    name: 'ShareMode',
    values: ['public', 'private'],
    description: 'public: gateways serve the share. private: only environments that are granted it dial it.',
  },
  { name: 'BackendMode', values: ['proxy'], description: 'How the agent reaches the service.' },
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
    description: 'What becomes of a request at the gateway.',
  },
  {
    name: 'AccessStepOutcome',
    values: ['passed', 'decided', 'skipped'],
    description:
      'passed: the rule let the request go on. decided: the rule ended the decision. skipped: the rule does not apply.',
  },
  {
    name: 'CustomFrontendStatus',
    values: ['NEW', 'PENDING', 'ACTIVE'],
    description:
      'NEW: no gateway has reported it. PENDING: gateways lack its certificate. ACTIVE: gateways serve it.',
  },
  { name: 'DnsRecordType', values: ['CNAME'], description: 'The type of a DNS record.' },
  {
    name: 'TerminatorStrategy',
    values: TERMINATOR_STRATEGIES,
    description: 'How a circuit chooses among the terminators of a service.',
  },
  {
    name: 'TerminatorPrecedence',
    values: ['default', 'required', 'failed'],
    description: 'required terminators are chosen before default ones, failed ones last.',
  },
  { name: 'TerminatorKind', values: ['share', 'fabric'], description: 'What the terminator belongs to.' },
  { name: 'TerminatorBinding', values: ['transport'], description: 'How a router dials the address.' },
  {
    name: 'SparklineScope',
    values: ['frontdoor', 'environment'],
    description: 'What a sparkline counts the requests of.',
  },
  {
    name: 'RestingNameKind',
    values: ['share', 'custom-frontend'],
    description: 'What the name belonged to.',
  },
  {
    name: 'CallerKind',
    values: ['account', 'client', 'issuer'],
    description: 'An API account, an OAuth client, or a caller of a trusted issuer.',
  },
  {
    name: 'AuditResult',
    values: ['ok', 'refused'],
    description: 'Whether the operation was carried out.',
  },
  {
    name: 'CertificateHolder',
    values: ['environment', 'gateway', 'router'],
    description: 'What kind of machine holds the certificate.',
  },
  {
    name: 'DiscoveryResult',
    values: ['ok', 'failed', 'none'],
    description:
      'ok: the metadata of the provider was read. failed: it was not. none: the type has no discovery.',
  },
  { name: 'GrantType', values: ['client_credentials'], description: 'The OAuth 2.0 grant.' },
  { name: 'TokenType', values: ['Bearer'], description: 'How the token is sent.' },
];

const byValues = new Map(enumerations.map((each) => [each.values.join('|'), each]));

/** Undefined: these values are no enumeration of ours. */
export function enumerationNamed(values: readonly string[]): Enumeration | undefined {
  return byValues.get(values.join('|'));
}
