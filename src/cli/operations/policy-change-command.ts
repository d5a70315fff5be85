/**
 * `frontdoor shares policy change TOKEN` and `frontdoor policies change POLICY`: changes single fields of a policy and single
 * entries of its lists. It reads the policy, changes it and writes it back with its entity tag, so that concurrent changes do
 * not overwrite each other.
 */
import { isDeepStrictEqual } from 'node:util';
import { Command, Option } from 'commander';
import { FrontdoorError } from '#base';
import { operations, type OperationId } from '#contract';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import type { ManagementClient } from '../management-client.ts';
import {
  attributeName,
  bodyFields,
  bodyOf,
  collect,
  fieldHelp,
  fieldValue,
  optionsOf,
  placeholderOf,
  type BodyField,
  type ReadValue,
} from './body-fields.ts';
import { showWarnings } from './operation-answer.ts';
import { valueInput } from './operation-request.ts';

type Policy = Readonly<Record<string, unknown>>;

interface Flags extends ApiFlags {
  readonly [option: string]: unknown;
}

/** The field that identifies an entry of a list of objects, and an example value. */
const KEYS: Readonly<Record<string, { readonly field: string; readonly example: string }>> = {
  claims: { field: 'claim', example: 'groups' },
  basicAuth: { field: 'name', example: 'ann' },
};
/** The policy is read again at most this often if another caller changed it in the meantime. */
const MOST_TRIES = 5;

/** A policy that one path reads and replaces. */
interface ChangedPolicy {
  readonly operation: OperationId;
  readonly argument: readonly [name: string, description: string];
  readonly description: string;
  /** The words of the command with an example of its argument. */
  readonly example: string;
}

const OF_SHARE: ChangedPolicy = {
  operation: 'replaceSharePolicy',
  argument: ['token', 'the share, for example app'],
  description: "change single fields of a share's policy; all other fields keep their values",
  example: 'shares policy change app',
};
const SHARED: ChangedPolicy = {
  operation: 'replacePolicy',
  argument: ['policyId', 'name or ID of the policy, for example staff'],
  description: 'change single fields of a policy for all its shares; all other fields keep their values',
  example: 'policies change staff',
};

const helpOf = (path: string, example: string) => `
GET and PUT {base_url}${path}, requires the scope frontdoor.write

A list option such as --email replaces the whole list; --add-email and --remove-email change single entries.

Examples:
  frontdoor ${example} --add-email '*@example.com'
  frontdoor ${example} --remove-basic-auth ann --add-ip-deny 192.0.2.0/24
  frontdoor ${example} --rate-limit 100/1m
  frontdoor ${example} --no-rate-limit
`;

export function policyChangeCommand(io: CliIo): Command {
  return changeCommand(io, OF_SHARE);
}

export function sharedPolicyChangeCommand(io: CliIo): Command {
  return changeCommand(io, SHARED);
}

function changeCommand(io: CliIo, changed: ChangedPolicy): Command {
  const { path, body } = operations.find(({ id }) => id === changed.operation)!;
  const fields = bodyFields(body as object);
  const [name, about] = changed.argument;
  const command = new Command('change').argument(`<${name}>`, about).description(changed.description);
  for (const field of fields) for (const option of changeOptions(field)) command.addOption(option);
  command.addOption(frontdoorOption());
  addApiOptions(command).addHelpText('after', helpOf(path, changed.example));
  return command.action(async (given: string) => {
    const flags = command.opts<Flags>();
    await runCommand(io, flags.json === true, () => change(io, fields, flags, { path, name, given }));
  });
}

function changeOptions(field: BodyField): readonly Option[] {
  const [main, ...others] = optionsOf(field);
  if (field.kind !== 'list') return [main!, ...others];
  const { name, option, isOfObjects } = field;
  main!.description = fieldHelp(field, `replace the whole list ${name}`);
  const add = new Option(
    `--add-${option} <${placeholderOf(field)}>`,
    fieldHelp(field, `add an entry to ${name}`),
  ).argParser(collect());
  const key = KEYS[name];
  const remove = new Option(
    `--remove-${option} <${isOfObjects ? 'name' : placeholderOf(field)}>`,
    isOfObjects
      ? `remove the entry of ${name} with this ${key?.field}; may be repeated; for example ${key?.example}`
      : fieldHelp(field, `remove an entry from ${name}`),
  ).argParser(collect());
  return [main!, ...others, add, remove];
}

/** The path of the operation, and what stands for its parameter. */
interface GivenPolicy {
  readonly path: string;
  readonly name: string;
  readonly given: string;
}

