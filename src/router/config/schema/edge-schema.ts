/** `edge`: SDK clients, and the names with which the router enrolls. */
import { resolve } from 'node:path';
import { duration, integer, legacy, section, text, unsupported } from '../schema-field.ts';
import { csrSection } from './identity-schema.ts';

export const edgeSection = section(
  'Connections of SDKs; without this section the router serves only the fabric.',
)(
  {
    'db?': text(
      'Snapshot of the router’s data model; by default this file’s name with .proto.gzip.',
      'path',
      {
        decode: (path) => resolve(path),
        beyond: 'default',
        isCommented: true,
        example: 'router.yml.proto.gzip',
      },
    ),
    dbSaveIntervalSeconds: duration('Interval of snapshots: a whole number of seconds, or a duration.', {
      default: 30_000,
      as: 'dbSaveIntervalMs',
      least: 1_000,
      integerUnitMs: 1_000,
    }),
    'csr?': csrSection('Contents of certificate requests, for enrollment and renewal.', false),
    heartbeatIntervalSeconds: integer('Interval in seconds of reports of connected sessions.', {
      default: 60,
      as: 'heartbeatIntervalMs',
      decode: (seconds) => seconds * 1_000,
      least: 10,
      most: 60,
      beyond: 'default',
      isExtra: true,
    }),
    'sessionValidateChunkSize?': unsupported(
      integer('Sessions that are validated at the same time.', { isExtra: true }),
    ),
    'sessionValidateMinInterval?': unsupported(
      duration('Minimum wait between two validations.', { isExtra: true }),
    ),
    'sessionValidateMaxInterval?': unsupported(
      duration('Maximum wait between two validations.', { isExtra: true }),
    ),
    'apiProxy?': unsupported(
      section('Forwards requests to the edge API of the controller.', { isExtra: true, isCommented: true })({
        listener: text('Listen address.', 'host-port', { example: '127.0.0.1:1280' }),
        upstream: text('The edge API of the controller.', 'host-port', { example: 'ctrl.example:1280' }),
      }),
    ),
    'underlay_type?': legacy('Only in older files.'),
  },
  // Has a value by then, because its default depends on the location of the router file.
  (fields) => ({ ...fields, db: fields.db! }),
);
