/**
 * The enumerations of the API by name. Each one is a component of the API description, referenced wherever it is
 * used.
 */
import { NOTIFICATION_EVENT_TYPES, NOTIFICATION_EVENTS } from './notification-event-table.ts';
import { EVENT_EXPORT_STARTS } from './schemas/event-export-schemas.ts';
import { DELIVERY_STATES, DESTINATION_TYPES } from './schemas/notification-schemas.ts';
import { BACKEND_MODE_TABLE, BACKEND_MODES, ROLES, SCOPES, TERMINATOR_STRATEGIES } from '#domain';
import { INGRESS_KINDS } from '#domain/backend-modes';
import { HTTPS_REDIRECTS } from '#domain/access';
import { AUTH_PROVIDER_TYPES } from '#domain/provider-types';
import { CONTENT_CODINGS, PROXY_PROTOCOLS } from '#domain/upstream';
import { DOMAIN_CERTIFICATE_STATES } from './schemas/domain-schemas.ts';
import { SEARCHED_KINDS } from './schemas/search-schemas.ts';

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
      'The permissions of a person. reader: can view. editor: can also make changes. administrator: can also manage people, accounts, clients and settings of the organization. operator: can also operate the installation and the mesh.',
  },
  {
    name: 'HttpsRedirect',
    values: HTTPS_REDIRECTS,
    description:
      'Which requests over plain HTTP are redirected to HTTPS. auto: those for names with a certificate. always: all. never: none.',
  },
  {
    name: 'ContentCoding',
    values: CONTENT_CODINGS,
    description: 'A coding with which gateways may compress responses.',
  },
  {
    name: 'ProxyProtocol',
    values: PROXY_PROTOCOLS,
    description:
      'The version of the PROXY protocol that a service expects. off: none. v1: a line of text. v2: the binary form.',
  },
  {
    name: 'EnrollmentState',
    values: ['open', 'used', 'expired', 'refused'],
    description:
      'open: an agent can enroll. used: an agent has enrolled. expired: the code has expired. refused: too many malformed certificate requests were received.',
  },
  {
    name: 'DatabaseKind',
    values: ['embedded', 'postgres'],
    description: 'embedded: a file of the control plane. postgres: a database on PostgreSQL.',
  },
  {
    name: 'DnsState',
    values: ['correct', 'missing', 'different', 'unknown'],
    description:
      'correct: the name resolves to the gateways. missing: it has no records. different: it resolves to something else. unknown: no name server responded.',
  },
  {
    name: 'DomainCertificateState',
    values: DOMAIN_CERTIFICATE_STATES,
    description:
      'NONE: no gateway has reported a certificate, and one is ordered at the first visit over HTTPS. VALID: gateways have a valid certificate. EXPIRED: the certificate has expired. FAILED: there is no valid certificate, and the last order failed.',
  },
  {
    name: 'CertificateHolderKind',
    values: ['environment', 'domain'],
    description: 'Whose certificate expires: that of an environment, or that of a domain of a share.',
  },
  { name: 'SearchedKind', values: SEARCHED_KINDS, description: 'The kind of a resource that was found.' },
  {
    name: 'ShareMode',
    values: ['public', 'private'],
    description: 'public: gateways serve the share. private: only environments with a grant can dial it.',
  },
  {
    name: 'BackendMode',
    values: BACKEND_MODES,
    description: `${BACKEND_MODES.map((mode) => `${mode}: ${BACKEND_MODE_TABLE[mode].description}`).join(' ')}`,
  },
  {
    name: 'Ingress',
    values: INGRESS_KINDS,
    description:
      'How clients reach a public share with a tcp:// or udp:// target. port: at a port of its own. tls, for tcp:// only: under its names at the HTTPS port, with TLS that ends at the gateway. tls-passthrough: likewise, with TLS that ends at the service.',
  },
  {
    name: 'Admission',
    values: ['everyone', 'some', 'nobody'],
    description:
      'everyone: callers from any network, without credentials. some: callers that meet a condition. nobody: every request is refused.',
  },
  {
    name: 'ShareStatus',
    values: ['PENDING', 'DEPLOYED', 'FAILED'],
    description:
      'PENDING: not probed yet. DEPLOYED: the last probe reached the service. FAILED: the last probe failed; see `failure`.',
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
      'NEW: no gateway has reported it. PENDING: a gateway has no certificate for it. ACTIVE: all gateways serve it.',
  },
  {
    name: 'HostnameProof',
    values: ['PENDING', 'PROVEN', 'GRANTED', 'MISSING'],
    description:
      'PENDING: ownership is not proven yet; the hostname is not served. PROVEN: proven by its TXT record. GRANTED: approved by an operator. MISSING: the TXT record that proved ownership has been removed.',
  },
  { name: 'DnsRecordType', values: ['CNAME', 'TXT'], description: 'The type of a DNS record.' },
  {
    name: 'HeaderAction',
    values: ['set', 'add', 'remove'],
    description:
      'set: replaces all lines of the header. add: adds a line to those that there are. remove: removes all lines.',
  },
  {
    name: 'TerminatorStrategy',
    values: TERMINATOR_STRATEGIES,
    description: 'How a circuit selects a terminator of a service.',
  },
  {
    name: 'TerminatorPrecedence',
    values: ['default', 'required', 'failed'],
    description: 'Required terminators are selected first, then default ones, then failed ones.',
  },
  {
    name: 'TerminatorKind',
    values: ['share', 'fabric', 'edge'],
    description:
      'Whether the terminator serves a share, a fabric service, or a service of the edge management API.',
  },
  { name: 'TerminatorBinding', values: ['transport'], description: 'How a router dials the address.' },
  {
    name: 'SparklineScope',
    values: ['frontdoor', 'environment', 'share'],
    description: 'The resource whose requests a sparkline counts.',
  },
  {
    name: 'RestingNameKind',
    values: ['share', 'custom-frontend', 'share-domain'],
    description: 'The kind of resource that had the name.',
  },
  {
    name: 'MakerKind',
    values: ['account', 'client', 'issuer', 'person', 'system'],
    description:
      'The kind of caller that created it. system: the installation, for example for the first invitation.',
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
      'next: trusted, but not issuing yet. issuing: in use. former: trusted until its certificates are replaced.',
  },
  {
    name: 'RotationStep',
    values: ['distributed', 'issuing'],
    description:
      'distributed: the new authority is trusted, but does not issue certificates yet. issuing: the new authority issues certificates; the former one is still trusted.',
  },
  {
    name: 'SealingState',
    values: ['none', 'added', 'sealing', 'done'],
    description:
      'none: no rotation in progress. added: at least one control plane does not have the new key. sealing: values are being re-encrypted. done: former keys are removed.',
  },
  {
    name: 'CertifiedIdentity',
    values: ['environment', 'gateway', 'router', 'edge'],
    description: 'The kind of identity. edge: created through the edge management API.',
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
      'How a console session was started. password: with only a password. second-factor: with a password and a code. provider: with an auth provider. token: with the token of an API account.',
  },
  {
    name: 'NotificationDestinationType',
    values: DESTINATION_TYPES,
    description:
      'webhook: an HTTPS address that receives signed messages (Standard Webhooks). email: addresses that receive mail, where the operator configured a mail server.',
  },
  {
    name: 'NotificationEventType',
    values: NOTIFICATION_EVENT_TYPES,
    description: Object.entries(NOTIFICATION_EVENTS)
      .map(([type, { meaning }]) => `${type}: ${meaning}.`)
      .join(' '),
  },
  {
    name: 'EventExportStart',
    values: EVENT_EXPORT_STARTS,
    description: 'now: past audit events are left out. beginning: all audit events are sent.',
  },
  {
    name: 'DeliveryState',
    values: DELIVERY_STATES,
    description:
      'PENDING: it is sent, or sent again later. DELIVERED: the destination accepted it. FAILED: all attempts failed; it is sent again on request.',
  },
  { name: 'GrantType', values: ['client_credentials'], description: 'The OAuth 2.0 grant.' },
  { name: 'TokenType', values: ['Bearer'], description: 'The authentication scheme for the token.' },
];

const byValues = new Map(enumerations.map((each) => [each.values.join('|'), each]));

/** Returns undefined if these values are no enumeration of the API. */
export function enumerationNamed(values: readonly string[]): Enumeration | undefined {
  return byValues.get(values.join('|'));
}
