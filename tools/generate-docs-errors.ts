/** The reference page of errors, in Markdown, made from the registry of errors. */
import { ERROR_KINDS, type ErrorRow, type ErrorTable } from '#base';
import {
  API_ERRORS,
  CIRCUIT_ERRORS,
  EDGE_ERRORS,
  ERRORS_BY_PART,
  TOKEN_ERRORS,
  VISITOR_ERRORS,
} from '#contract/errors';
import { markdownTable } from './markdown-table.ts';

const PART_TITLES: Readonly<Record<keyof typeof ERRORS_BY_PART, string>> = {
  cli: 'Commands',
  bin: 'Programs that start',
  control: 'Control plane',
  gateway: 'Gateway',
  router: 'Router',
  agent: 'Agent',
  sdk: 'Enrollment and the edge API, as agents and gateways meet them',
  net: 'Network and files',
  domain: 'Backups and lists of networks',
  wire: 'Messages between programs',
};

/** Errors at the gateway: their forms. */
const VISITOR_FORMS = [
  'A gateway answers in the form that the request prefers, and its `Vary` names the headers that decide:',
  [
    '- a page of HTML if `Accept` names `text/html`, as browsers do, unless it prefers JSON by a weight (`q`); also when too little of',
    '  a request arrived to know;',
    '- JSON if `Accept` prefers `application/json` or another JSON type, and for scripts of pages (`fetch`, XMLHttpRequest) that do not name',
    '  `text/html`: `{"error": CODE, "message": TEXT, "errorId": ID, "retryable": BOOLEAN}`. Where a credential is missing, `credentials`',
    '  lists those that are accepted; `logout` is the path at which a person signs out, and `contact` the one of the owner;',
    '- the same members with `title`, `status` and `detail` (RFC 9457) if `Accept` prefers `application/problem+json`;',
    '- plain text otherwise.',
  ].join('\n'),
  'The header `Frontdoor-Error-Id` has the error ID in every form, and a response to HEAD has no body. Requests for a WebSocket get the same. ' +
    '`retryable` states whether the same request may succeed later without a change. A 503 that is retryable, and every 429, has ' +
    '`Retry-After`. After 502, 504 or a connection that was cut, the service may have received the request: repeat it only if that is ' +
    'harmless. Where no other remedy is given, `frontdoor why` prints the cause.',
].join('\n\n');

export function errorsPage(): string {
  return [
    '# Errors',
    'Generated from the registry of errors by `npm run docs`; do not edit. Codes are stable: programs may compare them, and ' +
      'never the message, whose words may change. "Since" is the first version that has the code.',
    'Where a code appears:',
    [
      '- a visitor of a share sees it in an error of the gateway, and its owner by `frontdoor why ERROR_ID`:',
      '  [At the address of a share](#at-the-address-of-a-share);',
      '- a caller of the Management API finds it in `error`: [Management API](#management-api);',
      '- a client of the edge API finds it in `error.code`: [Edge API](#edge-api);',
      '- a command or program that fails has it in its log, and a command with `--json` in `error`:',
      '  [Commands and programs](#commands-and-programs).',
    ].join('\n'),
    '## At the address of a share',
    VISITOR_FORMS,
    ...markdownTable(
      ['Code', 'Status', 'Retryable', 'Meaning', 'What to do', 'Since'],
      sorted(VISITOR_ERRORS).map(([code, { statuses, isRetryable, meaning, remedy, since }]) => [
        `\`${code}\``,
        statuses.join(', ') || 'none',
        isRetryable ? 'yes' : 'no',
        meaning,
        remedy,
        since,
      ]),
    ),
    '## Management API',
    'A refusal is `{"error": WORD, "message": TEXT}`. [The reference of the API](management-api.md) lists what each ' +
      'operation can answer.',
    ...statusTable(API_ERRORS),
    'The token endpoint, `POST {auth_url}/oauth/token`, also has words of RFC 6749:',
    ...statusTable(TOKEN_ERRORS),
    '## Edge API',
    'Agents, gateways and OpenZiti’s clients use it. A code of the control plane that OpenZiti does not have is sent in ' +
      'capitals with underscores: `store-unavailable` as `STORE_UNAVAILABLE`.',
    ...statusTable(EDGE_ERRORS),
    '## The library',
    '`code` of an `SdkError` of `@frontdoor-dev/frontdoor/sdk` that concerns a circuit. Its other codes are those of the edge API, and of the ' +
      'overlay client below.',
    ...markdownTable(
      ['Code', 'Kind', 'Meaning', 'What to do', 'Since'],
      sorted<ErrorRow>(CIRCUIT_ERRORS).map(([code, { kind, meaning, remedy, since }]) => [
        `\`${code}\``,
        String(kind),
        meaning,
        remedy,
        since,
      ]),
    ),
    '## Commands and programs',
    'The exit status of a command follows from the kind of the error. An answer of an API keeps the word of that API.',
    ...markdownTable(
      ['Kind', 'Status', 'Exit status'],
      Object.entries(ERROR_KINDS).map(([kind, { status, exitCode }]) => [
        kind,
        String(status),
        String(exitCode),
      ]),
    ),
    ...(Object.keys(PART_TITLES) as (keyof typeof ERRORS_BY_PART)[]).flatMap((part) => [
      `### ${PART_TITLES[part]}`,
      ...markdownTable(
        ['Code', 'Kind', 'Meaning', 'What to do', 'Since'],
        sorted<ErrorRow>(ERRORS_BY_PART[part]).map(([code, row]) => [
          `\`${code}\``,
          [row.kind].flat().join(', '),
          row.meaning,
          row.remedy,
          row.since,
        ]),
      ),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

function statusTable(rows: ErrorTable): string[] {
  return markdownTable(
    ['Word', 'Status', 'Meaning', 'What to do', 'Since'],
    sorted(rows).map(([word, { kind, meaning, remedy, since }]) => [
      `\`${word}\``,
      [kind]
        .flat()
        .map((each) => ERROR_KINDS[each].status)
        .join(', '),
      meaning,
      remedy,
      since,
    ]),
  );
}

function sorted<Row>(rows: Readonly<Record<string, Row>>): [string, Row][] {
  return Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1));
}
