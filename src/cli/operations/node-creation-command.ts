/**
 * `frontdoor fabric router|gateway create NAME -o FILE`: creates the router or gateway and writes its enrollment
 * token into a file that only its owner can read.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { definedFields, FrontdoorError, messageOf } from '#base';
import { operations, type Operation } from '#contract';
import { addApiOptions, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import type { ManagementClient, ManagementRequest } from '../management-client.ts';
import { conditionOptions, conditionsOf, type ConditionFlags } from './condition-options.ts';

interface CreationFlags extends ApiFlags, ConditionFlags {
  readonly out: string;
  readonly tunneler?: boolean | undefined;
  readonly roleAttribute?: readonly string[] | undefined;
}

export function nodeCreationCommand(io: CliIo, kind: 'router' | 'gateway'): Command {
  const id = kind === 'router' ? 'createRouter' : 'createGateway';
  const operation: Operation = operations.find((each) => each.id === id)!;
  const { path } = operation;
  const command = new Command('create')
    .argument('<name>', `name of the ${kind}`)
    .description(`create a ${kind} and write its one-time enrollment token`)
    .requiredOption(
      '-o, --out <file>',
      'file to write the token to (mode 0600), which must not exist; for example east.jwt',
    );
  if (kind === 'router')
    command
      .option(
        '--tunneler',
        'let its tunnel listeners host and dial services of the edge management API, according to policies for the identity with its ID',
      )
      .option(
        '--role-attribute <attribute>',
        'attribute by which policies select it, or the ID of a frontdoor whose private shares can be granted to it; may be repeated; for example site',
        (value: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), value],
      );
  const help =
    `\nPOST {base_url}${path}, requires the scope frontdoor.admin\n\n` +
    `Examples:\n  frontdoor fabric ${kind} create east -o east.jwt\n`;
  for (const option of conditionOptions(operation)) command.addOption(option);
  return addApiOptions(command)
    .addHelpText('after', help)
    .action(async (name: string) => {
      const flags = command.opts<CreationFlags>();
      const isJson = flags.json === true;
      await runCommand(io, isJson, async () => {
        const { withManagement } = await import('../access/access.ts');
        const body = definedFields({ name, tunneler: flags.tunneler, roleAttributes: flags.roleAttribute });
        const request = { method: 'POST', path, body, ...conditionsOf(operation, flags) } as const;
        await withManagement(flags, io, (client) =>
          create({ client, request, kind, name, out: flags.out, isJson, io }),
        );
      });
    });
}

interface Creation {
  readonly client: ManagementClient;
  readonly request: ManagementRequest;
  readonly kind: 'router' | 'gateway';
  readonly name: string;
  readonly out: string;
  readonly isJson: boolean;
  readonly io: CliIo;
}

async function create({ client, request, kind, name, out, isJson, io }: Creation): Promise<void> {
  // Checked before the record is created, because a token that cannot be written is lost.
  try {
    writeFileSync(out, '', { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new FrontdoorError('invalid', 'out-file', `cannot write ${out}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  try {
    const made = (await client.call(request)) as {
      id?: unknown;
      token?: unknown;
    };
    if (typeof made?.token !== 'string' || typeof made.id !== 'string') {
      throw new FrontdoorError('badGateway', 'answer', 'the Management API sent no enrollment token');
    }
    writeFileSync(out, `${made.token}\n`, { mode: 0o600 });
    if (isJson) writeJson(io, { id: made.id, name, file: out });
    else io.out(`${kind} ${name} (${made.id}); its enrollment token is in ${out}\n`);
  } catch (error) {
    rmSync(out, { force: true });
    throw error;
  }
}
