/** `ctrl`: the controllers, and the channels to them. */
import { resolve } from 'node:path';
import {
  duration,
  flag,
  integer,
  legacy,
  list,
  number,
  section,
  text,
  unsupported,
} from '../schema-field.ts';
import { channelOptions, heartbeatFields } from './channel-schema.ts';

export const groupsField = list(
  'Groups: a dialer dials the listeners that share a group with it.',
  text('A group.', 'text'),
  { default: ['default'], isSingleAllowed: true },
);

const ctrlListener = section('One address at which the router can be dialed.')(
  {
    bind: text('Address at which controllers reach the router.', 'address', { example: 'tls:0.0.0.0:6264' }),
    'advertise?': text('Address that is announced to controllers; by default bind.', 'address', {
      example: 'tls:router.example:6264',
    }),
    'bindInterface?': unsupported(
      text('Network interface to listen on.', 'interface', { isCommented: true, example: 'lo' }),
    ),
    groups: groupsField,
    options: channelOptions('ctrl'),
  },
  (fields, { path }) => ({ path, ...fields, advertise: fields.advertise ?? fields.bind }),
);

const rateLimiter = section('Adaptive limit for requests to controllers.', { isExtra: true })({
  enabled: flag('Whether requests are limited.', { default: true }),
  minSize: integer('Smallest window.', { default: 5, least: 5, most: 1_000 }),
  maxSize: integer('Largest window.', { default: 250, least: 5, most: 1_000 }),
  timeout: duration('Time after which a request counts as lost.', { default: 30_000, isZeroAllowed: true }),
  successThreshold: number('Fraction of successes above which the window grows.', {
    default: 0.9,
    least: 0,
    most: 1,
  }),
  increaseFactor: number('Factor by which it grows.', { default: 1.02, least: 1 }),
  decreaseFactor: number('Factor by which it shrinks.', { default: 0.9, least: 0, most: 1 }),
  increaseCheckInterval: integer('Successes between two checks.', { default: 10, least: 1 }),
  decreaseCheckInterval: integer('Failures between two checks.', { default: 10, least: 1 }),
});

export const ctrlSection = section('The controllers and the channels to them.')(
  {
    'endpoint?': text('Address of the controller.', 'address', { example: 'tls:ctrl.example:6262' }),
    'endpoints?': list(
      'Addresses of several controllers; ignored beside endpoint.',
      text('Address of a controller.', 'address'),
      {
        overriddenBy: 'endpoint',
        isCommented: true,
        example: ['tls:ctrl1.example:6262', 'tls:ctrl2.example:6262'],
      },
    ),
    'bind?': text('Network interface, by name or address, from which controllers are dialed.', 'interface', {
      isCommented: true,
      example: 'lo',
    }),
    defaultRequestTimeout: duration('Time limit for the response of a controller.', {
      default: 5_000,
      as: 'requestTimeoutMs',
      least: 1,
      beyond: 'default',
    }),
    'startupTimeout?': duration(
      'Stops the router if no controller was reached within this time; 0 or absent: it keeps trying.',
      {
        as: 'startupTimeoutMs',
        decode: (ms) => (ms > 0 ? ms : undefined),
        isExtra: true,
        isCommented: true,
        example: '30s',
      },
    ),
    'endpointsFile?': text(
      'File with the current controllers; by default endpoints.yml beside this file.',
      'path',
      { decode: (path) => resolve(path), isCommented: true, example: 'endpoints.yml' },
    ),
    options: channelOptions('ctrl'),
    heartbeats: section('Heartbeats to controllers.', { as: 'heartbeat', isFilled: true })({
      ...heartbeatFields,
      unresponsiveAfter: duration(
        'A controller that responds later than this is used only if there is no other.',
        { default: 5_000, as: 'unresponsiveAfterMs', least: 1, beyond: 'default', isExtra: true },
      ),
    }),
    'listeners?': list('Addresses at which controllers dial the router.', ctrlListener, {
      isExtra: true,
      isCommented: true,
    }),
    'rateLimiter?': unsupported(rateLimiter),
    'dataDir?': legacy('Only in older files.'),
    'ha?': legacy('Only in older files.'),
  },
  ({ endpoint, endpoints, endpointsFile, ...fields }) => ({
    ...fields,
    endpoints: endpoint === undefined ? endpoints : [endpoint],
    // Has a value by then, because its default depends on the location of the router file.
    endpointsFile: endpointsFile!,
  }),
);
