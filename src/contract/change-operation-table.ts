/** Streams of changes, so that a screen shows what is true without asking again and again. */
import { guarded } from './operation.ts';

const stream = {
  group: 'Changes',
  method: 'GET',
  answer: {
    status: 200,
    schema: undefined,
    otherForms: {
      'text/event-stream':
        'A stream of "change" events with the kind and the id of a resource that was created, changed or deleted, or whose measured state changed; a "failure" or "request" has the token of the share with new records; Last-Event-ID resumes after that event; a "reset" event comes instead of changes that are not known any more',
    },
  },
  // The number of streams is limited.
  refusals: [429],
} as const;

export const changeOperations = [
  guarded({
    ...stream,
    id: 'followFrontdoorChanges',
    summary:
      'Follow the changes of the resources of a frontdoor, and of the list of its organization’s frontdoors, as a stream of events',
    path: '/frontdoor/{frontdoorId}/changes',
  }),
  guarded({
    ...stream,
    id: 'followInstallationChanges',
    scope: 'frontdoor.admin',
    summary: 'Follow the changes of the mesh and of the installation as a stream of events',
    path: '/fabric/changes',
  }),
] as const;
