/** Commands for people, invitations, and log-ins and sessions at the console. */
import type { OperationId } from '#contract';
import type { ElsewhereCommand, OperationCommand } from './operation-command.ts';

const ownSecondFactor = {
  elsewhere: undefined,
  reason: 'a person does this in a session at the console; commands have credentials of programs',
} as const;
const ID = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';

export const PEOPLE_COMMANDS = {
  listPeople: {
    noun: 'people',
    verb: 'list',
    columns: ['id', 'name', 'email', 'role', 'secondFactor', 'lastSeenAt'],
    entries: 'people',
    examples: ['people list', 'people list --name ann'],
  },
  getPerson: { noun: 'people', verb: 'get', examples: [`people get ${ID}`] },
  changePerson: { noun: 'people', verb: 'change', examples: [`people change ${ID} --role editor`] },
  deletePerson: { noun: 'people', verb: 'delete', examples: [`people delete ${ID}`] },
  removePersonSecondFactor: {
    noun: 'people',
    verb: 'second-factor remove',
    done: 'removed',
    examples: [`people second-factor remove ${ID}`],
  },
  createPasswordLink: {
    noun: 'people',
    verb: 'password-link create',
    once: 'link',
    examples: [`people password-link create ${ID}`],
  },
  getSecondFactor: ownSecondFactor,
  beginSecondFactor: ownSecondFactor,
  confirmSecondFactor: ownSecondFactor,
  renewRecoveryCodes: ownSecondFactor,
  removeSecondFactor: ownSecondFactor,
  createInvitation: {
    noun: 'invitations',
    verb: 'create',
    once: 'link',
    called: { lifetimeSeconds: 'lifetime' },
    examples: [
      'invitations create --name Ann --email ann@example.com --role editor',
      'invitations create --name Ann --role reader --lifetime 24h',
    ],
  },
  listInvitations: {
    noun: 'invitations',
    verb: 'list',
    columns: ['id', 'name', 'email', 'role', 'createdBy.name', 'expiresAt'],
    examples: ['invitations list'],
  },
  deleteInvitation: { noun: 'invitations', verb: 'delete', examples: [`invitations delete ${ID}`] },
  createConsoleLogIn: {
    noun: 'console-log-ins',
    verb: 'create',
    called: { authProviderId: 'auth-provider' },
    examples: [`console-log-ins create --auth-provider ${ID} --role '{"group":"staff","role":"editor"}'`],
  },
  listConsoleLogIns: {
    noun: 'console-log-ins',
    verb: 'list',
    columns: ['id', 'name', 'callbackUrl'],
    examples: ['console-log-ins list'],
  },
  deleteConsoleLogIn: {
    noun: 'console-log-ins',
    verb: 'delete',
    examples: [`console-log-ins delete ${ID}`],
  },
  listConsoleSessions: {
    noun: 'console-sessions',
    verb: 'list',
    columns: ['id', 'name', 'address', 'browser', 'lastUsedAt'],
    entries: 'sessions',
    examples: ['console-sessions list'],
  },
  endConsoleSession: {
    noun: 'console-sessions',
    verb: 'end',
    done: 'ended',
    examples: [`console-sessions end ${ID}`],
  },
  endOtherConsoleSessions: {
    noun: 'console-sessions',
    verb: 'end-others',
    examples: ['console-sessions end-others'],
  },
  getSignInPage: {
    noun: 'organizations',
    verb: 'sign-in-page get',
    view: 'json',
    examples: ['organizations sign-in-page get'],
  },
  replaceSignInPage: {
    noun: 'organizations',
    verb: 'sign-in-page set',
    view: 'json',
    examples: [
      "organizations sign-in-page set --title 'Example Inc.'",
      "organizations sign-in-page set --body '{}'",
    ],
  },
} as const satisfies Partial<Readonly<Record<OperationId, OperationCommand | ElsewhereCommand>>>;
