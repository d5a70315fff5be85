/** Operations on people, invitations and sessions of the console. */
import { byName, byTime } from './list-filter-table.ts';
import { created, gone, guarded, ok, paging, type QueryParameter } from './operation.ts';
import {
  consoleSessionSchema,
  invitationSchema,
  invitationWithLinkSchema,
  newInvitationSchema,
  personChangeSchema,
  personSchema,
} from './people-schemas.ts';
import { countedPageSchema } from './resource-schemas.ts';

const scope = 'frontdoor.organization';
const ofOrganization: QueryParameter = {
  name: 'organizationId',
  type: 'UUID',
  isRequired: false,
  summary: "Organization; the caller's own by default. Another one requires frontdoor.admin",
};

export const peopleOperations = [
  guarded({
    id: 'listPeople',
    group: 'People',
    summary: 'List the people of an organization',
    method: 'GET',
    path: '/people',
    scope,
    query: [ofOrganization, ...paging('name', 'email', 'role', 'createdAt', 'id'), byName, ...byTime],
    answer: ok(countedPageSchema(personSchema)),
    refusals: [403],
  }),
  guarded({
    id: 'getPerson',
    group: 'People',
    summary: 'Get a person',
    method: 'GET',
    path: '/people/{id}',
    scope,
    answer: ok(personSchema),
    refusals: [404],
  }),
  guarded({
    id: 'changePerson',
    group: 'People',
    summary: 'Rename a person, or change the role; a changed role applies to open sessions at once',
    method: 'PATCH',
    path: '/people/{id}',
    scope,
    body: personChangeSchema,
    answer: ok(personSchema),
    refusals: [403, 404, 409],
  }),
  guarded({
    id: 'deletePerson',
    group: 'People',
    summary: 'Remove a person, and end the sessions',
    method: 'DELETE',
    path: '/people/{id}',
    scope,
    answer: gone,
    refusals: [403, 404, 409],
  }),
  guarded({
    id: 'createInvitation',
    group: 'People',
    summary: 'Invite a person with a role; the link works once',
    method: 'POST',
    path: '/invitations',
    scope,
    body: newInvitationSchema,
    answer: created(invitationWithLinkSchema),
    refusals: [403, 409],
  }),
  guarded({
    id: 'listInvitations',
    group: 'People',
    summary: 'List invitations that were not accepted yet and have not expired',
    method: 'GET',
    path: '/invitations',
    scope,
    query: [ofOrganization, ...paging('name', 'role', 'createdAt', 'id'), byName, ...byTime],
    answer: ok(countedPageSchema(invitationSchema)),
    refusals: [403],
  }),
  guarded({
    id: 'deleteInvitation',
    group: 'People',
    summary: 'Withdraw an invitation',
    method: 'DELETE',
    path: '/invitations/{id}',
    scope,
    answer: gone,
    refusals: [404],
  }),
  guarded({
    id: 'listConsoleSessions',
    group: 'People',
    summary:
      'List sessions at the console: of the organization with frontdoor.organization, else the own ones',
    method: 'GET',
    path: '/console-sessions',
    query: [ofOrganization, ...paging('createdAt', 'id')],
    answer: ok(countedPageSchema(consoleSessionSchema)),
    refusals: [403],
  }),
  guarded({
    id: 'endConsoleSession',
    group: 'People',
    summary:
      'End a session at the console: one’s own, and with frontdoor.organization each of the organization',
    method: 'DELETE',
    path: '/console-sessions/{id}',
    scope: 'frontdoor.read',
    answer: gone,
    refusals: [404],
  }),
] as const;