async function change(
  io: CliIo,
  fields: readonly BodyField[],
  flags: Flags,
  { path: pattern, name, given }: GivenPolicy,
): Promise<void> {
  const read: ReadValue = (text, option, form) => valueInput(text, option, io, form);
  const edit = await editOf(fields, flags, read);
  const [{ withManagement }, { frontdoorOf, namedId }, { namedByPath }] = await Promise.all([
    import('../access/access.ts'),
    import('./named-id.ts'),
    import('./named-thing-table.ts'),
  ]);
  await withManagement(flags, io, async (client, access) => {
    const look = { client, access };
    const thing = namedByPath(pattern, name);
    const id = thing === undefined ? given : await namedId(look, thing, given);
    const path = pattern
      .replace('{frontdoorId}', await frontdoorOf(look))
      .replace(`{${name}}`, encodeURIComponent(id));
    const { policy, isNew } = await written(client, path, edit);
    showWarnings(io, policy);
    writeJson(io, policy);
    if (!isNew) io.err('Nothing was changed: the policy already has these values.\n');
  });
}

type Edit = (before: Policy) => Policy;

async function written(
  client: ManagementClient,
  path: string,
  edit: Edit,
): Promise<{ readonly policy: unknown; readonly isNew: boolean }> {
  for (let left = MOST_TRIES; ; left -= 1) {
    const { body, entityTag } = await client.exchange({ method: 'GET', path });
    const before = body as Policy;
    const after = edit(before);
    if (isDeepStrictEqual(before, after)) return { policy: before, isNew: false };
    try {
      return {
        policy: await client.call({ method: 'PUT', path, body: after, ifMatch: entityTag }),
        isNew: true,
      };
    } catch (error) {
      const isOlder = error instanceof FrontdoorError && error.code === 'precondition_failed';
      if (!isOlder || left <= 1) throw error;
    }
  }
}

/** Returns the change as a function of the policy. Values are read once, before anything is sent. */
async function editOf(fields: readonly BodyField[], flags: Flags, read: ReadValue): Promise<Edit> {
  const edits: Edit[] = [];
  const set = await bodyOf(fields, flags, {}, read);
  if (Object.keys(set).length > 0) edits.push((before) => ({ ...before, ...set }));
  for (const field of fields) {
    const { name, option } = field;
    const removed = flags[attributeName(`remove-${option}`)] as readonly string[] | undefined;
    if (removed !== undefined)
      edits.push((before) => ({ ...before, [name]: without(entriesIn(before, name), removed, field) }));
    const added = flags[attributeName(`add-${option}`)];
    if (added === undefined) continue;
    const news = (await fieldValue(field, added, read)) as readonly unknown[];
    edits.push((before) => ({ ...before, [name]: withAdded(entriesIn(before, name), news, name) }));
  }
  if (edits.length === 0)
    throw new FrontdoorError('invalid', 'options-missing', 'nothing to change was given (see --help)');
  return (before) => edits.reduce((policy, edit) => edit(policy), before);
}

function entriesIn(policy: Policy, name: string): readonly unknown[] {
  return Array.isArray(policy[name]) ? (policy[name] as unknown[]) : [];
}

function without(entries: readonly unknown[], removed: readonly string[], field: BodyField): unknown[] {
  const nameOf = (entry: unknown): string => nameIn(entry, field.name);
  for (const name of removed) {
    if (entries.some((entry) => nameOf(entry) === name)) continue;
    const known = entries.length === 0 ? 'it is empty' : `it has ${entries.map(nameOf).join(', ')}`;
    const message = `--remove-${field.option} ${name}: there is no such entry in ${field.name}; ${known}`;
    throw new FrontdoorError('invalid', 'no-entry', message);
  }
  return entries.filter((entry) => !removed.includes(nameOf(entry)));
}

/** An existing HTTP Basic user gets the new password. */
function withAdded(entries: readonly unknown[], news: readonly unknown[], name: string): unknown[] {
  const isReplaced = (entry: unknown): boolean =>
    name === 'basicAuth' && news.some((each) => nameIn(each, name) === nameIn(entry, name));
  const kept = entries.filter((entry) => !isReplaced(entry));
  return [...kept, ...news.filter((each) => !kept.some((entry) => isDeepStrictEqual(entry, each)))];
}

function nameIn(entry: unknown, name: string): string {
  const key = KEYS[name];
  return String(key === undefined ? entry : (entry as Readonly<Record<string, unknown>>)[key.field]);
}
