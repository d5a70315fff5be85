// A part of the control plane owns its tables: the query builder and SQL name a table in the folder that owns it and nowhere
// else, so that a change of a table concerns one folder. Others call its functions. The store runs what all parts have in
// common; backups and the replacement of the sealing key name no table, but go by lists of all of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTest, sourceFiles } from '../../tools/source-tree.ts';

/** A folder of `src/control`. */
const OWNERS: Readonly<Record<string, string>> = {
  organization: 'credentials',
  api_account: 'credentials',
  oauth_client: 'credentials',
  signing_key: 'credentials',
  person: 'credentials',
  person_password: 'credentials',
  person_totp: 'credentials',
  person_network: 'credentials',
  person_identity: 'credentials',
  invitation: 'credentials',
  console_log_in: 'credentials',
  console_session: 'credentials',
  sign_in_page: 'credentials',
  identity_password: 'credentials',
  identity_totp: 'credentials',
  identity: 'overlay',
  identity_client: 'overlay',
  certificate: 'overlay',
  root_receipt: 'overlay',
  enrollment: 'overlay',
  api_session: 'overlay',
  session_revocation: 'overlay',
  management_session: 'overlay',
  edge_entity: 'overlay',
  fabric_service: 'overlay',
  terminator: 'overlay',
  frontdoor: 'shares',
  frontend: 'shares',
  auth_provider: 'shares',
  auth_provider_key: 'shares',
  access_policy: 'shares',
  share: 'shares',
  share_frontend: 'shares',
  share_auth_provider: 'shares',
  share_grant: 'shares',
  gateway_port_range: 'shares',
  share_policy: 'shares',
  share_upstream: 'shares',
  share_inspection: 'shares',
  hostname_claim: 'shares',
  domain_certificate: 'shares',
  custom_frontend_auth_provider: 'shares',
  resting_name: 'shares',
  login_attempt: 'shares',
  login_session: 'shares',
  request_failure: 'shares',
  inspected_request: 'shares',
  unrouted_failure: 'shares',
  logged_request: 'shares',
  request_log_usage: 'shares',
  request_log_setting: 'shares',
  metric_rollup: 'shares',
  metric_source: 'shares',
  idempotency_answer: 'shares',
  idempotency_usage: 'shares',
  notification_destination: 'shares',
  reported_problem: 'shares',
  notification_event: 'shares',
  notification_delivery: 'shares',
  mail_usage: 'shares',
  event_export: 'shares',
  collection: 'store',
  audit_event: 'audit',
  audit_head: 'audit',
  audit_export: 'audit',
  authority: 'pki',
  shared_key: 'pki',
  shared_leaf: 'pki',
  sealing_key: 'secrets',
  sealing_member: 'secrets',
  replica: 'replica',
  replica_status: 'replica',
  last_backup: 'backup',
};

