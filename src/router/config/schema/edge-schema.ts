/** `edge`: SDK clients, and the names with which the router enrolls. */
import { resolve } from 'node:path';
import { duration, integer, legacy, optional, section, text, unsupported } from '../schema-field.ts';
import { csrSection } from './identity-schema.ts';

export const edgeSection = section(
  {
    db: optional(
      text({
        about: 'Snapshot of the router’s data model; by default this file’s name with .proto.gzip.',
        kind: 'path',
        decode: (path) => resolve(path),
        beyond: 'default',
        isCommented: true,
        example: 'router.yml.proto.gzip',
      }),
    ),
    dbSaveIntervalSeconds: duration({
      about: 'Interval of snapshots: a whole number of seconds, or a duration.',
      default: 30_000,
      as: 'dbSaveIntervalMs',
      least: 1_000,
      integerUnitMs: 1_000,
    }),
    csr: csrSection('Contents of certificate requests, for enrollment and renewal.', false),
    heartbeatIntervalSeconds: integer({
      about: 'Interval in seconds of reports of connected sessions.',
      default: 60,
      as: 'heartbeatIntervalMs',
      decode: (seconds) => seconds * 1_000,
      least: 10,
      most: 60,
      beyond: 'default',
      isExtra: true,
    }),
    sessionValidateChunkSize: unsupported(
      optional(integer({ about: 'Sessions that are validated at the same time.', isExtra: true })),
    ),
    sessionValidateMinInterval: unsupported(
      optional(duration({ about: 'Minimum wait between two validations.', isExtra: true })),
    ),
    sessionValidateMaxInterval: unsupported(
      optional(duration({ about: 'Maximum wait between two validations.', isExtra: true })),
    ),
    apiProxy: unsupported(
      optional(
        section(
          {
            listener: text({ about: 'Listen address.', kind: 'host-port', example: '127.0.0.1:1280' }),
            upstream: text({
              about: 'The edge API of the controller.',
              kind: 'host-port',
              example: 'ctrl.example:1280',
            }),
          },
          {
            about: 'Forwards requests to the edge API of the controller.',
            isExtra: true,
            isCommented: true,
          },
        ),
      ),
    ),
    underlay_type: legacy('Only in older files.'),
  },
  {
    about: 'Connections of SDKs; without this section the router serves only the fabric.',
    // Has a value by then, because its default depends on the location of the router file.
    decode: (fields) => ({ ...fields, db: fields.db! }),
  },
);
