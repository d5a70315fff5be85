/** Commands for the upstream settings of a share: how its requests reach the service. */
import type { OperationId } from '#contract';
import type { OperationCommand } from './operation-command.ts';

/** One name for the same setting here and in `agent share`. */
const called = {
  connectTimeoutSeconds: 'connect-timeout',
  idleTimeoutSeconds: 'idle-timeout',
  maintenanceRetrySeconds: 'maintenance-retry',
  tlsPin: 'target-pin',
  tlsCa: 'target-ca',
  tlsServerName: 'target-server-name',
  tlsClient: 'target-client',
  tlsInsecure: 'target-insecure',
};

export const UPSTREAM_COMMANDS = {
  getShareUpstream: {
    noun: 'shares',
    verb: 'upstream get',
    view: 'json',
    examples: ['shares upstream get app', 'shares upstream get app > upstream.json'],
  },
  replaceShareUpstream: {
    noun: 'shares',
    verb: 'upstream set',
    called,
    view: 'json',
    examples: [
      'shares upstream set app --host-header target',
      'shares upstream set app --request-header X-Tenant:blue --response-header -Server',
      'shares upstream set app --body @upstream.json',
      "shares upstream set app --body '{}'",
    ],
  },
  changeShareUpstream: {
    noun: 'shares',
    verb: 'upstream change',
    called,
    view: 'json',
    examples: [
      'shares upstream change app --host-header localhost',
      'shares upstream change app --host-header preserve',
      'shares upstream change app --proxy-protocol v2',
      'shares upstream change app --compression zstd --compression gzip',
      'shares upstream change app --connect-timeout 2s --idle-timeout 10m',
      'shares upstream change app --route /api=http://127.0.0.1:4000 --route strip:/docs=file:///srv/docs',
      "shares upstream change app --answer '/old/*=>https://new.example.com/*'",
      'shares upstream change app --maintenance --maintenance-text "Back at 18:00 UTC"',
      'shares upstream change app --error-page @page.html',
      'shares upstream change app --target-ca @ca.pem',
      'shares upstream change app --no-target-pin --target-server-name pve.example.com',
    ],
  },
  resetShareUpstream: {
    noun: 'shares',
    verb: 'upstream reset',
    done: 'reset',
    examples: ['shares upstream reset app'],
  },
} as const satisfies Partial<Readonly<Record<OperationId, OperationCommand>>>;
