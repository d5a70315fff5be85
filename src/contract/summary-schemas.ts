/** Schemas of summaries: a frontdoor, or the installation, at one glance. */
import type { Static } from 'typebox';
import { Type } from '#base';
import { closed, nullable, oneOf, timestamp, uuid } from './schema-parts.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const shareCounts = () =>
  closed({
    total: count('All shares'),
    pending: count('Shares that are not measured yet'),
    deployed: count('Shares whose backend is reached'),
    failed: count('Shares whose backend is not reached'),
    public: count('Shares that gateways serve'),
    private: count('Shares that only granted environments dial'),
  });

const connectedCounts = () =>
  closed({ total: count('All of them'), online: count('Those that are connected now') });

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
      id: Type.String({ description: 'The id of the holder' }),
      name: Type.String({ description: 'The name of the holder' }),
      expiresAt: timestamp(),
    }),
    { description: 'Certificates of machines that expire within 14 days, the first 20 to expire' },
  );

export const frontdoorSummarySchema = closed({
  frontdoorId: uuid(),
  environments: connectedCounts(),
  shares: shareCounts(),
  authProviders: closed({ total: count('All auth providers'), enabled: count('Those in use') }),
  customFrontends: closed({
    total: count('All custom frontends'),
    active: count('Those that a gateway serves with a certificate'),
  }),
  failuresLastHour: count('Recorded failures of requests in the last hour'),
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
    usable: count('Those that circuits may take'),
  }),
  circuits: count('Circuits that this control plane created'),
  controlPlanes: closed({
    running: count('Control planes that run'),
    silent: count('Those that died in the last 24 hours without shutting down'),
  }),
  agentVersions: versionCounts('agents'),
  routerVersions: versionCounts('connected routers'),
  expiringCertificates: certificates(),
});
export type InstallationSummaryAnswer = Static<typeof installationSummarySchema>;
