/** Commands for access to shares: policies, explanations, custom frontends. */
import type { OperationId } from '#contract';
import type { ElsewhereCommand, OperationCommand } from './operation-command.ts';

const ID = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';

export const ACCESS_COMMANDS = {
  getSharePolicy: {
    noun: 'shares',
    verb: 'policy get',
    view: 'json',
    examples: [
      'shares policy get app',
      'shares policy get app > policy.json',
      'shares policy get app --etag',
    ],
  },
  replaceSharePolicy: {
    noun: 'shares',
    verb: 'policy set',
    view: 'json',
    examples: [
      'shares policy set app --body @policy.json',
      `shares policy set app --body @policy.json --if-match '"q83vASNFZ4mrze8BI0VniQ"'`,
      "shares policy set app --email '*@example.com' --ip-allow 192.0.2.0/24 --public-path /health",
      'shares policy set app --claim groups=staff,admins --expires-at 2030-01-01T00:00:00Z',
      'shares policy set app --rate-limit 100/1m --session idle=8h,absolute=7d',
      `shares policy set app --claim '{"claim":"groups","anyOf":["staff"]}'`,
      "shares policy set app --body '{}'",
    ],
  },
  listPolicyWarnings: {
    noun: 'shares',
    verb: 'policy warnings',
    view: 'json',
    examples: ['shares policy warnings'],
  },
  compareSharePolicy: {
    noun: 'shares',
    verb: 'policy compare',
    view: 'json',
    examples: [
      'shares policy compare app --body @policy.json',
      "shares policy compare app --email '*@example.com' --ip-deny 192.0.2.0/24",
      'shares policy compare app --auth-provider-id staff',
    ],
  },
  listPolicies: {
    noun: 'policies',
    verb: 'list',
    columns: ['id', 'name', 'shareCount', 'createdAt'],
    examples: ['policies list'],
  },
  createPolicy: {
    noun: 'policies',
    verb: 'create',
    view: 'json',
    next: 'frontdoor shares change SHARE --policy-id {name}',
    examples: [
      "policies create --name staff --email '*@example.com'",
      'policies create --name office --ip-allow 192.0.2.0/24 --claim groups=staff,admins',
      'policies create --name staff --body @policy.json',
    ],
  },
  getPolicy: {
    noun: 'policies',
    verb: 'get',
    view: 'json',
    examples: ['policies get staff', 'policies get staff --etag'],
  },
  replacePolicy: {
    noun: 'policies',
    verb: 'set',
    view: 'json',
    examples: ["policies set staff --email '*@example.com'", 'policies set staff --body @policy.json'],
  },
  deletePolicy: { noun: 'policies', verb: 'delete', examples: ['policies delete staff'] },
  getPolicyUses: {
    noun: 'policies',
    verb: 'uses',
    view: 'json',
    examples: ['policies uses staff'],
  },
  comparePolicy: {
    noun: 'policies',
    verb: 'compare',
    view: 'json',
    examples: ["policies compare staff --email '*@example.com' --ip-deny 192.0.2.0/24"],
  },
  explainShareAccess: {
    noun: 'shares',
    verb: 'who-can-reach',
    view: 'explanation',
    examples: [
      'shares who-can-reach app',
      'shares who-can-reach app --email ann@example.com --group staff --path /admin',
      'shares who-can-reach app --key-name build --address 192.0.2.7',
      'shares who-can-reach app --email ann@example.com --policy @policy.json',
      'shares who-can-reach app --key-name build --auth-provider-id machines',
    ],
  },
  listCustomFrontends: {
    noun: 'custom-frontends',
    verb: 'list',
    columns: ['id', 'hostname', 'status', 'proof', 'frontendId'],
    entries: 'custom frontends',
    examples: ['custom-frontends list'],
  },
  createCustomFrontend: {
    noun: 'custom-frontends',
    verb: 'create',
    next: 'frontdoor custom-frontends dns-records {id}',
    examples: [
      `custom-frontends create --hostname apps.example.com --frontend-id ${ID}`,
      'custom-frontends create --hostname apps.example.com --frontend-id public --auth-provider-id staff',
    ],
  },
  getCustomFrontend: {
    noun: 'custom-frontends',
    verb: 'get',
    examples: ['custom-frontends get apps.example.com'],
  },
  changeCustomFrontend: {
    noun: 'custom-frontends',
    verb: 'change',
    bodyOnly: { hostname: 'it cannot be changed', frontendId: 'it cannot be changed' },
    examples: ['custom-frontends change apps.example.com --auth-provider-id staff'],
  },
  deleteCustomFrontend: {
    noun: 'custom-frontends',
    verb: 'delete',
    examples: [`custom-frontends delete ${ID}`],
  },
  listDnsRecords: {
    noun: 'custom-frontends',
    verb: 'dns-records',
    columns: ['type', 'name', 'value', 'purpose'],
    entries: 'records',
    examples: ['custom-frontends dns-records apps.example.com'],
  },
  checkDnsRecords: {
    noun: 'custom-frontends',
    verb: 'dns-check',
    columns: ['type', 'name', 'value', 'state', 'found', 'problem'],
    entries: 'records',
    examples: ['custom-frontends dns-check apps.example.com'],
  },
  listHostnameClaims: {
    noun: 'hostname-claims',
    verb: 'list',
    columns: ['id', 'hostname', 'proof', 'organizationId', 'shareToken', 'proofProblem'],
    entries: 'hostnames',
    examples: ['hostname-claims list', 'hostname-claims list --proof PENDING'],
  },
  grantHostname: {
    noun: 'hostname-claims',
    verb: 'grant',
    examples: ['hostname-claims grant apps.example.com', `hostname-claims grant ${ID}`],
  },
  withdrawHostname: {
    noun: 'hostname-claims',
    verb: 'withdraw',
    done: 'withdrawn',
    examples: ['hostname-claims withdraw apps.example.com'],
  },
} as const satisfies Partial<Readonly<Record<OperationId, OperationCommand | ElsewhereCommand>>>;
