/** Schemas of summaries: a frontdoor, or the installation, at one glance. */
import type { Static, TObject } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, oneOf, timestamp, uuid } from '../schema-parts.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const shareCounts = () =>
  closed({
    total: count('All shares'),
    pending: count('Shares that have not been probed yet'),
    deployed: count('Shares whose service is reachable'),
    failed: count('Shares whose service is not reachable'),
    public: count('Shares that gateways serve'),
    private: count('Shares that only environments with a grant can dial'),
  });

const connectedCounts = () =>
  closed({ total: count('Total number'), online: count('Number that is connected') });

const versionCounts = (whose: string) =>
  Type.Array(
    closed({
      version: nullable<string>({ type: 'string', description: 'The version; null if it was not reported' }),
      count: count('How many run it'),
    }),
    { description: `How many ${whose} run each version, the most frequent first` },
  );

const certificates = () =>
  Type.Array(
    closed({
      kind: oneOf('environment', 'gateway', 'router'),
      id: Type.String({ description: 'The ID of the holder' }),
      name: Type.String({ description: 'The name of the holder' }),
      expiresAt: timestamp(),
    }),
    { description: 'Certificates of machines that expire within 14 days, the first 20 to expire' },
  );

export const frontdoorSummarySchema = closed({
  frontdoorId: uuid(),
  environments: connectedCounts(),
  shares: shareCounts(),
  authProviders: closed({ total: count('All auth providers'), enabled: count('Enabled auth providers') }),
  customFrontends: closed({
    total: count('All custom frontends'),
    active: count('Custom frontends that a gateway serves with a certificate'),
  }),
  failuresLastHour: count('Recorded request failures in the last hour'),
  agentVersions: versionCounts('agents'),
  expiringCertificates: certificates(),
});
export type FrontdoorSummaryAnswer = Static<typeof frontdoorSummarySchema>;

export const installationSummarySchema = closed({
  organizations: count('All organizations'),
  frontdoors: count('All frontdoors'),
  environments: connectedCounts(),
  shares: shareCounts(),
  routers: connectedCounts(),
  gateways: connectedCounts(),
  links: closed({
    total: count('Links that this control plane knows'),
    usable: count('Links that circuits can use'),
  }),
  circuits: count('Circuits that this control plane created'),
  controlPlanes: closed({
    running: count('Running control planes'),
    silent: count('Control planes that stopped unexpectedly in the last 24 hours'),
  }),
  agentVersions: versionCounts('agents'),
  routerVersions: versionCounts('connected routers'),
  expiringCertificates: certificates(),
});
export type InstallationSummaryAnswer = Static<typeof installationSummarySchema>;

const firstOf = <Entry extends TObject>(entry: Entry, description: string) =>
  closed({ total: count('How many there are'), first: Type.Array(entry, { description }) });
const textOrNull = (description: string) => nullable<string>({ type: 'string', description });

export const frontdoorAttentionSchema = closed({
  frontdoorId: uuid(),
  failingShares: firstOf(
    closed({
      token: Type.String({ description: 'The token of the share' }),
      name: textOrNull('The name of the share; null if it has none'),
      lastError: textOrNull('Why the latest probe failed; null if the reason is not known'),
    }),
    'The first five by name',
  ),
  disconnectedAgents: firstOf(
    closed({
      id: Type.String({ description: 'The ID of the agent' }),
      name: Type.String({ description: 'The name of the agent' }),
      lastSeenAt: nullable<string>({
        type: 'string',
        format: 'date-time',
        description: 'When it was connected last; null: never',
      }),
    }),
    'The first five by name',
  ),
  waitingDomains: firstOf(
    closed({
      id: Type.String({ description: 'The ID of the custom frontend' }),
      hostname: Type.String({ description: 'Its hostname' }),
    }),
    'The first five custom frontends that wait for DNS or a certificate',
  ),
  expiringCertificates: Type.Array(
    closed({
      kind: oneOf('environment', 'domain'),
      id: Type.String({
        description: 'The ID of the environment, or the token of the share that has the domain',
      }),
      name: Type.String({ description: 'The name of the environment, or the domain' }),
      expiresAt: timestamp(),
    }),
    { description: 'Certificates that expire within 14 days, the first five to expire' },
  ),
  waitingPeople: count('People of the organization who signed in and wait for a role'),
});
export type FrontdoorAttentionAnswer = Static<typeof frontdoorAttentionSchema>;
