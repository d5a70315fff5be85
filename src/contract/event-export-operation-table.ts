/** Operations on the export of all events to a collector of the operator, of which an installation has one at most. */
import {
  eventExportReplacementSchema,
  eventExportSchema,
  eventExportTestSchema,
} from './schemas/event-export-schemas.ts';
import { gone, guarded, ok } from './operation.ts';

const group = 'Audit';
const scope = 'frontdoor.admin';
const EXPORT = '/event-export';

export const eventExportOperations = [
  guarded({
    id: 'getEventExport',
    group,
    summary: 'Get the collector of all events, and how far it is behind',
    method: 'GET',
    path: EXPORT,
    scope,
    answer: ok(eventExportSchema),
  }),
  guarded({
    id: 'setEventExport',
    group,
    summary: 'Set the collector that receives all audit events and notification events',
    method: 'PUT',
    path: EXPORT,
    scope,
    body: eventExportReplacementSchema,
    answer: ok(eventExportSchema),
  }),
  guarded({
    id: 'deleteEventExport',
    group,
    summary: 'Remove the collector; events that wait for it are not sent',
    method: 'DELETE',
    path: EXPORT,
    scope,
    answer: gone,
    refusals: [404],
  }),
  guarded({
    id: 'testEventExport',
    group,
    summary: 'Send a test event to the collector now, and return the result',
    method: 'POST',
    path: `${EXPORT}/test`,
    scope,
    answer: ok(eventExportTestSchema),
    refusals: [404],
  }),
] as const;
