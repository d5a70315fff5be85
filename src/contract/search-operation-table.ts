/** One search over every resource that a caller may see. */
import { guarded, ok } from './operation.ts';
import { searchResultSchema } from './schemas/search-schemas.ts';

export const searchOperations = [
  guarded({
    id: 'search',
    group: 'Search',
    summary:
      'Search the resources, failures and latest events of your organization; with frontdoor.organization also its people and accounts, with frontdoor.admin also the installation',
    method: 'GET',
    path: '/search',
    query: [
      {
        name: 'q',
        type: 'string',
        isRequired: true,
        summary:
          'Part of a name, of a share’s target or of an email address (ASCII letters match in either case), a complete ID, or an error ID. Of the events, the last 1,000 are searched',
      },
    ],
    answer: ok(searchResultSchema),
  }),
] as const;
