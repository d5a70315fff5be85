/** The schema of the agent's configuration file. Fields that shares have at the API too are derived from there. */
import { Part, Type, type ShapeOf } from '#base/shapes';
import { PROGRAM_SECTIONS, type ProgramSection } from '#domain';
import { INGRESS_KINDS } from '#domain/backend-modes';
import { MAX_DOMAINS_OF_SHARE } from '#domain/agent-shapes';
import { upstreamChangeSchema } from '#domain/upstream';
import { sharePolicyReplacementSchema } from './access-schemas.ts';
import { fileSchemaOf } from './file-schema.ts';

const MAX_SHARES = 10_000;
const MAX_ACCESSES = 256;
const MAX_GRANTS = 1_000;
const MAX_AUTH_PROVIDERS = 100;

export function described<S extends object>(schema: S, description: string): S {
  return { ...schema, description };
}

/** The fields of a share in every file. */
export const fileShareFields = () => ({
  name: described(
    Part.text(),
    'Name of the share, which its addresses begin with: 1 to 63 of a-z, 0-9 and -',
  ),
  mode: described(
    Part.oneOf('public', 'private'),
    '`public`: at an address of the gateway; `private`: for granted environments',
  ),
  target: described(
    Part.text(),
    'Address of the service, such as http://127.0.0.1:3000, or of a folder, such as file:///srv/www; public shares with tcp: and udp: targets are reached at a port of the gateways',
  ),
  grants: Type.Optional(
    Type.Array(Part.someText(), {
      maxItems: MAX_GRANTS,
      description: 'Names or IDs of the environments that can dial a private share',
    }),
  ),
  authProviders: Type.Optional(
    fileProviderNames(
      'Names or IDs of the auth providers that guard the share. An empty list removes all. Absent: the share keeps its auth providers',
    ),
  ),
  policy: Type.Optional(
    described(
      fileSchemaOf(sharePolicyReplacementSchema),
      'The access policy of the share. Absent fields have their defaults, and {} admits everyone that the auth providers admit. Absent: the share keeps its policy',
    ),
  ),
  sharedPolicy: Type.Optional(
    described(
      Part.someText(),
      'Name or ID of the shared policy that the share uses, instead of a policy of its own',
    ),
  ),
  upstream: Type.Optional(
    described(
      upstreamChangeSchema,
      'How requests reach the service. Absent fields keep their values; one that is removed from the file of an agent gets its default',
    ),
  ),
  ingress: Type.Optional(
    described(
      Part.oneOf(...INGRESS_KINDS),
      'How clients reach a public share with a tcp: or udp: target: `port`, a port of its own; for tcp:, `tls` or `tls-passthrough`, its names at the HTTPS port of the gateways, with TLS that ends at the gateway or at the service. Absent: as before, and `port` for a new share',
    ),
  ),
  ingressPort: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 65_535,
      description:
        'Port of a public share with a tcp: or udp: target, among those that gateways open (`--tcp-ports`, `--udp-ports`). Absent: the share keeps its port, and a new one gets a free port',
    }),
  ),
  domains: Type.Optional(
    Type.Array(Part.text(), {
      maxItems: MAX_DOMAINS_OF_SHARE,
      description:
        'DNS names of yours at which a public share is served, once a TXT record proves them. Domains that the share has besides stay: only `frontdoor apply --prune` removes them',
    }),
  ),
});

export const fileProviderNames = (description: string) =>
  Type.Array(Part.someText(), { maxItems: MAX_AUTH_PROVIDERS, description });

const fileShareEntrySchema = Part.closed(fileShareFields());

const fileAccessEntrySchema = Part.closed({
  share: described(Part.text(), 'Name or token of a private share that this environment may dial'),
  listen: described(
    Part.text(),
    'HOST:PORT on this machine, at which the share is accessible, such as 127.0.0.1:9000',
  ),
  protocol: Type.Optional(
    described(Part.oneOf('tcp', 'udp'), '`udp` for a share of datagrams; `tcp` by default'),
  ),
});

export const agentFileSchema = Part.closed({
  shares: Type.Optional(
    Type.Array(fileShareEntrySchema, {
      maxItems: MAX_SHARES,
      description:
        'Shares of this agent. A share that is removed from the list is released. Absent: the shares stay as they are',
    }),
  ),
  accesses: Type.Optional(
    Type.Array(fileAccessEntrySchema, {
      maxItems: MAX_ACCESSES,
      description: 'Private shares of other machines that are accessible on this machine',
    }),
  ),
  ...optionSections(),
});

/** The options of programs, which commands read (ADR 0103). */
function optionSections() {
  const section = Type.Optional(Type.Unknown());
  return Object.fromEntries(PROGRAM_SECTIONS.map((name) => [name, section])) as Record<
    ProgramSection,
    typeof section
  >;
}

export type AgentConfig = ShapeOf<typeof agentFileSchema>;
export type ConfiguredShare = NonNullable<AgentConfig['shares']>[number];
