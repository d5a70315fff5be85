/** Schemas of the destinations of notifications, and of their deliveries. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { NOTIFICATION_EVENT_TYPES, type NotificationEventType } from '../notification-event-table.ts';
import { closed, nameText, nullable, oneOf, readOnly, timestamp, uuid } from '../schema-parts.ts';

const MAX_URL_CHARS = 2_048;
/** 30 days. */
const MAX_OVERLAP_SECONDS = 2_592_000;

const destinationUrl = () =>
  Type.String({
    minLength: 8,
    maxLength: MAX_URL_CHARS,
    pattern: '^https?://[^\\s@]+$',
    description:
      'The HTTPS address that notifications are sent to. Plain HTTP, and addresses inside private networks, are possible where the operator allows them with --allow-egress',
    examples: ['https://hooks.example.com/frontdoor'],
  });
const events = () =>
  Type.Array(oneOf<NotificationEventType>(...NOTIFICATION_EVENT_TYPES), {
    minItems: 1,
    maxItems: NOTIFICATION_EVENT_TYPES.length,
    uniqueItems: true,
    description:
      'The types of events that it receives. Events of the installation, such as router.lost, require frontdoor.admin',
  });
const enabled = () => Type.Boolean({ description: 'Whether events are sent to it' });
const type = () => oneOf('webhook');

const fields = () => ({
  id: uuid(),
  organizationId: uuid(),
  name: Type.String(),
  type: type(),
  url: Type.String({ description: 'The address that notifications are sent to' }),
  enabled: enabled(),
  events: events(),
  failures: Type.Integer({
    minimum: 0,
    description: 'How many attempts have failed since the last one that succeeded',
  }),
  lastSuccessAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When it last accepted a notification; null: never',
  }),
  lastProblem: nullable<string>({
    type: 'string',
    description: 'Why the last attempt failed; null if it succeeded',
  }),
  previousSecretUntil: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Until this time messages are signed with the secret before the last rotation, too',
    }),
  ),
  createdAt: timestamp(),
});

export const notificationDestinationSchema = closed(fields());
export type NotificationDestinationAnswer = Static<typeof notificationDestinationSchema>;

export const notificationDestinationWithSecretSchema = closed({
  ...fields(),
  secret: Type.String({
    description: 'The secret that signs messages (Standard Webhooks). It is shown only in this response',
    examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3k2pQm7vO1s='],
  }),
});

export const newNotificationDestinationSchema = closed({
  name: nameText(),
  type: Type.Optional(type()),
  url: destinationUrl(),
  enabled: Type.Optional(enabled()),
  events: Type.Optional(events()),
  organizationId: Type.Optional(
    Type.String({ format: 'uuid', description: "The organization; the caller's own by default" }),
  ),
});

export const notificationDestinationChangeSchema = closed({
  name: Type.Optional(nameText()),
  url: Type.Optional(destinationUrl()),
  enabled: Type.Optional(enabled()),
  events: Type.Optional(events()),
  id: readOnly(),
  organizationId: readOnly(),
  type: readOnly(),
  failures: readOnly(),
  lastSuccessAt: readOnly(),
  lastProblem: readOnly(),
  previousSecretUntil: readOnly(),
  createdAt: readOnly(),
});

export const notificationRotationSchema = closed({
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      description:
        'How many seconds messages are signed with the old secret, too, at most 30 days; 0 by default',
      examples: [86_400],
    }),
  ),
});

export const notificationTestSchema = closed({
  delivered: Type.Boolean({ description: 'Whether the destination accepted the message' }),
  status: nullable<number>({ type: 'integer', description: 'The HTTP status; null if there was no answer' }),
  problem: nullable<string>({ type: 'string', description: 'Why it failed; null if it succeeded' }),
});

export const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const;

export const notificationDeliverySchema = closed({
  id: uuid(),
  eventId: Type.String({
    format: 'uuid',
    description: 'The id of the message, which the receiver gets as webhook-id',
  }),
  type: Type.String({ description: 'The type of the event', examples: ['share.failing'] }),
  state: oneOf(...DELIVERY_STATES),
  attempts: Type.Integer({ minimum: 0, description: 'The number of attempts, at most 10' }),
  nextAttemptAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When it is sent next; null if it is finished',
  }),
  attemptedAt: nullable<string>({
    type: 'string',
    format: 'date-time',
    description: 'When it was last sent; null: never',
  }),
  status: nullable<number>({ type: 'integer', description: 'The HTTP status of the last answer' }),
  problem: nullable<string>({ type: 'string', description: 'Why the last attempt failed' }),
  data: Type.Unsafe<unknown>({ type: 'object', description: 'What the message reports' }),
  createdAt: timestamp(),
});
export type NotificationDeliveryAnswer = Static<typeof notificationDeliverySchema>;
