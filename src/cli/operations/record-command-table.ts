/** Commands for records of single requests: failures, and recordings. */
import type { OperationId } from '#contract';
import type { ElsewhereCommand, OperationCommand } from './operation-command.ts';

export const RECORD_COMMANDS = {
  listFailures: {
    noun: 'failures',
    verb: 'list',
    columns: ['errorId', 'at', 'shareToken', 'method', 'path', 'status', 'hop', 'cause'],
    examples: ['failures list', 'failures list --share-token app --limit 20'],
  },
  listFailureGroups: {
    noun: 'failures',
    verb: 'causes',
    columns: ['count', 'shares', 'code', 'hop', 'firstAt', 'lastAt', 'cause', 'errorId'],
    entries: 'failures',
    examples: ['failures causes', 'failures causes --share-token app'],
  },
  getFailure: { elsewhere: ['why'], reason: 'explains it in words, with a remedy' },
  getUnroutedFailure: {
    elsewhere: ['why'],
    reason: 'finds it if no frontdoor has the error ID',
  },
  listRequests: {
    noun: 'requests',
    verb: 'list',
    columns: ['id', 'at', 'shareToken', 'outcome', 'status', 'method', 'path', 'client', 'caller', 'code'],
    // --client names the client of the API.
    called: { client: 'address' },
    examples: ['requests list', 'requests list --outcome unserved --limit 100 --json-lines'],
  },
  getRequest: {
    noun: 'requests',
    verb: 'show',
    examples: ['requests show 9f86d081884c7d659a000001'],
  },
  getRequestLog: { noun: 'requests', verb: 'settings get', examples: ['requests settings get'] },
  setRequestLog: {
    noun: 'requests',
    verb: 'settings set',
    examples: [
      'requests settings set --enabled --kept-hours 72 --max-entries 200000',
      'requests settings set --no-enabled',
    ],
  },
  exportRequests: { elsewhere: ['requests', 'export'], reason: 'writes the entries into a file' },
  getInspector: {
    noun: 'shares',
    verb: 'inspect status',
    examples: ['shares inspect status app'],
  },
  setInspector: {
    elsewhere: ['shares', 'inspect', 'on'],
    reason: 'accepts sizes and durations in short forms; "shares inspect off" stops recording',
  },
  listInspectedRequests: {
    noun: 'shares',
    verb: 'inspect list',
    columns: ['id', 'at', 'method', 'target', 'status', 'identity', 'replayOf'],
    entries: 'recorded requests',
    examples: ['shares inspect list app', 'shares inspect list app --json-lines'],
  },
  deleteInspectedRequests: {
    noun: 'shares',
    verb: 'inspect clear',
    examples: ['shares inspect clear app'],
  },
  getInspectedRequest: {
    noun: 'shares',
    verb: 'inspect show',
    view: 'inspected',
    examples: [
      'shares inspect show app 5b0c2a3e6f0f4a5e9d',
      'shares inspect show app 5b0c2a3e6f0f4a5e9d --json',
    ],
  },
  replayInspectedRequest: {
    elsewhere: ['shares', 'replay'],
    reason: 'accepts headers in their HTTP form, and the body from a file',
  },
  followChanges: {
    elsewhere: ['changes', 'follow'],
    reason: 'prints the events of one frontdoor; several streams are as good for a script',
  },
  followFrontdoorChanges: { elsewhere: ['changes', 'follow'], reason: 'prints events until it is stopped' },
  followInstallationChanges: {
    elsewhere: ['fabric', 'changes'],
    reason: 'prints events until it is stopped',
  },
} as const satisfies Partial<Readonly<Record<OperationId, OperationCommand | ElsewhereCommand>>>;
