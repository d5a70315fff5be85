/** Schemas of the destinations of notifications, and of their deliveries. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { NOTIFICATION_EVENT_TYPES, type NotificationEventType } from '../notification-event-table.ts';
import { closed, nameText, nullable, oneOf, readOnly, timestamp, uuid } from '../schema-parts.ts';

const MAX_URL_CHARS = 2_048;
export const DESTINATION_TYPES = ['webhook', 'email'] as const;
export const MAX_MAIL_ADDRESSES = 10;
const MAX_ADDRESS_CHARS = 254;
/** Without quoted forms, so that an address is one word in any header. */
const MAIL_ADDRESS = "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$";
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
const addresses = () =>
  Type.Array(
    Type.String({
      minLength: 3,
      maxLength: MAX_ADDRESS_CHARS,
      pattern: MAIL_ADDRESS,
      examples: ['ops@example.com'],
    }),
    {
      minItems: 1,
      maxItems: MAX_MAIL_ADDRESSES,
      uniqueItems: true,
      description:
        'The email addresses of a destination of type email. The operator has to configure a mail server (--smtp-host) first',
      examples: [['ops@example.com']],
    },
  );
const events = () =>
  Type.Array(oneOf<NotificationEventType>(...NOTIFICATION_EVENT_TYPES), {
    minItems: 1,
    maxItems: NOTIFICATION_EVENT_TYPES.length,
    uniqueItems: true,
    description:
      'The types of events that it receives. Events of the installation, such as router.lost, require frontdoor.admin',
  });
const enabled = () => Type.Boolean({ description: 'Whether events are sent to it' });
const type = () => oneOf(...DESTINATION_TYPES);

const fields = () => ({
  id: uuid(),
  organizationId: uuid(),
  name: Type.String(),
  type: type(),
  url: Type.Optional(Type.String({ description: 'The address of a webhook' })),
  addresses: Type.Optional(
    Type.Array(Type.String(), { description: 'The email addresses of a destination of type email' }),
  ),
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
  secret: Type.Optional(
    Type.String({
      description:
        'The secret that signs the messages to a webhook (Standard Webhooks). It is shown only in this response',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3k2pQm7vO1s='],
    }),
  ),
});

export const newNotificationDestinationSchema = closed({
  name: nameText(),
  type: Type.Optional(type()),
  url: Type.Optional(destinationUrl()),
  addresses: Type.Optional(addresses()),
  enabled: Type.Optional(enabled()),
  events: Type.Optional(events()),
  organizationId: Type.Optional(
    Type.String({ format: 'uuid', description: "The organization; the caller's own by default" }),
  ),
});

export const notificationDestinationChangeSchema = closed({
  name: Type.Optional(nameText()),
  url: Type.Optional(destinationUrl()),
  addresses: Type.Optional(addresses()),
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
