/** `ctrl`: the controllers, and the channels to them. */
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
  about: 'Groups: a dialer dials the listeners that share a group with it.',
  default: ['default'],
  isSingleAllowed: true,
});

const ctrlListener = section(
  {
    bind: text({
      about: 'Address at which controllers reach the router.',
      kind: 'address',
      example: 'tls:0.0.0.0:6264',
    }),
    advertise: optional(
      text({
        about: 'Address that is announced to controllers; by default bind.',
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
    about: 'One address at which the router can be dialed.',
    decode: (fields, { path }) => ({ path, ...fields, advertise: fields.advertise ?? fields.bind }),
  },
);

const rateLimiter = section(
  {
    enabled: flag({ about: 'Whether requests are limited.', default: true }),
    minSize: integer({ about: 'Smallest window.', default: 5, least: 5, most: 1_000 }),
    maxSize: integer({ about: 'Largest window.', default: 250, least: 5, most: 1_000 }),
    timeout: duration({
      about: 'Time after which a request counts as lost.',
      default: 30_000,
      isZeroAllowed: true,
    }),
    successThreshold: number({
      about: 'Fraction of successes above which the window grows.',
      default: 0.9,
      least: 0,
      most: 1,
    }),
    increaseFactor: number({ about: 'Factor by which it grows.', default: 1.02, least: 1 }),
    decreaseFactor: number({ about: 'Factor by which it shrinks.', default: 0.9, least: 0, most: 1 }),
    increaseCheckInterval: integer({ about: 'Successes between two checks.', default: 10, least: 1 }),
    decreaseCheckInterval: integer({ about: 'Failures between two checks.', default: 10, least: 1 }),
  },
  { about: 'Adaptive limit for requests to controllers.', isExtra: true },
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
        about: 'Network interface, by name or address, from which controllers are dialed.',
        kind: 'interface',
        isCommented: true,
        example: 'lo',
      }),
    ),
    defaultRequestTimeout: duration({
      about: 'Time limit for the response of a controller.',
      default: 5_000,
      as: 'requestTimeoutMs',
      least: 1,
      beyond: 'default',
    }),
    startupTimeout: optional(
      duration({
        about:
          'Stops the router if no controller was reached within this time; 0 or absent: it keeps trying.',
        as: 'startupTimeoutMs',
        decode: (ms) => (ms > 0 ? ms : undefined),
        isExtra: true,
        isCommented: true,
        example: '30s',
      }),
    ),
    endpointsFile: optional(
      text({
        about: 'File with the current controllers; by default endpoints.yml beside this file.',
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
          about: 'A controller that responds later than this is used only if there is no other.',
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
      list(ctrlListener, {
        about: 'Addresses at which controllers dial the router.',
        isExtra: true,
        isCommented: true,
      }),
    ),
    rateLimiter: unsupported(optional(rateLimiter)),
    dataDir: legacy('Only in older files.'),
    ha: legacy('Only in older files.'),
  },
  {
    about: 'The controllers and the channels to them.',
    decode: ({ endpoint, endpoints, endpointsFile, ...fields }) => ({
      ...fields,
      endpoints: endpoint === undefined ? endpoints : [endpoint],
      // Has a value by then, because its default depends on the location of the router file.
      endpointsFile: endpointsFile!,
    }),
  },
);
