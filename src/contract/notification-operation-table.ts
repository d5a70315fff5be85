/** Operations on the destinations of notifications, and on what is sent to them. */
import { byName } from './list-filter-table.ts';
import {
  DELIVERY_STATES,
  newNotificationDestinationSchema,
  notificationDeliverySchema,
  notificationDestinationChangeSchema,
  notificationDestinationSchema,
  notificationDestinationWithSecretSchema,
  notificationRotationSchema,
  notificationTestSchema,
} from './schemas/notification-schemas.ts';
import { countedPageSchema } from './schemas/resource-schemas.ts';
import { created, gone, guarded, ok, paging, showing, unsortedPaging } from './operation.ts';

const group = 'Notifications';
const scope = 'frontdoor.organization';
const DESTINATIONS = '/notification-destinations';
const ONE = `${DESTINATIONS}/{id}`;

export const notificationOperations = [
  guarded({
    id: 'createNotificationDestination',
    group,
    summary:
      'Create a destination for notifications; the secret that signs those of a webhook is shown only in this response',
    method: 'POST',
    path: DESTINATIONS,
    scope,
    body: newNotificationDestinationSchema,
    answer: showing('secret', created(notificationDestinationWithSecretSchema)),
    refusals: [403, 409],
  }),
  guarded({
    id: 'listNotificationDestinations',
    group,
    summary: 'List the destinations for notifications',
    method: 'GET',
    path: DESTINATIONS,
    scope,
    query: [
      {
        name: 'organizationId',
        type: 'UUID',
        isRequired: false,
        summary: "Organization; the caller's own by default. Another one requires frontdoor.admin",
      },
      ...paging('name', 'id', 'createdAt'),
      byName,
    ],
    answer: ok(countedPageSchema(notificationDestinationSchema)),
    refusals: [403],
  }),
  guarded({
    id: 'getNotificationDestination',
    group,
    summary: 'Get a destination for notifications',
    method: 'GET',
    path: ONE,
    scope,
    answer: ok(notificationDestinationSchema),
    refusals: [404],
  }),
  guarded({
    id: 'changeNotificationDestination',
    group,
    summary: 'Change the addresses, events or name of a destination, or disable it',
    method: 'PATCH',
    path: ONE,
    scope,
    body: notificationDestinationChangeSchema,
    answer: ok(notificationDestinationSchema),
    refusals: [403, 404],
  }),
  guarded({
    id: 'rotateNotificationSecret',
    group,
    summary:
      'Rotate the secret that signs the messages to a webhook; the old one signs too during an overlap',
    method: 'POST',
    path: `${ONE}/rotate`,
    scope,
    body: notificationRotationSchema,
    isBodyOptional: true,
    answer: showing('secret', ok(notificationDestinationWithSecretSchema)),
    refusals: [403, 404, 409],
  }),
  guarded({
    id: 'deleteNotificationDestination',
    group,
    summary: 'Delete a destination with its deliveries; what waits for it is not sent',
    method: 'DELETE',
    path: ONE,
    scope,
    answer: gone,
    refusals: [403, 404],
  }),
  guarded({
    id: 'testNotificationDestination',
    group,
    summary: 'Send a test message to a destination now, and return the result',
    method: 'POST',
    path: `${ONE}/test`,
    scope,
    answer: ok(notificationTestSchema),
    refusals: [403, 404],
  }),
  guarded({
    id: 'listNotificationDeliveries',
    group,
    summary: 'List what was and will be sent to a destination, newest first',
    method: 'GET',
    path: `${ONE}/deliveries`,
    scope,
    query: [
      ...unsortedPaging,
      {
        name: 'state',
        type: 'string',
        isRequired: false,
        summary: 'Only deliveries in this state; FAILED ones are not sent again by themselves',
        values: DELIVERY_STATES,
      },
    ],
    answer: ok(countedPageSchema(notificationDeliverySchema)),
    refusals: [404],
  }),
  guarded({
    id: 'retryNotificationDelivery',
    group,
    summary: 'Send a notification again that has failed',
    method: 'POST',
    path: `${ONE}/deliveries/{deliveryId}/retry`,
    scope,
    answer: ok(notificationDeliverySchema),
    refusals: [403, 404, 409],
  }),
] as const;
