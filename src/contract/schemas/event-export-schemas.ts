/** Schemas of the export of all events to a collector of the operator. */
import { Type } from '#base/shapes';
import { closed, nullable, readOnly } from '../schema-parts.ts';

export const EVENT_EXPORT_STARTS = ['now', 'beginning'] as const;
const MAX_URL_CHARS = 2_048;
const MAX_SECRET_CHARS = 4_096;

const enabled = () => Type.Boolean({ description: 'Whether events are sent. While they are not, they wait' });
const gzip = () => Type.Boolean({ description: 'Whether requests over HTTP are compressed' });
const instant = (description: string) =>
  nullable<string>({ type: 'string', format: 'date-time', description });

export const eventExportSchema = closed({
  url: nullable<string>({ type: 'string', description: 'The address of the collector; null: none is set' }),
  header: Type.String({ description: 'The header that has the secret' }),
  hasSecret: Type.Boolean({ description: 'Whether requests have the header; its value is never shown' }),
  gzip: gzip(),
  enabled: enabled(),
  delivered: Type.Integer({ minimum: 0, description: 'Events that were delivered since it was set first' }),
  lastDeliveredAt: instant('When events were last delivered; null: never'),
  waiting: Type.Integer({ minimum: 0, description: 'Events that were not delivered yet' }),
  oldestWaitingAt: instant('When the oldest of them happened; null if none waits'),
  failures: Type.Integer({
    minimum: 0,
    description: 'How many attempts have failed since the last one that succeeded',
  }),
  lastProblem: nullable<string>({
    type: 'string',
    description: 'Why the last attempt failed; null if it succeeded',
  }),
});

export const eventExportReplacementSchema = closed({
  url: Type.String({
    minLength: 6,
    maxLength: MAX_URL_CHARS,
    pattern: '^(?:https?|tls|tcp)://[^\\s@]+$',
    description:
      'https://… receives lines of JSON by POST. tls://HOST:PORT receives syslog (RFC 5424, with octet counting). Plain http:// and tcp://, and addresses inside private networks, are possible where --allow-egress allows them',
    examples: ['https://collector.example.com/events'],
  }),
  header: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9-]+$',
      title: 'the name of a header',
      description: 'The header that has the secret; authorization by default',
      examples: ['authorization'],
    }),
  ),
  secret: Type.Optional(
    nullable<string>({
      type: 'string',
      minLength: 1,
      maxLength: MAX_SECRET_CHARS,
      pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
      description:
        'The value of the header, such as "Bearer TOKEN"; null: none; absent: the present one is kept, which another origin of url does not permit',
      examples: ['Bearer t0k3n'],
    }),
  ),
  gzip: Type.Optional(gzip()),
  enabled: Type.Optional(enabled()),
  from: Type.Optional(
    Type.Unsafe<(typeof EVENT_EXPORT_STARTS)[number]>({
      type: 'string',
      enum: [...EVENT_EXPORT_STARTS],
      description: 'Where to begin. By default now for a new collector; a change continues where it was',
    }),
  ),
  hasSecret: readOnly(),
  delivered: readOnly(),
  lastDeliveredAt: readOnly(),
  waiting: readOnly(),
  oldestWaitingAt: readOnly(),
  failures: readOnly(),
  lastProblem: readOnly(),
});

export const eventExportTestSchema = closed({
  delivered: Type.Boolean({ description: 'Whether the collector accepted the test event' }),
  problem: nullable<string>({ type: 'string', description: 'Why it failed; null if it succeeded' }),
});
