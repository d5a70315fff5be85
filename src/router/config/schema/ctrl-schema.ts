/** `ctrl`: the controllers, and how the router talks to them. */
import { resolve } from 'node:path';
import {
  duration,
  flag,
  integer,
  legacy,
  list,
  number,
  optional,
  section,
  text,
  unsupported,
} from '../schema-field.ts';
import { channelOptions, heartbeatFields } from './channel-schema.ts';

export const groupsField = list(text({ about: 'A group.', kind: 'text' }), {
  about: 'Groups: a dialer dials listeners that share one with it.',
  default: ['default'],
  isSingleAllowed: true,
});

const ctrlListener = section(
  {
    bind: text({
      about: 'Where controllers reach the router.',
      kind: 'address',
      example: 'tls:0.0.0.0:6264',
    }),
    advertise: optional(
      text({
        about: 'How controllers are told to reach it; bind when missing.',
        kind: 'address',
        example: 'tls:router.example:6264',
      }),
    ),
    bindInterface: unsupported(
      optional(
        text({
          about: 'Network interface to listen on.',
          kind: 'interface',
          isCommented: true,
          example: 'lo',
        }),
      ),
    ),
    groups: groupsField,
    options: channelOptions('ctrl'),
  },
  {
    about: 'One place to be dialed at.',
    decode: (fields, { path }) => ({ path, ...fields, advertise: fields.advertise ?? fields.bind }),
  },
);

const rateLimiter = section(
  {
    enabled: flag({ about: 'Whether it limits.', default: true }),
    minSize: integer({ about: 'Smallest window.', default: 5, least: 5, most: 1_000 }),
    maxSize: integer({ about: 'Largest window.', default: 250, least: 5, most: 1_000 }),
    timeout: duration({
      about: 'After which a request counts as lost.',
      default: 30_000,
      isZeroAllowed: true,
    }),
    successThreshold: number({
      about: 'Share of successes above which the window grows.',
      default: 0.9,
      least: 0,
      most: 1,
    }),
    increaseFactor: number({ about: 'By which it grows.', default: 1.02, least: 1 }),
    decreaseFactor: number({ about: 'By which it shrinks.', default: 0.9, least: 0, most: 1 }),
    increaseCheckInterval: integer({ about: 'Successes between two looks.', default: 10, least: 1 }),
    decreaseCheckInterval: integer({ about: 'Failures between two looks.', default: 10, least: 1 }),
  },
  { about: 'Adaptive limit of requests to controllers.', isExtra: true },
);

export const ctrlSection = section(
  {
    endpoint: optional(
      text({ about: 'Address of the controller.', kind: 'address', example: 'tls:ctrl.example:6262' }),
    ),
    endpoints: optional(
      list(text({ about: 'Address of a controller.', kind: 'address' }), {
        about: 'Addresses of several controllers; ignored beside endpoint.',
        overriddenBy: 'endpoint',
        isCommented: true,
        example: ['tls:ctrl1.example:6262', 'tls:ctrl2.example:6262'],
      }),
    ),
    bind: optional(
      text({
        about: 'Network interface, by name or address, to dial controllers from.',
        kind: 'interface',
        isCommented: true,
        example: 'lo',
      }),
    ),
    defaultRequestTimeout: duration({
      about: 'How long a controller may take to answer.',
      default: 5_000,
      as: 'requestTimeoutMs',
      least: 1,
      beyond: 'default',
    }),
    startupTimeout: optional(
      duration({
        about: 'The router ends when it reached no controller by then; 0, or not given: it goes on trying.',
        as: 'startupTimeoutMs',
        decode: (ms) => (ms > 0 ? ms : undefined),
        isExtra: true,
        isCommented: true,
        example: '30s',
      }),
    ),
    endpointsFile: optional(
      text({
        about: 'Where the current controllers are kept; endpoints.yml beside this file when not given.',
        kind: 'path',
        decode: (path) => resolve(path),
        isCommented: true,
        example: 'endpoints.yml',
      }),
    ),
    options: channelOptions('ctrl'),
    heartbeats: section(
      {
        ...heartbeatFields,
        unresponsiveAfter: duration({
          about: 'A controller that answers later than this is asked only when no other is there.',
          default: 5_000,
          as: 'unresponsiveAfterMs',
          least: 1,
          beyond: 'default',
          isExtra: true,
        }),
      },
      { about: 'Heartbeats to controllers.', as: 'heartbeat', isFilled: true },
    ),
    listeners: optional(
      list(ctrlListener, { about: 'Where controllers dial the router.', isExtra: true, isCommented: true }),
    ),
    rateLimiter: unsupported(optional(rateLimiter)),
    dataDir: legacy('Older files have it.'),
    ha: legacy('Older files have it.'),
  },
  {
    about: 'The controllers, and how to talk to them.',
    decode: ({ endpoint, endpoints, endpointsFile, ...fields }) => ({
      ...fields,
      endpoints: endpoint === undefined ? endpoints : [endpoint],
      // Filled in by then: its default depends on where the router file lies.
      endpointsFile: endpointsFile!,
    }),
  },
);
