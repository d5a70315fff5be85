/**
 * `frontdoor fabric router|gateway create NAME -o FILE`: creates the router or gateway and writes its enrollment
 * token into a file that only its owner can read. For a router, `--config` writes its configuration file, too.
 */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Command, Option } from 'commander';
import { definedFields, FrontdoorError } from '#base';
import { operations, type Operation } from '#contract';
import { addApiOptions, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import type { ManagementClient, ManagementRequest } from '../management-client.ts';
import { wholeNumber } from '../value-parser.ts';
import { ctrlAddressOf, routerFileText } from './router-file.ts';
import { conditionOptions, conditionsOf, type ConditionFlags } from './condition-options.ts';
import { ifNeededOption, reasonAgainstNode } from './needed-creation.ts';
import { withNewFiles, writeSecretFile } from './secret-file.ts';

const DEFAULT_ROUTER_PORT = 3022;

interface CreationFlags extends ApiFlags, ConditionFlags {
  readonly out?: string | undefined;
  /** For a router. */
  readonly config?: string | undefined;
  readonly advertise: string;
  readonly port: number;
  readonly tunneler?: boolean | undefined;
  readonly roleAttribute?: readonly string[] | undefined;
  readonly ifNeeded: boolean;
}

export function nodeCreationCommand(io: CliIo, kind: 'router' | 'gateway'): Command {
  const id = kind === 'router' ? 'createRouter' : 'createGateway';
  const operation: Operation = operations.find((each) => each.id === id)!;
  const { path } = operation;
  const command = new Command('create')
    .argument('<name>', `name of the ${kind}`)
    .description(`create a ${kind} and write its one-time enrollment token`)
    .option(
      '-o, --out <file>',
      `file to write the token to (mode 0600), which must not exist; for example east.jwt${kind === 'router' ? '; default: beside the file of --config' : ''}`,
    );
  if (kind === 'router')
    command
      .option(
        '--config <file>',
        'also write the configuration file of the router, which must not exist; for example east.yml',
      )
      .option(
        '--advertise <host>',
        'with --config: host name or address at which agents, gateways and other routers reach it',
        'localhost',
      )
      .addOption(
        new Option('--port <port>', 'with --config: port of the router')
          .default(DEFAULT_ROUTER_PORT)
          .argParser(wholeNumber(1, 65_535)),
      )
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
    `Examples:\n  frontdoor fabric ${kind} create east -o east.jwt\n` +
    (kind === 'router'
      ? '  frontdoor fabric router create east --config east.yml --advertise east.example.com\n'
      : '');
  command.addOption(ifNeededOption(`a ${kind}`));
  for (const option of conditionOptions(operation)) command.addOption(option);
  return addApiOptions(command)
    .addHelpText('after', help)
    .action(async (name: string) => {
      const flags = command.opts<CreationFlags>();
      const isJson = flags.json === true;
      await runCommand(io, isJson, async () => {
        const files = filesOf(flags, kind);
        const { withManagement } = await import('../access/access.ts');
        const body = definedFields({ name, tunneler: flags.tunneler, roleAttributes: flags.roleAttribute });
        const request = { method: 'POST', path, body, ...conditionsOf(operation, flags) } as const;
        await withManagement(flags, io, (client) =>
          create({ client, request, kind, name, files, isIfNeeded: flags.ifNeeded, isJson, io }),
        );
      });
    });
}

interface Creation {
  readonly client: ManagementClient;
  readonly request: ManagementRequest;
  readonly kind: 'router' | 'gateway';
  readonly name: string;
  readonly files: CreatedFiles;
  readonly isIfNeeded: boolean;
  readonly isJson: boolean;
  readonly io: CliIo;
}

interface CreatedFiles {
  /** File of the token. */
  readonly out: string;
  /** The configuration file of a router. */
  readonly config?: { readonly file: string; readonly advertise: string; readonly port: number } | undefined;
}

function filesOf(
  { out, config: file, advertise, port }: CreationFlags,
  kind: 'router' | 'gateway',
): CreatedFiles {
  if (file === undefined && out !== undefined) return { out };
  if (file === undefined) {
    const more =
      kind === 'router' ? ', or --config FILE for its configuration file with the token beside it' : '';
    const message = `name the file for the enrollment token with --out FILE${more}`;
    throw new FrontdoorError('invalid', 'out-file', message);
  }
  return { out: out ?? `${withoutEnding(file)}.jwt`, config: { file, advertise, port } };
}

function withoutEnding(file: string): string {
  return file.replace(/\.ya?ml$/, '');
}

async function create({
  client,
  request,
  kind,
  name,
  files,
  isIfNeeded,
  isJson,
  io,
}: Creation): Promise<void> {
  const { out, config } = files;
  const others = config === undefined ? [] : [config.file];
  const reason = isIfNeeded
    ? await reasonAgainstNode(client, kind, { path: request.path, name }, { token: out, others })
    : undefined;
  if (reason !== undefined) {
    if (isJson) writeJson(io, definedFields({ name, file: out, config: config?.file, created: false }));
    else io.out(`${reason}\n`);
    return;
  }
  await withNewFiles([out, ...others], async () => {
    const made = (await client.call(request)) as {
      id?: unknown;
      token?: unknown;
    };
    if (typeof made?.token !== 'string' || typeof made.id !== 'string') {
      throw new FrontdoorError('badGateway', 'answer', 'the Management API sent no enrollment token');
    }
    writeSecretFile(out, made.token);
    if (config !== undefined) writeFileSync(config.file, configText(config, name, made.token));
    if (isJson) writeJson(io, definedFields({ id: made.id, name, file: out, config: config?.file }));
    else {
      io.out(`${kind} ${name} (${made.id}); its enrollment token is in ${out}\n`);
      if (config !== undefined)
        io.out(`its configuration is in ${config.file}, which names the next commands\n`);
    }
  });
}

function configText(config: NonNullable<CreatedFiles['config']>, name: string, token: string): string {
  const ctrlAddress = ctrlAddressOf(token);
  if (ctrlAddress === undefined)
    throw new FrontdoorError('badGateway', 'answer', 'the enrollment token names no control channel');
  const { file, advertise, port } = config;
  return routerFileText({ name, stem: basename(withoutEnding(file)), ctrlAddress, advertise, port });
}
