/** The agent's configuration file: shares that it creates or reclaims at every start. */
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { fileProblemLine, FrontdoorError, messageOf, readHostPort } from '#base';
import { isShareLabel, modesOf, targetForms } from '#domain';
import { parseYamlFile, type ParsedYamlFile, type YamlPath, type YamlRule } from '#net/yaml-file';
import { modeProblem, parseTarget } from './target-address.ts';
import { checkNotWritableByOthers } from './state-file.ts';

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;
const MAX_SHARES = 10_000;
const MAX_ACCESSES = 256;

const ConfiguredShareSchema = Type.Object(
  {
    name: Type.String({ description: 'Name and token of the share: 3 to 63 of a-z, 0-9 and -' }),
    mode: Type.Enum(['public', 'private'], {
      description: 'Who may reach it: everyone, or only granted environments',
    }),
    target: Type.String({
      description: `${targetForms(modesOf('private'))}; for a public share ${targetForms(modesOf('public'))}`,
    }),
    grants: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { description: 'Environments that may dial it' }),
    ),
  },
  { additionalProperties: false },
);

const ConfiguredAccessSchema = Type.Object(
  {
    share: Type.String({ description: 'Name or token of a private share that this environment may dial' }),
    listen: Type.String({ description: 'HOST:PORT on this machine, at which it is accessible' }),
    protocol: Type.Optional(
      Type.Enum(['tcp', 'udp'], { description: 'udp for a share of datagrams; tcp by default' }),
    ),
  },
  { additionalProperties: false },
);

export const AgentConfigSchema = Type.Object(
  {
    shares: Type.Array(ConfiguredShareSchema, { maxItems: MAX_SHARES }),
    accesses: Type.Optional(Type.Array(ConfiguredAccessSchema, { maxItems: MAX_ACCESSES })),
  },
  { additionalProperties: false },
);

export type AgentConfig = Static<typeof AgentConfigSchema>;
export type ConfiguredShare = Static<typeof ConfiguredShareSchema>;

const validator = Compile(AgentConfigSchema);

/** Throws a `FrontdoorError` with all problems. */
export function loadAgentConfig(path: string): AgentConfig {
  let text: string;
  try {
    checkNotWritableByOthers(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof FrontdoorError) throw error;
    throw new FrontdoorError('invalid', 'config-unreadable', `cannot read ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const parsed = parseAgentConfig(text);
  if ('value' in parsed) return parsed.value;
  const lines = parsed.problems.map((problem) => `  ${fileProblemLine(path, problem)}`);
  throw new FrontdoorError('invalid', 'config-invalid', `${path} has problems:\n${lines.join('\n')}`);
}

export function parseAgentConfig(text: string): ParsedYamlFile<AgentConfig> {
  return parseYamlFile(text, {
    maxLength: MAX_CONFIG_BYTES,
    schema: validator,
    messageFor,
    rules: crossProblems,
    whenEmpty: 'must contain a list named shares',
  });
}

function messageFor(keyword: string, path: YamlPath): string | undefined {
  if (keyword === 'boolean') return `is not a field here; known fields are ${knownAt(path).join(', ')}`;
  if (keyword === 'enum' && path.at(-1) === 'mode') return 'must be public or private';
  if (keyword === 'enum' && path.at(-1) === 'protocol') return 'must be tcp or udp';
  return undefined;
}

function knownAt(path: YamlPath): string[] {
  if (path.length <= 1) return Object.keys(AgentConfigSchema.properties);
  const entry = path[0] === 'accesses' ? ConfiguredAccessSchema : ConfiguredShareSchema;
  return Object.keys(entry.properties);
}

function crossProblems(config: AgentConfig): readonly YamlRule[] {
  const found: YamlRule[] = [];
  for (const [i, { share, listen }] of (config.accesses ?? []).entries()) {
    const address = readHostPort(listen);
    if (address === undefined || address.port === 0)
      found.push([['accesses', String(i), 'listen'], 'must be HOST:PORT, such as 127.0.0.1:9000']);
    const first = config.accesses!.findIndex((one) => one.share === share);
    if (first < i) found.push([['accesses', String(i), 'share'], `is also the share of accesses[${first}]`]);
  }
  const names = new Map<string, number>();
  for (const [i, share] of config.shares.entries()) {
    const at = (field: string): string[] => ['shares', String(i), field];
    const parsed = parseTarget(share.target);
    const problem =
      'problem' in parsed
        ? parsed.problem.replace(/^target ".*?" /, '')
        : modeProblem(share.mode, parsed.target);
    if (problem !== undefined) found.push([at('target'), problem]);
    if (share.mode === 'public' && (share.grants ?? []).length > 0)
      found.push([at('grants'), 'only a private share has grants']);
    // Rules for new names only are left to the control plane, because this share may be older.
    if (!isShareLabel(share.name)) {
      found.push([at('name'), 'must be 3 to 63 of a-z, 0-9 and -, no - at either end, and no reserved word']);
    }
    const first = names.get(share.name);
    if (first === undefined) names.set(share.name, i);
    else found.push([at('name'), `is also the name of shares[${first}]`]);
  }
  return found;
}
