/** Commands for the destinations of notifications, what is sent to them, and the collector of all events. */
import type { OperationId } from '#contract';
import type { ElsewhereCommand, OperationCommand } from './operation-command.ts';

const noun = 'notifications';
const ID = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';

export const NOTIFICATION_COMMANDS = {
  createNotificationDestination: {
    noun,
    verb: 'create',
    once: 'secret',
    called: { addresses: 'address' },
    examples: [
      'notifications create --name pager --url https://hooks.example.com/frontdoor',
      'notifications create --name pager --url https://hooks.example.com/frontdoor --event share.failing --event share.healthy',
      'notifications create --name team --type email --address ops@example.com',
    ],
  },
  listNotificationDestinations: {
    noun,
    verb: 'list',
    columns: ['id', 'name', 'type', 'enabled', 'lastSuccessAt', 'lastProblem'],
    entries: 'destinations',
    examples: ['notifications list'],
  },
  getNotificationDestination: { noun, verb: 'get', examples: ['notifications get pager'] },
  changeNotificationDestination: {
    noun,
    verb: 'change',
    called: { addresses: 'address' },
    examples: ['notifications change pager --no-enabled', 'notifications change pager --event agent.away'],
  },
  rotateNotificationSecret: {
    noun,
    verb: 'rotate',
    once: 'secret',
    called: { overlapSeconds: 'overlap' },
    examples: ['notifications rotate pager', 'notifications rotate pager --overlap 24h'],
  },
  deleteNotificationDestination: { noun, verb: 'delete', examples: ['notifications delete pager'] },
  testNotificationDestination: { noun, verb: 'test', examples: ['notifications test pager'] },
  listNotificationDeliveries: {
    noun,
    verb: 'deliveries list',
    columns: ['id', 'type', 'state', 'attempts', 'createdAt', 'problem'],
    entries: 'deliveries',
    examples: ['notifications deliveries list pager', 'notifications deliveries list pager --state FAILED'],
  },
  retryNotificationDelivery: {
    noun,
    verb: 'deliveries retry',
    examples: [`notifications deliveries retry pager ${ID}`],
  },
  getEventExport: { noun: 'event-export', verb: 'show', examples: ['event-export show'] },
  setEventExport: {
    noun: 'event-export',
    verb: 'set',
    examples: [
      'event-export set --url https://collector.example.com/events --secret "Bearer $TOKEN" --gzip',
      'event-export set --url tls://siem.example.com:6514 --from beginning',
    ],
  },
  deleteEventExport: { noun: 'event-export', verb: 'delete', examples: ['event-export delete'] },
  testEventExport: { noun: 'event-export', verb: 'test', examples: ['event-export test'] },
} as const satisfies Partial<Readonly<Record<OperationId, OperationCommand | ElsewhereCommand>>>;
