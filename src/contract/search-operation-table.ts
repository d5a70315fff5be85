/** One search over every resource that a caller may see. */
import { guarded, ok } from './operation.ts';
import { searchResultSchema } from './schemas/search-schemas.ts';

export const searchOperations = [
  guarded({
    id: 'search',
    group: 'Search',
    summary:
      'Search the resources of your organization by name or ID; with frontdoor.admin also those of the installation',
    method: 'GET',
    path: '/search',
    query: [
      {
        name: 'q',
        type: 'string',
        isRequired: true,
        summary: 'Part of a name (ASCII letters match in either case), or a complete ID',
      },
    ],
    answer: ok(searchResultSchema),
  }),
] as const;
