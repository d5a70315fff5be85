/** Operations on sessions of people who logged in, as rows. */
import { BELOW_FRONTDOOR as BASE, countedPage, type ManagementRow } from './management-row.ts';

const SESSIONS = `${BASE}/auth-providers/{id}/sessions`;

export const sessionRows: readonly ManagementRow[] = [
  {
    table: 'Sessions',
    method: 'GET',
    path: SESSIONS,
    at: { id: '{sessionProviderId}' },
    query: 'email=ann%40example.com',
    status: 200,
    answer: countedPage({
      id: 'UUID',
      subject: 'string',
      email: 'string or null',
      name: 'string or null',
      shareToken: 'string',
      host: 'string',
      createdAt: 'time',
      lastSeenAt: 'time',
      expiresAt: 'time',
    }),
    absent: ['token', 'identity', 'claims'],
    missing: 'Auth provider',
    uuid: 'id',
  },
  {
    table: 'Sessions',
    method: 'DELETE',
    path: `${SESSIONS}/{sessionId}`,
    at: { id: '{endedSessionProviderId}', sessionId: '{endedSessionId}' },
    status: 204,
    missing: 'Session',
    uuid: 'sessionId',
  },
  {
    table: 'Sessions',
    method: 'DELETE',
    path: SESSIONS,
    at: { id: '{sessionProviderId}' },
    query: 'all=true',
    status: 200,
    answer: { ended: 'integer' },
    values: { ended: 1 },
    missing: 'Auth provider',
    uuid: 'id',
  },
];
