/** Streams of changes, so that a screen shows what is true without asking again and again. */
import { guarded, type QueryParameter } from './operation.ts';

const MAX_FRONTDOORS = 50;

const stream = {
  group: 'Changes',
  method: 'GET',
  answer: {
    status: 200,
    schema: undefined,
    otherForms: {
      'text/event-stream':
        'A stream of "change" events with the kind and the ID of a resource that was created, changed or deleted, or whose measured state changed; a "failure" or "request" has the token of the share with new records; Last-Event-ID resumes after that event; a "reset" event is sent if the changes since then are no longer available',
    },
  },
  // The number of streams is limited.
  refusals: [429],
} as const;

const byFrontdoors: QueryParameter = {
  name: 'frontdoorIds',
  type: 'list',
  isRequired: false,
  summary: `The frontdoors, at most ${MAX_FRONTDOORS}, separated by commas; frontdoors of other organizations are ignored`,
  maximum: MAX_FRONTDOORS,
};
const withInstallation: QueryParameter = {
  name: 'installation',
  type: 'string',
  isRequired: false,
  summary: 'Include changes of the mesh and of the installation, which require frontdoor.admin',
  values: ['true', 'false'],
};
const byPosition: QueryParameter = {
  name: 'after',
  type: 'string',
  isRequired: false,
  summary:
    'Only changes after the event with this ID, for clients that cannot send Last-Event-ID, which has precedence',
};

export const changeOperations = [
  guarded({
    ...stream,
    id: 'followChanges',
    summary:
      'Follow the changes of several frontdoors, of the list of the organization’s frontdoors and of the installation as one stream of events, each with the ID of its owner',
    path: '/changes',
    query: [byFrontdoors, withInstallation, byPosition],
  }),
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
