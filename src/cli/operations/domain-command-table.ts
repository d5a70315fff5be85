/** Commands for the domains of a share. */
import type { OperationId } from '#contract';
import type { OperationCommand } from './operation-command.ts';

export const DOMAIN_COMMANDS = {
  listDomains: {
    noun: 'shares',
    verb: 'domains all',
    columns: [
      'hostname',
      'shareToken',
      'proof',
      'certificate.state',
      'certificate.validUntil',
      'proofProblem',
      'certificate.problem',
    ],
    entries: 'domains',
    examples: ['shares domains all', 'shares domains all --proof PENDING'],
  },
  listShareDomains: {
    noun: 'shares',
    verb: 'domains list',
    columns: [
      'hostname',
      'proof',
      'proofEndsAt',
      'certificate.state',
      'certificate.validUntil',
      'proofProblem',
      'certificate.problem',
      'certificate.retryAt',
    ],
    entries: 'domains',
    examples: ['shares domains list app'],
  },
  addShareDomain: {
    noun: 'shares',
    verb: 'domains add',
    fieldArguments: ['hostname'],
    next: 'create the DNS records, then: frontdoor shares domains check {argument} {hostname}',
    examples: ['shares domains add app app.example.com'],
  },
  getShareDomain: {
    noun: 'shares',
    verb: 'domains get',
    examples: ['shares domains get app app.example.com'],
  },
  removeShareDomain: {
    noun: 'shares',
    verb: 'domains remove',
    done: 'removed',
    examples: ['shares domains remove app app.example.com'],
  },
  checkShareDomain: {
    noun: 'shares',
    verb: 'domains check',
    columns: ['type', 'name', 'value', 'state', 'found', 'problem'],
    entries: 'records',
    examples: ['shares domains check app app.example.com'],
  },
} as const satisfies Partial<Readonly<Record<OperationId, OperationCommand>>>;
