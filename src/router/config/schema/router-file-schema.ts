/**
 * The whole configuration file of the router: the single source of the checks, the defaults, the JSON Schema, the
 * annotated example and the reference page. Rules that concern several fields are in `rules/`.
 */
import {
  flag,
  legacy,
  list,
  section,
  text,
  unread,
  unsupported,
  type Field,
  type FileValueOf,
} from '../schema-field.ts';
import { ctrlSection } from './ctrl-schema.ts';
import { edgeSection } from './edge-schema.ts';
import { csrSection, identitySection } from './identity-schema.ts';
import { linkSection } from './link-schema.ts';
import { dialersSection, listenersSection } from './listener-schema.ts';
import {
  forwarderSection,
  healthChecksSection,
  metricsSection,
  profileSection,
  traceSection,
} from './operation-schema.ts';
import {
  connectEventsSection,
  DEFAULT_WEB_SOCKET_TIMES,
  interfaceDiscoverySection,
  managedConfigSection,
  proxySection,
  tlsSection,
  transportSection,
} from './transport-schema.ts';
import { webSection } from './web-schema.ts';

/** The only supported version of the file. */
export const FILE_VERSION = 3;

const version: Field<typeof FILE_VERSION, never, never> = unread({
  type: 'integer',
  const: FILE_VERSION,
  description: 'Version of the file.',
  notes: { example: FILE_VERSION },
});

export const routerFileSchema = section('Configuration of an overlay router.')(
  {
    v: version,
    identity: identitySection,
    ctrl: ctrlSection,
    'csr?': csrSection('Has precedence over edge.csr; for routers without an edge section.', true),
    'edge?': edgeSection,
    'link?': linkSection,
    'dialers?': dialersSection,
    'listeners?': listenersSection,
    'web?': webSection,
    forwarder: forwarderSection,
    healthChecks: healthChecksSection,
    metrics: metricsSection,
    'trace?': traceSection,
    'profile?': profileSection,
    'transport?': transportSection,
    proxy: proxySection,
    tls: tlsSection,
    connectEvents: connectEventsSection,
    interfaceDiscovery: interfaceDiscoverySection,
    'managedConfig?': managedConfigSection,
    'plugins?': unsupported(
      list('Plugins of OpenZiti’s routers.', text('A file.', 'any-text'), {
        isLenient: true,
        isEmptyAllowed: true,
        isExtra: true,
      }),
    ),
    'enableDebugOps?': unsupported(flag('Debugging operations for controllers.', { isExtra: true })),
    'ha?': legacy('Only in older files.'),
    'healthCheck?': legacy('Only in older files.'),
    'example?': legacy('Only in older files.'),
  },
  ({ csr, edge, tls, profile, transport, ...fields }) => ({
    ...fields,
    ...tls,
    edge: edge === undefined ? undefined : withoutCsr(edge),
    csr: csr ?? edge?.csr,
    webSockets: transport?.wss ?? DEFAULT_WEB_SOCKET_TIMES,
    profile: { cpuPath: profile?.cpu?.path, memory: profile?.memory },
  }),
);

function withoutCsr<T extends { readonly csr: unknown }>({ csr: _csr, ...edge }: T): Omit<T, 'csr'> {
  return edge;
}

/** The schema without types, for checks and documents that iterate over it. */
export const routerFileField: Field = routerFileSchema;

/** The content of a valid file, with all defaults. */
export type RouterFile = FileValueOf<typeof routerFileSchema>;
export type ListenerFile = NonNullable<RouterFile['listeners']>[number];
