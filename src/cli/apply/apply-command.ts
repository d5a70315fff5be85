/** `frontdoor apply FILE`: makes a frontdoor as a file has it. ADR 0097. */
import { dirname } from 'node:path';
import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { FrontdoorError, messageOf } from '#base';
import { addApiOptions, frontdoorOption, type ApiFlags } from '../access/api-options.ts';
import { runCommand, writeJson, type CliIo } from '../cli-io.ts';
import type { ManagementClient } from '../management-client.ts';
import type { ApplyPlan } from './apply-plan.ts';
import type { ApplyStep } from './apply-step.ts';

interface ApplyFlags extends ApiFlags {
  readonly plan?: boolean;
  readonly prune?: boolean;
  readonly replaceSecrets?: boolean;
}

/** The exit status of `--plan` when something differs, as that of `terraform plan -detailed-exitcode`. */
const DIFFERENT = 2;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const SIGNS = { create: '+', change: '~', delete: '-' } as const;

export function applyCommand(io: CliIo): Command {
  const command = new Command('apply')
    .argument(
      '<file>',
      'YAML file with auth providers, custom frontends and shares, for example frontdoor.yml',
    )
    .description('make a frontdoor as a file has it; what is as wanted stays as it is')
    .addOption(
      new Option('--plan', 'print what differs and change nothing; exit status 0: nothing, 2: something'),
    )
    .addOption(new Option('--prune', 'delete what is not in the file, in the sections that the file has'))
    .addOption(
      new Option('--replace-secrets', 'send the secrets of the file again; without it, stored ones are kept'),
    )
    .addOption(frontdoorOption());
  return addApiOptions(command)
    .addHelpText(
      'after',
      '\nRequires the scope frontdoor.write. Secrets can be in a file or a variable: { fromFile: PATH }, { fromEnv: NAME }.\n\n' +
        'Examples:\n  frontdoor apply frontdoor.yml --plan\n  frontdoor apply frontdoor.yml --prune\n',
    )
    .action(async (path: string) => {
      const flags = command.opts<ApplyFlags>();
      await runCommand(io, flags.json === true, () => apply(io, path, flags));
    });
}

async function apply(io: CliIo, path: string, flags: ApplyFlags): Promise<void> {
  const [{ parseFrontdoorFile }, { applyPlanOf, knownIds }, { readFrontdoorState }] = await Promise.all([
    import('./frontdoor-file.ts'),
    import('./apply-plan.ts'),
    import('./frontdoor-state.ts'),
  ]);
  const [{ withManagement }, { frontdoorOf }] = await Promise.all([
    import('../access/access.ts'),
    import('../operations/named-id.ts'),
  ]);
  const file = parseFrontdoorFile(path, textOf(path), { folder: dirname(path), env: io.env });
  await withManagement(flags, io, async (client, access) => {
    const base = `/frontdoor/${encodeURIComponent(await frontdoorOf({ client, access }))}`;
    const state = await readFrontdoorState(client, base, file);
    const plan = applyPlanOf(file, state, {
      base,
      isPruning: flags.prune === true,
      isReplacingSecrets: flags.replaceSecrets === true,
    });
    if (flags.json === true) writeJson(io, planView(plan));
    else io.out(planText(plan, flags.plan === true));
    if (flags.plan === true) io.exitCode = plan.steps.length === 0 ? 0 : DIFFERENT;
    else await make(io, client, plan.steps, knownIds(state));
  });
}

function textOf(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length <= MAX_FILE_BYTES) return text;
  } catch (error) {
    throw new FrontdoorError('invalid', 'config-unreadable', `cannot read ${path}: ${messageOf(error)}`);
  }
  throw new FrontdoorError('invalid', 'config-invalid', `${path} is larger than ${MAX_FILE_BYTES} bytes`);
}

/** Stops at the first failure, and prints what is made and what is not. */
async function make(
  io: CliIo,
  client: ManagementClient,
  steps: readonly ApplyStep[],
  ids: Map<string, string>,
): Promise<void> {
  const { madeKey } = await import('./policy-steps.ts');
  for (const [at, step] of steps.entries()) {
    try {
      for (const requestOf of step.requests) {
        const { body } = await client.exchange(requestOf(ids));
        const { id, name } = (body ?? {}) as { readonly id?: unknown; readonly name?: unknown };
        if (typeof id !== 'string' || typeof name !== 'string') continue;
        const key = madeKey(step.what, name);
        if (key !== undefined) ids.set(key, id);
      }
      io.err(`${stepText(step)}: done\n`);
    } catch (error) {
      io.err(`${stepText(step)}: failed\n`);
      for (const left of steps.slice(at + 1)) io.err(`${stepText(left)}: not made\n`);
      throw error;
    }
  }
}

function planText({ steps, kept }: ApplyPlan, isPlan: boolean): string {
  const lines = steps.map(stepText);
  lines.push(
    ...kept.map(({ what, name }) => `  ${what} ${name} is not in the file and stays (--prune deletes it)`),
  );
  if (steps.length === 0) lines.push('Nothing differs from the file.');
  else
    lines.push(
      `${count(steps, 'create')} to create, ${count(steps, 'change')} to change, ${count(steps, 'delete')} to delete.`,
    );
  if (isPlan && steps.length > 0) lines.push('Nothing was changed.');
  return `${lines.join('\n')}\n`;
}

function stepText({ action, what, name, fields }: ApplyStep): string {
  return `${SIGNS[action]} ${what} ${name}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`;
}

function count(steps: readonly ApplyStep[], action: ApplyStep['action']): number {
  return steps.filter((step) => step.action === action).length;
}

function planView({ steps, kept }: ApplyPlan): object {
  return { steps: steps.map(({ action, what, name, fields }) => ({ action, what, name, fields })), kept };
}
