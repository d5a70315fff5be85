/** Schemas of summaries: a frontdoor, or the installation, at one glance. */
import type { Static } from 'typebox';
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
