/**
 * The router's configuration file, whole: the one source of what `check` refuses, of defaults, and of the JSON Schema,
 * the annotated example and the reference page. What concerns several fields at once is in `rules/`.
 */
import type { Static } from 'typebox';
import { Type } from '#contract/schema';
import { flag, legacy, list, optional, section, text, type Field } from '../schema-field.ts';
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
  interfaceDiscoverySection,
  managedConfigSection,
  proxySection,
  tlsSection,
  transportSection,
} from './transport-schema.ts';
import { webSection } from './web-schema.ts';

/** The one version of the file. */
export const FILE_VERSION = 3;

export const routerFileSchema = section(
  {
    v: Type.Unsafe<typeof FILE_VERSION>({
      type: 'integer',
      const: FILE_VERSION,
      description: 'Version of the file.',
      notes: { example: FILE_VERSION },
    }),
    identity: identitySection,
    ctrl: ctrlSection,
    csr: csrSection('Wins over edge.csr; for routers without an edge section.', true),
    edge: optional(edgeSection),
    link: optional(linkSection),
    dialers: optional(dialersSection),
    listeners: optional(listenersSection),
    web: optional(webSection),
    forwarder: forwarderSection,
    healthChecks: healthChecksSection,
    metrics: metricsSection,
    trace: optional(traceSection),
    profile: optional(profileSection),
    transport: optional(transportSection),
    proxy: proxySection,
    tls: tlsSection,
    connectEvents: connectEventsSection,
    interfaceDiscovery: interfaceDiscoverySection,
    managedConfig: managedConfigSection,
    plugins: optional(
      list(text({ about: 'A file.', kind: 'any-text' }), {
        about: 'Plugins of OpenZiti’s routers.',
        isLenient: true,
        isEmptyAllowed: true,
        isUnsupported: true,
        isExtra: true,
      }),
    ),
    enableDebugOps: optional(
      flag({ about: 'Debugging by controllers.', isUnsupported: true, isExtra: true }),
    ),
    ha: optional(legacy('Older files have it.')),
    healthCheck: optional(legacy('Older files have it.')),
    example: optional(legacy('Older files have it.')),
  },
  { about: 'Configuration of an overlay router.' },
);

/** For checks and documents, which walk it. */
export const routerFileField = routerFileSchema as unknown as Field;

/** What a valid file says, every default filled in. */
export type RouterFile = Static<typeof routerFileSchema>;
export type LinkFile = NonNullable<RouterFile['link']>;
export type ListenerFile = NonNullable<RouterFile['listeners']>[number];
export type DialerFile = NonNullable<RouterFile['dialers']>[number];
export type WebFile = NonNullable<RouterFile['web']>[number];