/** Files that name tables of other folders, and why nothing else serves. At most five. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  [
    'src/control/audit/machine-audit.ts',
    'every part writes events about machines, each in the chain of the organization that owns the frontdoor then',
  ],
  [
    'src/control/credentials/accounts/console-provider.ts',
    'people log in at the console through auth providers of shares, which end sessions in the statement that finds them',
  ],
]);
const MOST_EXCEPTIONS = 5;

const CONTROL = 'src/control/';
const MIGRATIONS = 'src/control/store/migrations/';
const DESCRIBED = [MIGRATIONS, 'src/control/store/schema/'];
const CREATED = /\bcreate table (?<name>\w+)|\bcreateTable\('(?<built>\w+)'\)/g;
const COMMENT = /\/\*[^]*?\*\/|^\s*\/\/.*$/gm;
const BUILDER =
  /\b(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto|using|table|(?:inner|left|right|full|cross)Join(?:Lateral)?)\(\s*(?<names>\[[^\]]*\]|'[^']*')/g;
/** A table that a variable names is one of the literals of its file. */
const DYNAMIC = /\b(?:selectFrom|insertInto|updateTable|deleteFrom|sql\.table)\(\s*[^'[\s]/;
const LITERAL = /'(?<name>\w+)'/g;
const QUOTED = /'(?<name>\w+)(?: as \w+)?'/g;
const TEMPLATE = /\bsql(?:\.raw\(|<[^`]*?>)?\s*`/g;
const NAMED = /\b(?:from|join|into|update)\s+(?<name>\w+)/gi;

/** The text of the template literal whose content begins there, with what its placeholders contain. */
function templateAt(text: string, begin: number): string {
  let depth = 0;
  for (let at = begin; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1;
    else if (depth > 0 && text[at] === '}') depth -= 1;
    else if (depth === 0 && text[at] === '`') return text.slice(begin, at);
  }
  return text.slice(begin);
}

/** The tables that the code of a file names in queries. */
export function tablesIn(source: string): string[] {
  const text = source.replaceAll(COMMENT, '');
  const names = Array.from(text.matchAll(BUILDER)).flatMap(({ groups }) =>
    Array.from(groups!['names']!.matchAll(QUOTED), (quoted) => quoted.groups!['name']!),
  );
  if (DYNAMIC.test(text)) names.push(...Array.from(text.matchAll(LITERAL), ({ groups }) => groups!['name']!));
  for (const { index, 0: opening } of text.matchAll(TEMPLATE)) {
    const statement = templateAt(text, index + opening.length);
    names.push(...Array.from(statement.matchAll(NAMED), ({ groups }) => groups!['name']!));
  }
  return [...new Set(names)].filter((name) => Object.hasOwn(OWNERS, name)).toSorted();
}

function foreignTables(): Map<string, string[]> {
  const files = sourceFiles('src', 'bin').filter(
    ({ path }) => !isTest(path) && !DESCRIBED.some((folder) => path.startsWith(folder)),
  );
  const found = new Map<string, string[]>();
  for (const { path, text } of files) {
    const folder = path.startsWith(CONTROL) ? path.slice(CONTROL.length).split('/')[0] : undefined;
    const foreign = tablesIn(text).filter((name) => OWNERS[name] !== folder);
    if (foreign.length > 0) found.set(path, foreign);
  }
  return found;
}

describe('tables', () => {
  it('have one owner each', () => {
    const created = sourceFiles('src')
      .filter(({ path }) => path.startsWith(MIGRATIONS) && !isTest(path))
      .flatMap(({ text }) =>
        Array.from(text.matchAll(CREATED), ({ groups }) => groups!['name'] ?? groups!['built']!),
      );
    assert.deepEqual(Object.keys(OWNERS).toSorted(), [...new Set(created)].toSorted());
  });

  it('are queried by the folder that owns them, and by no other', () => {
    const wrong = [...foreignTables()]
      .filter(([path]) => !EXCEPTIONS.has(path))
      .map(([path, tables]) => `${path}: ${tables.map((name) => `${name} of ${OWNERS[name]}`).join(', ')}`);
    assert.deepEqual(wrong, [], 'call a function of the owner, or move the file to it');
  });

  it('have few exceptions, each of which is needed', () => {
    const foreign = foreignTables();
    assert.deepEqual(
      [...EXCEPTIONS.keys()].filter((path) => !foreign.has(path)),
      [],
    );
    assert.ok(EXCEPTIONS.size <= MOST_EXCEPTIONS);
  });

  it('are found in builder calls, joins, subqueries, lists and SQL text', () => {
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [
        "db.selectFrom('share').innerJoin('identity as i', 'i.id', 'share.environment_id')",
        ['identity', 'share'],
      ],
      ["db.selectFrom(['person', 'organization'])", ['organization', 'person']],
      ["trx.insertInto(\n  'frontdoor',\n)", ['frontdoor']],
      ["where(({ selectFrom }) => selectFrom('audit_head'))", ['audit_head']],
      ['sql<number>`select 1 from ${sql.table(name)} inner join person on true`', ['person']],
      [
        'sql`select ${sql.join([sql`(select 1 from certificate)`])} from identity`',
        ['certificate', 'identity'],
      ],
      ["sql.table('replica')", ['replica']],
      ["for (const table of ['share', 'frontend'] as const) db.deleteFrom(table)", ['frontend', 'share']],
      ['sql`delete from share_grant`; // from organization', ['share_grant']],
      ["const kind = 'identity'; /** Reads from share. */", []],
    ];
    for (const [text, tables] of cases) assert.deepEqual(tablesIn(text), tables, text);
  });
});
