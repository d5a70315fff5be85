/** `edge`: SDK clients, and the names that the router enrolls with. */
import { resolve } from 'node:path';
import { duration, integer, legacy, optional, section, text, unsupported } from '../schema-field.ts';
import { csrSection } from './identity-schema.ts';

export const edgeSection = section(
  {
    db: optional(
      text({
        about: 'Snapshot of the router’s data model; this file’s name with .proto.gzip when not given.',
        kind: 'path',
        decode: (path) => resolve(path),
        beyond: 'default',
        isCommented: true,
        example: 'router.yml.proto.gzip',
      }),
    ),
    dbSaveIntervalSeconds: duration({
      about: 'Between two snapshots: seconds as a whole number, or a duration.',
      default: 30_000,
      as: 'dbSaveIntervalMs',
      least: 1_000,
      integerUnitMs: 1_000,
    }),
    csr: csrSection('What certificates are asked for with, on enrollment and renewal.', false),
    heartbeatIntervalSeconds: integer({
      about: 'Seconds between two reports of the sessions that are connected.',
      default: 60,
      as: 'heartbeatIntervalMs',
      decode: (seconds) => seconds * 1_000,
      least: 10,
      most: 60,
      beyond: 'default',
      isExtra: true,
    }),
    sessionValidateChunkSize: unsupported(
      optional(integer({ about: 'Sessions validated at once.', isExtra: true })),
    ),
    sessionValidateMinInterval: unsupported(
      optional(duration({ about: 'Shortest wait between two validations.', isExtra: true })),
    ),
    sessionValidateMaxInterval: unsupported(
      optional(duration({ about: 'Longest wait between two validations.', isExtra: true })),
    ),
    apiProxy: unsupported(
      optional(
        section(
          {
            listener: text({ about: 'Where it listens.', kind: 'host-port', example: '127.0.0.1:1280' }),
            upstream: text({
              about: 'The edge API of the controller.',
              kind: 'host-port',
              example: 'ctrl.example:1280',
            }),
          },
          {
            about: 'Passes requests on to the edge API of the controller.',
            isExtra: true,
            isCommented: true,
          },
        ),
      ),
    ),
    underlay_type: legacy('Older files have it.'),
  },
  {
    about: 'SDK connectivity; without this section the router serves the fabric only.',
    // Filled in by then: its default depends on where the router file lies.
    decode: (fields) => ({ ...fields, db: fields.db! }),
  },
);
