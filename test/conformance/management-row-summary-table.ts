/** Operations that show a frontdoor at a glance, as rows: its counts, what needs attention, its traffic. */
import { BELOW_FRONTDOOR as BASE, type AnswerShape, type ManagementRow } from './management-row.ts';
import { counts, metrics, sparklines } from './management-row-table.ts';

const firstOf = (entry: AnswerShape): AnswerShape => ({ total: 'integer', first: [entry] });
const connected = { total: 'integer', online: 'integer' } as const satisfies AnswerShape;

export const summaryRows: readonly ManagementRow[] = [
  {
    table: 'Summaries',
    method: 'GET',
    path: `${BASE}/summary`,
    status: 200,
    answer: {
      frontdoorId: 'UUID',
      environments: connected,
      shares: {
        total: 'integer',
        pending: 'integer',
        deployed: 'integer',
        failed: 'integer',
        public: 'integer',
        private: 'integer',
      },
      authProviders: { total: 'integer', enabled: 'integer' },
      customFrontends: { total: 'integer', active: 'integer' },
      failuresLastHour: 'integer',
      agentVersions: [{ version: 'string or null', count: 'integer' }],
      expiringCertificates: [{ kind: 'string', id: 'string', name: 'string', expiresAt: 'time' }],
    },
    values: { frontdoorId: '{frontdoorId}' },
  },
  {
    table: 'Summaries',
    method: 'GET',
    path: `${BASE}/attention`,
    status: 200,
    answer: {
      frontdoorId: 'UUID',
      failingShares: firstOf({ token: 'string', name: 'string or null', lastError: 'string or null' }),
      disconnectedAgents: firstOf({ id: 'string', name: 'string', lastSeenAt: 'string or null' }),
      waitingDomains: firstOf({ id: 'string', hostname: 'string' }),
      expiringCertificates: [{ kind: 'string', id: 'string', name: 'string', expiresAt: 'time' }],
      waitingPeople: 'integer',
    },
    values: { frontdoorId: '{frontdoorId}' },
  },
  {
    table: 'Metrics of Frontdoor',
    method: 'GET',
    path: `${BASE}/shares/{token}/metrics`,
    at: { token: '{shareToken}' },
    query: 'duration=PT1H',
    status: 200,
    answer: { ...metrics, shareToken: 'string' },
    values: { shareToken: '{shareToken}', duration: 'PT1H' },
    hasDuration: true,
    missing: 'Share',
  },
  {
    table: 'Metrics of Frontdoor',
    method: 'GET',
    path: `${BASE}/share-sparklines`,
    query: 'duration=PT1H',
    status: 200,
    answer: sparklines,
    values: { frontdoorId: '{frontdoorId}', duration: 'PT1H' },
    hasDuration: true,
  },
  {
    table: 'Metrics of Frontdoor',
    method: 'GET',
    path: `${BASE}/busiest-shares`,
    query: 'duration={busyDuration}',
    status: 200,
    answer: {
      frontdoorId: 'UUID',
      duration: 'duration',
      start: 'time',
      end: 'time',
      shares: [{ token: 'string', name: 'string or null', ...counts }],
    },
    values: { frontdoorId: '{frontdoorId}', duration: 'PT1H' },
    hasDuration: true,
  },
];
