/** A traffic policy of ngrok: actions on requests and responses. Actions that refuse requests become guards of the share. */
import type { HeaderDirection, ImportedShare } from './imported-share.ts';
import { addHeader, addNetworks, NGROK_GUARD } from './ngrok-settings.ts';
import type { SourceTable } from './source-table.ts';

const PHASES: Readonly<Record<string, HeaderDirection>> = {
  on_http_request: 'requestHeaders',
  inbound: 'requestHeaders',
  on_http_response: 'responseHeaders',
  outbound: 'responseHeaders',
};
/** Actions that refuse no request for what it is. All others become guards. */
const HARMLESS = [
  'log',
  'set-vars',
  'url-rewrite',
  'redirect',
  'rate-limit',
  'circuit-breaker',
  'forward-internal',
  'compress-response',
  'add-headers',
  'remove-headers',
];

export function addTrafficPolicy(share: ImportedShare, table: SourceTable, key: string): void {
  if (!table.has(key)) return;
  const policy = table.table(key);
  if (policy === undefined) return;
  for (const [phase, direction] of Object.entries(PHASES))
    for (const rule of policy.tables(phase)) addRule(share, rule, direction);
  // Connections are judged before requests are.
  for (const rule of policy.tables('on_tcp_connect')) addRule(share, rule, 'requestHeaders');
  policy.ignore('enabled');
  policy.leaveOthers();
}

function addRule(share: ImportedShare, rule: SourceTable, direction: HeaderDirection): void {
  rule.ignore('name');
  const isConditional = rule.texts('expressions').length > 0;
  for (const action of rule.tables('actions')) addAction(share, action, { direction, isConditional });
  rule.leaveOthers();
}

interface ActionContext {
  readonly direction: HeaderDirection;
  readonly isConditional: boolean;
}

function addAction(
  share: ImportedShare,
  action: SourceTable,
  { direction, isConditional }: ActionContext,
): void {
  const type = action.text('type') ?? '';
  const config = action.table('config');
  const isGuard = !HARMLESS.includes(type);
  if (isConditional && isGuard)
    share.guardByHand(action, 'type', NGROK_GUARD, 'a rule with expressions of ngrok refused requests');
  else if (isConditional)
    action.remark(
      'type',
      'Left out, because settings of a share are for all requests: see upstream.routes and upstream.answers.',
    );
  else if (type === 'basic-auth' && config !== undefined) {
    share.credentials(config, 'credentials');
    config.ignore('realm', 'enforce');
  } else if (type === 'restrict-ips' && config !== undefined) {
    if (config.flag('enforce') === false)
      action.remark(
        'type',
        'Left out, because ngrok did not enforce it: add policy.ipAllow if it should count.',
      );
    else
      for (const [key, field] of [
        ['allow', 'ipAllow'],
        ['deny', 'ipDeny'],
      ] as const)
        addNetworks(share, config, key, field);
  } else if (type === 'add-headers') addHeaders(share, config, direction);
  else if (type === 'remove-headers')
    for (const name of config?.texts('headers') ?? [])
      share.header(config!, 'headers', direction, { action: 'remove', name });
  else if (type === 'compress-response') share.set(action, 'type', { compression: ['gzip'] });
  else if (isGuard)
    share.guardByHand(
      action,
      'type',
      NGROK_GUARD,
      'an action of the traffic policy of ngrok refused requests',
    );
  else
    action.remark(
      'type',
      'Left out: see upstream.answers and upstream.routes, and rateLimit of policy, for what a share can do.',
    );
}

function addHeaders(share: ImportedShare, config: SourceTable | undefined, direction: HeaderDirection): void {
  const headers = config?.table('headers');
  for (const name of headers?.keys ?? []) {
    const value = headers!.plain(name);
    if (value !== undefined) addHeader(share, { table: headers!, key: name, direction }, name, value);
  }
}
